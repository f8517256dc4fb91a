"""Records of the wrapper are read back as calls; sorted, without failed ones, and with the arguments that matter."""

from pathlib import Path

from scripts.build.compilation.compiler_calls import (
    CompilerCall,
    compiled_units,
    effective_arguments,
    read_calls,
    read_kept_calls,
    with_functions,
    write_calls,
)


def record(folder, name, *fields, said=None, failed=False):
    (folder / name).write_bytes(b"".join(field.encode() + b"\0" for field in fields))
    if said is not None:
        (folder / f"{name}.stderr").write_bytes(said)
    if failed:
        (folder / f"{name}.failed").touch()


def call(unit, *arguments):
    return CompilerCall(unit, arguments, links="-c" not in arguments, said="")


def test_calls_come_in_the_order_of_their_objects(tmp_path):
    record(tmp_path, "AAAA", "/b", "/b/sub/z.o", "gcc", "-c", "z.c")
    record(tmp_path, "BBBB", "/b", "/b/a.o", "gcc", "-c", "a.c", said=b"warning: \xff\n")
    calls = read_calls(tmp_path, Path("/b"))
    assert [(each.unit, each.said) for each in calls] == [("a.o", "warning: \ufffd\n"), ("sub/z.o", "")]


def test_failed_calls_are_left_out(tmp_path):
    record(tmp_path, "AAAA", "/b", "/b/a.o", "gcc", "-c", "a.c", said=b"error", failed=True)
    record(tmp_path, "BBBB", "/b", "/b/a.o", "gcc", "-c", "a.c", "-fPIC")
    (only,) = read_calls(tmp_path, tmp_path)
    assert only.arguments[-1] == "-fPIC"


def test_argument_with_a_line_break_or_of_no_text_stays_one(tmp_path):
    record(tmp_path, "AAAA", "/b", "/b/a.o", "gcc", "-DX=a\nb", "", "-c")
    (only,) = read_calls(tmp_path, tmp_path)
    assert only.arguments == ("gcc", "-DX=a\nb", "", "-c")


def test_calls_that_preprocess_or_link_are_no_units():
    calls = [call("a.o", "gcc", "-c", "a.c"), call("program", "gcc", "a.o"), call("a.i", "gcc", "-E", "a.c")]
    assert [each.unit for each in compiled_units(calls)] == ["a.o"]


def test_effective_arguments_are_those_that_bear_on_the_code():
    arguments = ["gcc", "-O2", "-fPIC", "-march=native", "-g1", "-std=c11", "-Wl,-O1", "-D_FORTIFY_SOURCE=2", "-pipe"]
    nothing_of = ["-DNAME=1", "-I/usr/include", "-Wall", "-c", "a.c", "-o", "a.o", "-MD", "-lm"]
    found = effective_arguments([call("a.o", *arguments, *nothing_of), call("b.o", "gcc", "-O2", "-flto=2")])
    assert found == sorted({*arguments[1:], "-flto=2"})


def test_linkers_trace_names_what_went_into_a_program(tmp_path):
    record(tmp_path, "AAAA", "/b/sub", "/b/server", "g++", "main.o", "-o", "../server")
    trace = ["/usr/lib/crt1.o", "main.o", "../libx.a", "(../libx.a)odd name.o", "../libx.a", "/b/other.o"]
    (tmp_path / "AAAA.stdout").write_text("\n".join(trace) + "\n")
    (only,) = read_calls(tmp_path, Path("/b"))
    assert only.linked == ("/usr/lib/crt1.o", "sub/main.o", "libx.a", "libx.a(odd name.o)", "other.o")


def test_kept_calls_are_read_back_the_same_and_kept_as_the_same_bytes(tmp_path):
    calls = [CompilerCall("a.o", ("gcc", "-DX=a\n\udce9"), False, "warning: \ufffd", ("b.o",)), call("p", "gcc", "a.o")]
    write_calls(calls, tmp_path / "first.gz")
    write_calls(read_kept_calls(tmp_path / "first.gz"), tmp_path / "second.gz")
    assert read_kept_calls(tmp_path / "second.gz") == calls
    assert (tmp_path / "first.gz").read_bytes() == (tmp_path / "second.gz").read_bytes()


def test_functions_that_clang_counts_in_an_object_are_kept_with_its_call(tmp_path):
    stub = tmp_path / "nm"
    stub.write_text(
        "#!/bin/sh\nshift 2\nfor object; do\n"
        "echo \"$object: 0000000000000000 n __profc_first\"\necho \"$object:0000000000000000 V __profc__Z1fv.12\"\n"
        "echo \"$object: 0000000000000010 T first\"\ndone\n"
    )  # fmt: skip
    stub.chmod(0o755)
    (tmp_path / "a.o").touch()
    calls = [call("a.o", "clang", "-c"), call("gone.o", "clang", "-c"), call("program", "clang", "a.o")]
    found = with_functions(calls, tmp_path, str(stub))
    assert [each.functions for each in found] == [("_Z1fv.12", "first"), (), ()]
    write_calls(found, tmp_path / "calls.gz")
    assert read_kept_calls(tmp_path / "calls.gz") == found


def test_folder_of_a_call_is_kept(tmp_path):
    record(tmp_path, "AAAA", "/b/sub", "/b/sub/a.o", "gcc", "-c", "a.c", "-o", "a.o")
    (only,) = read_calls(tmp_path, Path("/b"))
    assert (only.unit, only.folder) == ("sub/a.o", "/b/sub")
