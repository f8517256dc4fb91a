"""The compiler wrapper with a real compiler: bare while configuring, flags and records of calls while compiling."""

import os
import subprocess

import pytest

from scripts.build.compilation.compiler_calls import compiled_units, read_calls
from tests.made.wrapped import Project

# What a macro of the flags is, tells which flags a unit was compiled with.
PROBE = """
#ifdef COMMON
int common;
#endif
#ifdef PROFILED
int profiled;
#endif
int probe;
"""
FLAGS = {"BUILD_FLAGS": "-DCOMMON -O1", "BUILD_PROFILE_FLAGS": "-DPROFILED", "BUILD_PROFILE_SCOPE": "src/* *_srv.o"}


@pytest.fixture
def tree(compiler, tmp_path):
    project = Project(compiler, tmp_path)
    project.write(probe=PROBE, main="int main(void) { return 0; }\n", broken="int main(void) { return nothing; }\n")
    made = project.build("build")
    (made.path / "src").mkdir()
    return made


def symbols(file):
    done = subprocess.run(["nm", "--defined-only", str(file)], capture_output=True, text=True, check=True)
    return {line.split()[-1] for line in done.stdout.splitlines()}


def source(tree, name="probe"):
    return tree.project.source / f"{name}.c"


def only_call(tree):
    (call,) = read_calls(tree.records, tree.path)
    return call


@pytest.mark.parametrize("records", [{}, {"BUILD_RECORDS": ""}], ids=["unset", "empty"])
def test_while_configuring_it_is_the_bare_compiler(tree, records):
    done = tree.call("-c", source(tree), "-o", "src/probe.o", **records, **FLAGS, BUILD_LINK_FLAGS="-Wl,-x")
    assert done.returncode == 0
    assert symbols(tree.path / "src" / "probe.o") == {"probe"}
    assert list(tree.records.iterdir()) == []


def test_while_configuring_status_and_words_are_the_compilers(tree):
    done = tree.call("-c", source(tree, "broken"), "-o", "x.o")
    assert done.returncode == 1
    assert "'nothing' undeclared" in done.stderr


def test_record_that_cannot_be_written_fails_the_call_in_words(tree, tmp_path):
    """A stub of mktemp stands for a full disk."""
    stub = tmp_path / "stubs" / "mktemp"
    stub.parent.mkdir()
    stub.write_text("#!/bin/sh\necho /dev/full\n")
    stub.chmod(0o755)
    path = f"{stub.parent}:{os.environ['PATH']}"
    done = tree.call("-c", source(tree), "-o", "x.o", BUILD_RECORDS=tree.records, PATH=path, **FLAGS)
    assert done.returncode == 1
    assert "No space left on device" in done.stderr


@pytest.mark.parametrize(
    ("object_file", "found"),
    [
        ("src/probe.o", {"probe", "common", "profiled"}),
        ("sub/probe_srv.o", {"probe", "common", "profiled"}),
        ("sub/probe.o", {"probe", "common"}),
        ("probe.o", {"probe", "common"}),
    ],
)
def test_common_flags_go_to_every_unit_and_profile_flags_to_those_in_scope(tree, object_file, found):
    assert tree.compile("-c", source(tree), "-o", object_file, **FLAGS).returncode == 0
    assert symbols(tree.path / object_file) == found


def test_scope_of_a_unit_named_by_its_absolute_path_is_the_same(tree):
    assert tree.compile("-c", source(tree), "-o", tree.path / "src" / "probe.o", **FLAGS).returncode == 0
    assert "profiled" in symbols(tree.path / "src" / "probe.o")


def test_scope_of_everything_holds_every_unit(tree):
    scope = {**FLAGS, "BUILD_PROFILE_SCOPE": "*"}
    assert tree.compile("-c", source(tree), "-o", "sub/probe.o", **scope).returncode == 0
    assert "profiled" in symbols(tree.path / "sub" / "probe.o")


def test_link_flags_go_to_link_lines_only(tree):
    link = {"BUILD_LINK_FLAGS": "-Wl,--build-id=sha1"}
    assert tree.compile("-c", source(tree, "main"), "-o", "main.o", **link).returncode == 0
    assert tree.compile("main.o", "-o", "program", **link).returncode == 0
    calls = {call.unit: call for call in read_calls(tree.records, tree.path)}
    assert "-Wl,--build-id=sha1" in calls["program"].arguments
    assert "-Wl,--build-id=sha1" not in calls["main.o"].arguments
    assert (calls["program"].links, calls["main.o"].links) == (True, False)
    notes = subprocess.run(["readelf", "--notes", tree.path / "program"], capture_output=True, text=True, check=True)
    assert "Build ID" in notes.stdout


def test_traced_link_names_its_objects_and_keeps_them_from_the_build_log(tree):
    assert tree.compile("-c", source(tree, "main"), "-o", "sub/main.o").returncode == 0
    done = tree.compile("sub/main.o", "-o", "program", BUILD_LINK_FLAGS="-Wl,--trace -Wl,--trace")
    assert (done.returncode, done.stdout) == (0, "")
    calls = {call.unit: call for call in read_calls(tree.records, tree.path)}
    assert "sub/main.o" in calls["program"].linked


def test_preprocessing_is_no_link(tree):
    assert tree.compile("-E", source(tree), BUILD_LINK_FLAGS="-Wl,-x").returncode == 0
    assert not only_call(tree).links


def test_record_holds_every_argument_as_it_was_given(tree):
    odd = ['-DTEXT="two words"', "-DNEWLINE=a\nb", "-DSTAR=*", "-DEMPTY="]
    assert tree.compile("-c", source(tree), *odd, "-o", "sub/odd name.o", **FLAGS).returncode == 0
    call = only_call(tree)
    assert call.unit == "sub/odd name.o"
    assert call.arguments[0] == tree.project.compiler.cc
    assert call.arguments[1:] == ("-c", str(source(tree)), *odd, "-o", "sub/odd name.o", "-DCOMMON", "-O1")


def test_failed_compile_keeps_its_status_and_is_no_call_that_counts(tree):
    done = tree.compile("-c", source(tree, "broken"), "-o", "sub/broken.o", **FLAGS)
    assert done.returncode == 1
    assert "'nothing' undeclared" in done.stderr
    assert [path.suffix for path in sorted(tree.records.iterdir())] == ["", ".failed", ".stderr"]
    assert read_calls(tree.records, tree.path) == []


def test_what_the_compiler_says_is_passed_on_and_kept(tree):
    done = tree.compile("-c", source(tree, "main"), "-Wmissing-include-dirs", "-I/nowhere", "-o", "main.o")
    assert done.returncode == 0
    assert "/nowhere" in done.stderr
    assert only_call(tree).said == done.stderr


def test_silent_compile_keeps_no_words(tree):
    assert tree.compile("-c", source(tree, "main"), "-o", "main.o").stderr == ""
    assert only_call(tree).said == ""


def test_name_of_the_wrapper_chooses_the_language(tree):
    (tree.path / "throws.cc").write_text("int main() { try { throw 1; } catch (int) { return 0; } return 1; }\n")
    assert tree.call("throws.cc", "-o", "program", as_cxx=True).returncode == 0
    assert subprocess.run([tree.path / "program"], check=False).returncode == 0


def test_only_calls_that_make_an_object_are_units(tree):
    for arguments in (["-c", source(tree, "main"), "-o", "main.o"], ["main.o", "-o", "program"], ["-E", source(tree)]):
        assert tree.compile(*arguments).returncode == 0
    assert [call.unit for call in compiled_units(read_calls(tree.records, tree.path))] == ["main.o"]
