"""Functions of counter files get their names from the instrumented program, and are told from others of a name."""

import subprocess

import pytest

from scripts.build.compilation.binary import demangled
from scripts.build.compilation.gcc import function_symbols, is_public, plain_name, read_counters

SOURCE = """
namespace app {
template <class T> __attribute__((noinline)) T twice(T n) { return n > 3 ? n : n + n; }
namespace { __attribute__((noinline)) int hidden(int n) { return n > 4 ? 2 * n : n; } }
__attribute__((noinline)) static int local(int n) { return n > 5 ? 2 * n : n; }
}
int main(int n, char **) { return app::twice(n) + app::hidden(n) + app::local(n) > 99; }
"""
NAMES = {"main", "int app::twice<int>(int)", "app::(anonymous namespace)::hidden(int)", "app::local(int)"}


@pytest.fixture(scope="module")
def found(compiler, tmp_path_factory):
    """Names and keys of the functions that ran, of a program and of a library without any."""
    folder = tmp_path_factory.mktemp("symbols")
    (folder / "source.cc").write_text(SOURCE)
    (folder / "bin").mkdir()
    (folder / "bin" / "readme").write_text("no program\n")
    for flags in (["-fprofile-generate=/c", "-pie", "-fPIE", "-o", "bin/program"], ["-g0", "-o", "bin/plain"]):
        subprocess.run([compiler.cxx, "-O1", "source.cc", *flags], cwd=folder, check=True)
    subprocess.run(["strip", "bin/plain"], cwd=folder, check=True)
    subprocess.run([folder / "bin" / "program"], env={"GCOV_PREFIX": str(folder)}, check=True)
    (file,) = read_counters(folder / "c", compiler.gcov_dump)
    symbols = function_symbols(folder / "bin")
    names = demangled(symbols.values())
    return {names[symbols[ran.key]]: (symbols[ran.key], ran.key) for ran in file.executed}


def test_every_function_that_ran_has_its_name(found):
    assert set(found) == NAMES


def test_public_functions_are_told_from_those_of_a_unit(found):
    public = {name for name, (symbol, key) in found.items() if is_public(symbol, key)}
    assert public == {"main", "int app::twice<int>(int)"}


@pytest.mark.parametrize(
    ("warned", "filtered", "plain"),
    [
        ("work", "work", "work"),
        ("int app::{anonymous}::hid(int)", "app::(anonymous namespace)::hid(int)", "app::{anonymous}::hid"),
        ("T app::Box<T>::get() const [with T = int]", "app::Box<int>::get() const", "app::Box::get"),
        ("bool app::operator==(const Box<int>&, int)", "app::operator==(app::Box<int> const&, int)", "app::operator=="),
        ("int M::operator()(int) const", "M::operator()(int) const", "M::operator()"),
        ("M::operator int() const", "M::operator int() const", "M::operatorint"),
        ("S& operator<<(S&, T) [with T = int]", "S& operator<< <int>(S&, int)", "operator<<"),
        ("bool operator<(A, A)", "operator<(A, A)", "operator<"),
        ("A* A::operator->()", "A::operator->()", "A::operator->"),
        ("int& V<T>::operator[](int) [with T = int]", "V<int>::operator[](int)", "V::operator[]"),
        ("work(int)::<lambda(int)>", "work(int)::{lambda(int)#1}::operator()(int) const", "work"),
        ("V<P<A, B> >* f(int)", "V<P<A, B> >* f(int)", "f"),
        ("void operators(int)", "operators(int)", "operators"),
    ],
)
def test_warning_and_demangled_symbol_of_a_function_are_the_same_plain_name(warned, filtered, plain):
    assert (plain_name(warned), plain_name(filtered)) == (plain, plain)


def test_program_without_instrumented_functions_has_none(tmp_path, compiler):
    subprocess.run([compiler.cc, "-x", "c", "-", "-o", tmp_path / "p"], input=b"int main(){return 0;}", check=True)
    assert function_symbols(tmp_path) == {}
