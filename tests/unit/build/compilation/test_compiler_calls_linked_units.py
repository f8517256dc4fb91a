"""Which units the linker took into a server and what it loads."""

import subprocess

import pytest

from scripts.build.compilation.compiler_calls import CompilerCall, linked_units, read_calls
from tests.made.wrapped import Project


def unit(name):
    return CompilerCall(name, ("gcc", "-c"), links=False, said="")


def link(name, *linked):
    return CompilerCall(name, ("gcc",), links=True, said="", linked=linked)


@pytest.fixture
def install(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "lib").mkdir()
    for file in ("bin/server", "bin/tool", "lib/plug.so", "lib/lib.so.5.15"):
        (tmp_path / file).touch()
    return tmp_path


def test_objects_of_the_server_and_of_installed_libraries_count_and_of_tools_not(install):
    calls = [unit(name) for name in ("a.o", "b.o", "c.o", "d.o", "e.o")]
    links = [
        link("sql/server", "/usr/lib/crt1.o", "a.o"),
        link("p/plug.so", "b.o"),
        link("lib.so.5.15", "c.o"),
        link("bin/tool", "d.o"),
        link("other.so", "e.o"),
    ]
    assert linked_units([*calls, *links], "bin/server", install) == ({"a.o", "b.o", "c.o"}, 0)


@pytest.mark.parametrize(
    ("archive", "expected"),
    [
        ("storage/inno/libinno.a(log.cc.o)", "storage/inno/CMakeFiles/inno.dir/log/log.cc.o"),
        ("sql/libsql.a(log.cc.o)", "sql/CMakeFiles/sql.dir/log.cc.o"),
        ("archives/libsql.a(log.cc.o)", "sql/CMakeFiles/sql.dir/log.cc.o"),
        ("port/libport_srv.a(snprintf.o)", "port/snprintf.o"),
        ("made/elsewhere.a(only.o)", "far/away/only.o"),
    ],
)
def test_member_of_an_archive_is_the_unit_of_its_folder_or_target(install, archive, expected):
    names = [
        "storage/inno/CMakeFiles/inno.dir/log/log.cc.o",
        "sql/CMakeFiles/sql.dir/log.cc.o",
        "tool/CMakeFiles/tool.dir/log.cc.o",
        "port/snprintf.o",
        "other/snprintf.o",
        "far/away/only.o",
    ]
    calls = [*map(unit, names), link("server", archive)]
    assert linked_units(calls, "bin/server", install) == ({expected}, 0)


def test_member_that_two_units_may_be_is_counted_and_neither_is_called_linked(install):
    calls = [unit("one/x.o"), unit("two/x.o"), unit("y.o"), link("server", "all.a(x.o)", "y.o")]
    assert linked_units(calls, "bin/server", install) == ({"y.o"}, 1)


def test_untraced_link_tells_nothing(install):
    assert linked_units([unit("a.o"), link("server")], "bin/server", install) == (None, 0)


@pytest.mark.parametrize("flags", ["-O2", "-O2 -flto=2"])
def test_real_link_is_read_with_and_without_lto(compiler, tmp_path, install, flags):
    project = Project(compiler, tmp_path)
    project.write(main="int work(int);\nint main(int n, char **v) { return work(n); }\n",
                  sub__work="int work(int n) { return n; }\n", spare="int spare;\n")  # fmt: skip
    tree = project.build("build")
    extra = {"BUILD_FLAGS": flags, "BUILD_LINK_FLAGS": "-Wl,--trace -Wl,--trace"}
    for source, made in (("main", "main.o"), ("sub/work", "sub/work.o"), ("spare", "spare.o")):
        assert tree.compile("-c", project.source / f"{source}.c", "-o", made, **extra).returncode == 0
    subprocess.run([compiler.ar, "rcs", "sub/libw.a", "sub/work.o", "spare.o"], cwd=tree.path, check=True)
    assert tree.compile("main.o", "sub/libw.a", "-o", "server", **extra).returncode == 0
    found = linked_units(read_calls(tree.records, tree.path), "bin/server", install)
    assert found == ({"main.o", "sub/work.o"}, 0)
