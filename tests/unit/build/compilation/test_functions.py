"""Functions of programs: what differs between two, and how many moved."""

import subprocess

import pytest

from scripts.build.compilation.functions import Function, difference, functions_of, moved_share, needed_names

SOURCE = (
    "static int one(int n) { return n; }\nint two(int n) { return one(n) + 2; }\nint main(void) { return two(0); }\n"
)


@pytest.fixture(scope="module")
def program(compiler, tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    (folder / "p.c").write_text(SOURCE)
    subprocess.run([compiler.cc, "-O0", folder / "p.c", "-o", folder / "p"], check=True)
    return folder / "p"


def functions(**places):
    return [Function(symbol, size, address) for symbol, (size, address) in places.items()]


@pytest.mark.real
def test_functions_of_a_program_are_its_own_with_sizes_and_addresses(program):
    found = {each.symbol: each for each in functions_of(program)}
    assert {"one", "two", "main", "_start"} <= found.keys()
    assert all(found[symbol].size > 0 and found[symbol].address > 0 for symbol in ("one", "two", "main"))
    assert not any("libc_start_main" in symbol for symbol in found)
    assert needed_names(program) == ["libc.so.6"]


@pytest.mark.real
def test_program_without_symbols_is_refused(program, tmp_path):
    subprocess.run(["strip", "-o", tmp_path / "bare", program], check=True)
    with pytest.raises(ValueError, match="shows no functions"):
        functions_of(tmp_path / "bare")


def test_difference_names_symbols_and_sizes():
    one, other = functions(a=(4, 0), b=(8, 4), c=(1, 12)), functions(a=(4, 9), b=(9, 0))
    assert difference(one, functions(c=(1, 3), b=(8, 7), a=(4, 1))) is None
    assert difference(one, other) == (
        "2 functions of 3 are missing and 1 are new: -b (8 bytes), -c (1 bytes), +b (9 bytes)"
    )


def test_functions_of_one_name_are_counted_and_not_followed():
    twice = [Function("local", 4, 0), Function("local", 4, 8), Function("main", 9, 16)]
    assert difference(twice, twice[1:]) == "1 functions of 3 are missing and 0 are new: -local (4 bytes)"
    assert moved_share(twice, [Function("local", 4, 8), Function("local", 4, 0), Function("main", 9, 16)]) == 0
    assert moved_share([], []) == 0


def test_share_of_moved_functions_is_of_those_in_both():
    assert moved_share(functions(a=(4, 0), b=(8, 4)), functions(a=(4, 0), b=(8, 5), c=(1, 1))) == 0.5
