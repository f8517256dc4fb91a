"""A profile of clang's: functions of llvm-profdata's text, matched with the units that hold them."""

import pytest

from scripts.build.compilation.clang import profile_units, summary
from scripts.build.compilation.compiler_calls import CompilerCall

USE = ("clang", "-c", "-fprofile-use=/p/merged.profdata")
MISSING = (
    "warning: x.cc: no profile data available for function {} Hash = 7 up to 0 count discarded [-Wbackend-plugin]\n"
)
MISMATCH = (
    "warning: x.cc: function control flow change detected (hash mismatch) {} Hash = 7 up to 2 count discarded "
    "[-Wbackend-plugin]\n"
)
FUNCTIONS = {"main": 10, "/s/a.cc:_ZL5localv": 5, "_Z6sharedv": 3, "_Z5neverv": 0}
INSTRUMENTED = [
    CompilerCall("a.o", ("clang", "-c"), False, "", functions=("_s_a.cc__ZL5localv", "_Z6sharedv.1234", "_Z5neverv")),
    CompilerCall("b.o", ("clang", "-c"), False, "", functions=("main", "_Z6sharedv.1234")),
    CompilerCall("c.o", ("clang", "-c"), False, "", functions=("_Z5neverv",)),
]


def used(**said):
    return [CompilerCall(f"{unit}.o", USE, False, said.get(unit, "")) for unit in "abc"]


def by_name(units):
    return {unit.name: unit for unit in units}


def test_function_of_two_units_is_counted_by_the_first_and_makes_both_run():
    found = by_name(profile_units(FUNCTIONS, used(), INSTRUMENTED, None))
    assert [(f.symbol, f.count, f.again) for f in found["a"].executed] == [
        ("_ZL5localv", 5, False), ("_Z6sharedv", 3, False)
    ]  # fmt: skip
    assert [(f.name, f.again) for f in found["b"].executed] == [("main", False), ("shared()", True)]
    assert (found["c"].executed, found["c"].counted) == ((), True)


@pytest.mark.parametrize(
    ("said", "why"), [(MISSING, "no counters found"), (MISMATCH, "hash mismatch"), (MISSING * 2, "no counters found")]
)
def test_warning_about_a_function_that_ran_takes_its_unit_and_the_function(said, why):
    found = by_name(profile_units(FUNCTIONS, used(a=said.replace("{}", "_ZL5localv")), INSTRUMENTED, None))
    assert (found["a"].why, found["b"].why) == (why, None)
    assert [function.lost for function in found["a"].executed] == [True, False]


def test_warning_about_a_function_that_never_ran_costs_nothing_but_is_counted():
    found = by_name(profile_units(FUNCTIONS, used(a=MISSING.format("_Z5neverv")), INSTRUMENTED, None))
    assert (found["a"].why, found["a"].functions_not_found) == (None, 1)


def test_shared_function_is_lost_when_any_unit_lost_it():
    found = by_name(profile_units(FUNCTIONS, used(b=MISMATCH.format("_Z6sharedv")), INSTRUMENTED, None))
    assert [function.lost for function in found["a"].executed] == [False, True]
    assert (found["a"].why, found["b"].why, found["b"].mismatch) == (None, "hash mismatch", True)


def test_unit_that_was_not_compiled_again_is_missing():
    found = by_name(profile_units(FUNCTIONS, used()[1:], INSTRUMENTED, {"b.o"}))
    assert (found["a"].why, found["a"].compiled) == ("not compiled in this build", False)
    assert (found["b"].linked, found["c"].linked) == (True, False)


def test_summary_counts_functions():
    assert summary(FUNCTIONS).to_json() == {"files": 1, "files_nonzero": 1, "functions": 4, "functions_nonzero": 3}
    assert summary({"a": 0}).files_nonzero == 0
