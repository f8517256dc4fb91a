"""A recorded link taken apart: what may change places, what stays, and archives that stay whole."""

import subprocess

import pytest

from scripts.build.compilation.compiler_calls import CompilerCall
from scripts.build.relink.link_command import Piece, is_object, server_link, take_apart, traced_pieces, with_output

pytestmark = pytest.mark.real
UNITS = ("a", "b", "c", "one/x", "two/x", "three/y")


@pytest.fixture
def build(compiler, tmp_path):
    """A build tree: two objects, an archive with two members of one name, one of a single member, a library."""
    tree = tmp_path / "build"
    for name in UNITS:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        source = tree / f"{name}.c"
        source.write_text(f"int {name.replace('/', '_')}(void) {{ return 1; }}\n")
        subprocess.run([compiler.cc, "-c", source, "-o", tree / f"{name}.o"], check=True)
    subprocess.run([compiler.cc, "-shared", "-o", tree / "libc.so", tree / "c.o"], check=True)
    for archive, members in (("libx.a", ("one/x.o", "two/x.o")), ("liby.a", ("three/y.o",))):
        subprocess.run([compiler.ar, "qcs", archive, *members], cwd=tree, check=True)
    subprocess.run([compiler.ar, "qcsT", "thin.a", "three/y.o"], cwd=tree, check=True)
    return tree


def call(build, *arguments, unit="server"):
    return CompilerCall(unit, ("gcc", *arguments), links=True, said="", folder=str(build))


def apart(build, compiler, trace, *arguments):
    taken = traced_pieces(trace, build)
    return take_apart(call(build, *arguments), taken, build, compiler.ar, build.parent / "members")


def test_objects_and_members_stand_together_where_the_first_of_them_was(build, compiler):
    trace = "/usr/lib/crt1.o\na.o\nb.o\nlibx.a\n(libx.a)x.o\n(libx.a)x.o\nliby.a\n(liby.a)y.o\nlibc.so\n"
    arguments = ("-O2", "a.o", "-Wl,--trace", "-lz", "libx.a", "b.o", "liby.a", "libc.so", "/usr/lib/x.a", "libx.a",
                 "-o", "server", "-lm")  # fmt: skip
    link = apart(build, compiler, trace, *arguments)
    members = build.parent / "members"
    assert link.before == ("gcc", "-O2")
    assert link.arguments == ("a.o", "b.o", f"{members}/0/1/x.o", f"{members}/0/2/x.o", f"{members}/1/y.o")
    assert link.after == ("-lz", "libc.so", "/usr/lib/x.a", "-o", "server", "-lm")
    assert [piece.member for piece in link.pieces] == ["", "", "x.o", "x.o", "y.o"]
    assert link.intact == ()
    assert (members / "0/1/x.o").read_bytes() == (build / "one/x.o").read_bytes()
    assert (members / "0/2/x.o").read_bytes() == (build / "two/x.o").read_bytes()
    command = link.command([4, 0, 2, 1, 3], build / "again")
    assert command[2:7] == [link.arguments[number] for number in (4, 0, 2, 1, 3)]
    assert command[-3:] == ["-o", str(build / "again"), "-lm"]


def test_archive_stays_whole_when_one_of_several_members_of_a_name_was_used(build, compiler):
    link = apart(build, compiler, "a.o\nb.o\n(libx.a)x.o\n(liby.a)y.o\n", "a.o", "libx.a", "b.o", "liby.a", "-o", "s")
    assert link.intact == (str(build / "libx.a"),)
    assert "libx.a" in link.after
    assert [piece.member for piece in link.pieces] == ["", "", "y.o"]


def test_thin_archive_and_unused_archive_stay(build, compiler):
    link = apart(build, compiler, "a.o\nb.o\n(thin.a)y.o\nliby.a\n", "a.o", "thin.a", "liby.a", "b.o", "-o", "s")
    assert link.after == ("thin.a", "liby.a", "-o", "s")
    assert link.intact == (str(build / "thin.a"),)


def test_arguments_in_a_file_are_refused(build, compiler):
    with pytest.raises(ValueError, match="has its arguments in a file"):
        apart(build, compiler, "a.o\nb.o\n", "@objects.rsp", "-o", "s")


def test_one_object_cannot_change_places(build, compiler):
    with pytest.raises(ValueError, match="linked from 1 objects of the build tree, expected at least 2"):
        apart(build, compiler, "a.o\n", "a.o", "-o", "s")


def test_output_is_replaced_and_must_be_there():
    assert with_output(["gcc", "-o", "a", "x.o"], "b") == ["gcc", "-o", "b", "x.o"]
    with pytest.raises(ValueError, match="has no -o"):
        with_output(["gcc", "x.o"], "b")


def test_server_is_the_output_that_was_installed(build, tmp_path):
    (tmp_path / "installed").write_bytes((build / "libc.so").read_bytes())
    calls = [call(build, "a.o", unit="a.o"), call(build, "-shared", unit="libc.so"), call(build, unit="gone")]
    assert server_link(calls, build, tmp_path / "installed").unit == "libc.so"
    (tmp_path / "installed").write_bytes(b"stripped")
    with pytest.raises(ValueError, match="0 recorded links made it, expected 1"):
        server_link(calls, build, tmp_path / "installed")


def test_objects_are_known_by_their_content(build):
    (build / "bitcode.o").write_bytes(b"BC\xc0\xde")
    found = [name for name in ("a.o", "libc.so", "libx.a", "a.c", "bitcode.o") if is_object(str(build / name))]
    assert found == ["a.o", "bitcode.o"]


def test_trace_names_objects_and_members(tmp_path):
    trace = "a.o\n../lib/libx.a\n(../lib/libx.a)x.o\n/usr/lib/libc.so\n"
    assert traced_pieces(trace, tmp_path / "sql") == [
        Piece(f"{tmp_path}/sql/a.o"),
        Piece(f"{tmp_path}/lib/libx.a"),
        Piece(f"{tmp_path}/lib/libx.a", "x.o"),
        Piece("/usr/lib/libc.so"),
    ]
