"""A profile of a real program, made in one build tree and used in another: the audit finds what was lost."""

import shutil
import subprocess
from dataclasses import replace

import pytest

from scripts.build.compilation import audit as builds_audit
from scripts.build.compilation import gcc, profiles
from scripts.build.compilation.audit import ExecutedFunction, Unit, audit
from scripts.build.compilation.compiler_calls import CompilerCall, compiled_units, read_calls
from scripts.build.compilation.compiler_flags import COUNTERS, flags_of
from scripts.build.compilation.gcc import Counted, CounterFile, function_symbols, profile_units, read_counters, summary
from scripts.lib.build_records import LostUnit, TrainedProfile
from tests.made.wrapped import Project

MAIN = "int work(int);\nint spare(int);\nint main(int n, char **v) { return work(n) == 0 ? spare(n) : 0; }\n"
WORK = """
__attribute__((noinline)) static int twice(int n) { return n > 3 ? 2 * n : n + n; }
int work(int n) { return twice(n); }
"""
UNITS = {"main": MAIN, "sub__work": WORK, "sub__spare": "int spare(int n) { return n; }\n"}
MISMATCHES = "int work(int n) { while (n > 9) n /= 3; return n ? 1 : n; }\n"
# A branch each, so that their counters fill more than three digits of bytes.
MANY_ARCS = "int work(int n) {\n" + "".join(f"if (n == {i}) n += {i} * n;\n" for i in range(200)) + "return n; }\n"


def compile_all(tree, profile, common="-O2"):
    flags = {"BUILD_FLAGS": common, "BUILD_PROFILE_FLAGS": " ".join(profile), "BUILD_PROFILE_SCOPE": "*"}
    sources = sorted(tree.project.source.rglob("*.c"))
    objects = [source.relative_to(tree.project.source).with_suffix(".o") for source in sources]
    for source, made in zip(sources, objects, strict=True):
        done = tree.compile("-c", source, "-o", made, **flags)
        assert done.returncode == 0, done.stderr
    done = tree.compile(*objects, "-o", "program", **flags)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def trained(compiler, tmp_path_factory):
    """A project whose instrumented build has run once; its counters lie in `counters`."""
    project = Project(compiler, tmp_path_factory.mktemp("trained"))
    project.write(**UNITS)
    tree = project.build("instrumented")
    compile_all(tree, flags_of("gcc").instrument(tree.path))
    written = project.folder / "written"
    subprocess.run([tree.path / "program"], env={"GCOV_PREFIX": str(written)}, check=True)
    shutil.copytree(written / COUNTERS.lstrip("/"), project.folder / "counters")
    return project


@pytest.fixture
def project(trained, tmp_path):
    """The trained project with a copy of its counters to be damaged; the sources stay where they are."""
    shutil.copytree(trained.folder / "counters", tmp_path / "counters")
    return trained


@pytest.fixture
def used(project, tmp_path, request):
    """Compile again with the profile in a build tree of its own, and return what the wrapper kept."""

    def build(folder=tmp_path / "counters"):
        tree = project.build(request.node.name[:40])
        compile_all(tree, flags_of("gcc").use(tree.path, folder))
        return compiled_units(read_calls(tree.records, tree.path))

    return build


def audited(project, calls, folder):
    files = read_counters(folder, project.compiler.gcov_dump)
    symbols = function_symbols(project.folder / "instrumented")
    return audit(profile_units(files, calls, None, symbols), "mixed")


def test_profile_is_found_from_another_build_tree(project, used, tmp_path):
    facts = audited(project, used(), tmp_path / "counters")
    assert (facts.units_with_counters, facts.units_nonzero, facts.units_matched) == (3, 2, 2)
    assert (facts.matched_share, facts.missing, facts.mismatches) == (1.0, [], 0)
    assert facts.functions_not_found == 0
    builds_audit.demand_profile_used(facts)


def test_counter_files_are_named_after_the_objects_and_nothing_of_the_build_tree(trained):
    names = sorted(path.name for path in (trained.folder / "counters").iterdir())
    assert names == ["main.gcda", "sub#spare.gcda", "sub#work.gcda"]


def test_counters_are_read_by_function(trained):
    counters = read_counters(trained.folder / "counters", trained.compiler.gcov_dump)
    found = [(file.name, file.functions, len(file.executed)) for file in counters]
    assert found == [("main.gcda", 1, 1), ("sub#spare.gcda", 1, 0), ("sub#work.gcda", 2, 2)]
    assert summary(counters).to_json() == {"files": 3, "files_nonzero": 2, "functions": 4, "functions_nonzero": 3}


def test_many_files_are_read_in_batches_with_the_same_answer(trained):
    folder, tool = trained.folder / "counters", trained.compiler.gcov_dump
    assert read_counters(folder, tool, batch=1) == read_counters(folder, tool)


def test_lost_counters_of_a_unit_are_named_and_refuse_the_build(project, used, tmp_path):
    lost = tmp_path / "lost"
    shutil.copytree(tmp_path / "counters", lost)
    (lost / "sub#work.gcda").unlink()
    facts = audited(project, used(lost), tmp_path / "counters")
    assert facts.missing == [LostUnit("sub/work", "no counters file found")]
    assert (facts.units_matched, facts.units_nonzero) == (1, 2)
    told = r"(?s)1 of 2 executed units .* \(50\.0%, expected 99% or more\)\. Missing:\n  sub/work: no counters"
    with pytest.raises(ValueError, match=told):
        builds_audit.demand_profile_used(facts)


def test_renamed_object_is_named_and_refuses_the_build(project, used, tmp_path):
    calls = [call for call in used() if call.unit != "sub/work.o"]
    facts = audited(project, calls, tmp_path / "counters")
    assert facts.missing == [LostUnit("sub/work", "not compiled in this build")]
    with pytest.raises(ValueError, match="sub/work: not compiled in this build"):
        builds_audit.demand_profile_used(facts)


def test_changed_source_is_a_coverage_mismatch(compiler, trained, tmp_path):
    project = Project(compiler, tmp_path)
    shutil.copytree(trained.folder / "counters", tmp_path / "counters")
    project.write(**{**UNITS, "sub__work": MISMATCHES})
    tree = project.build("changed")
    compile_all(tree, flags_of("gcc").use(tree.path, tmp_path / "counters"))
    facts = audited(project, compiled_units(read_calls(tree.records, tree.path)), tmp_path / "counters")
    assert LostUnit("sub/work", "coverage mismatch") in facts.missing
    assert facts.mismatches >= 1
    assert facts.functions_mismatched >= 1
    with pytest.raises(ValueError, match="coverage mismatch"):
        builds_audit.demand_profile_used(facts)


def test_unit_that_never_ran_is_not_demanded(project, used, tmp_path):
    calls = [call for call in used() if call.unit != "sub/spare.o"]
    builds_audit.demand_profile_used(audited(project, calls, tmp_path / "counters"))


def test_directories_are_counted_apart(project, used, tmp_path):
    facts = audited(project, used(), tmp_path / "counters")
    keys = ("directory", "units_compiled", "units_with_counters", "units_nonzero", "units_matched", "functions_matched")
    assert [tuple(getattr(row, key) for key in keys) for row in facts.by_directory] == [
        (".", 1, 1, 1, 1, 1),
        ("sub", 2, 2, 1, 1, 2),
    ]
    assert all(row.units_linked is None for row in facts.by_directory)


def test_top_functions_have_name_unit_and_share_of_all_counts(project, used, tmp_path):
    top = audited(project, used(), tmp_path / "counters").top_functions
    assert {(entry.function, entry.unit) for entry in top} == {
        ("main", "main"), ("work", "sub/work"), ("twice", "sub/work")
    }  # fmt: skip
    assert [entry.count for entry in top] == sorted((entry.count for entry in top), reverse=True)
    assert sum(entry.share for entry in top) == pytest.approx(1)
    assert all(entry.optimised for entry in top)


def test_share_of_executed_code_weighs_functions_with_their_counters(project, used, tmp_path):
    whole = audited(project, used(), tmp_path / "counters")
    assert (whole.executed_share_optimised, whole.functions_executed, whole.functions_matched) == (1.0, 3, 3)
    calls = [CompilerCall("main.o", ("gcc", "-c", "-fprofile-use=/p"), links=False, said="")]
    facts = audited(project, calls, tmp_path / "counters")
    in_main = sum(entry.count for entry in whole.top_functions if entry.unit == "main")
    in_all = sum(entry.count for entry in whole.top_functions)
    assert facts.executed_share_optimised == in_main / in_all
    assert facts.functions_matched == 1


def test_function_of_another_source_path_is_lost_though_its_unit_is_found(compiler, trained, tmp_path):
    """Sources elsewhere: gcc does not find the static function's counters, and says so of it alone."""
    project = Project(compiler, tmp_path)
    shutil.copytree(trained.folder / "counters", tmp_path / "counters")
    project.write(**UNITS)
    tree = project.build("moved")
    compile_all(tree, flags_of("gcc").use(tree.path, tmp_path / "counters"))
    calls = compiled_units(read_calls(tree.records, tree.path))
    facts = audited(trained, calls, tmp_path / "counters")
    assert facts.functions_not_found >= 1
    (twice,) = [entry for entry in facts.top_functions if entry.function == "twice"]
    assert not twice.optimised
    assert facts.executed_share_optimised < 1


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_warnings_are_understood_in_every_quotation(compiler, trained, tmp_path, locale, monkeypatch):
    monkeypatch.setenv("LC_ALL", locale)
    project = Project(compiler, tmp_path)
    project.write(**UNITS)
    tree = project.build("quoted")
    counters = trained.folder / "counters"
    flags = {"BUILD_PROFILE_FLAGS": " ".join(flags_of("gcc").use(tree.path, counters)), "BUILD_PROFILE_SCOPE": "*"}
    source = project.source / "sub" / "work.c"
    assert tree.compile("-O2", "-c", source, "-o", "sub/work.o", LC_ALL=locale, **flags).returncode == 0
    (unit,) = [unit for unit in units_of(trained, tree) if unit.compiled]
    assert unit.functions_not_found == 1


def units_of(trained, tree):
    files = read_counters(trained.folder / "counters", trained.compiler.gcov_dump)
    return profile_units(files, compiled_units(read_calls(tree.records, tree.path)), None, {})


def test_unit_compiled_without_the_profile_flag_is_not_matched(project, used, tmp_path):
    calls = [CompilerCall("sub/work.o", ("gcc", "-c"), False, "") if "work" in call.unit else call for call in used()]
    facts = audited(project, calls, tmp_path / "counters")
    assert facts.missing == [LostUnit("sub/work", "compiled without its profile")]


def test_function_of_many_branches_is_counted(compiler, tmp_path):
    """gcov-dump leaves no space before the length of a long record."""
    project = Project(compiler, tmp_path)
    project.write(**{**UNITS, "sub__work": MANY_ARCS})
    tree = project.build("instrumented")
    compile_all(tree, flags_of("gcc").instrument(tree.path), "-O0")
    subprocess.run([tree.path / "program"], env={"GCOV_PREFIX": str(tmp_path)}, check=True)
    counters = {file.name: file for file in read_counters(tmp_path / "counters", compiler.gcov_dump)}
    assert (counters["sub#work.gcda"].functions, len(counters["sub#work.gcda"].executed)) == (1, 1)


def test_counters_that_are_all_zero_are_refused(project, tmp_path):
    for file in ("main.gcda", "sub#work.gcda"):
        (tmp_path / "counters" / file).unlink()
    counters = read_counters(tmp_path / "counters", project.compiler.gcov_dump)
    facts = replace(summary(counters), training="mixed", server="tiny")
    with pytest.raises(ValueError, match="training mixed of tiny: all counters of 1 files are zero"):
        builds_audit.demand_trained(facts)
    with pytest.raises(ValueError, match="profile mixed: no unit has a non-zero counter"):
        builds_audit.demand_profile_used(audit(profile_units(counters, [], None, {}), "mixed"))


def test_one_counter_above_zero_is_a_training():
    builds_audit.demand_trained(TrainedProfile(functions_nonzero=1))


UNREADABLE = {
    "empty": lambda content: b"",
    "header": lambda content: content[:12],
    "function": lambda content: content[:40],
    "counters": lambda content: content[:60],
    "end": lambda content: content[:-20],
    "something else": lambda content: b"#!/bin/sh\n" * 20,
    "another compiler": lambda content: content.replace(b"*22B", b"*11A"),
}


@pytest.mark.parametrize("how", UNREADABLE)
def test_counters_that_are_cut_or_of_something_else_are_refused_by_name(project, how, tmp_path_factory):
    # The folder's own name must not hold the words that gcov-dump complains with.
    folder = tmp_path_factory.mktemp("damaged")
    file = folder / "sub#work.gcda"
    content = (project.folder / "counters" / file.name).read_bytes()
    damaged = UNREADABLE[how](content)
    assert damaged != content
    file.write_bytes(damaged)
    with pytest.raises(ValueError, match=r"sub#work\.gcda"):
        read_counters(folder, project.compiler.gcov_dump)


def test_name_of_the_folder_is_no_complaint_about_the_counters(project, tmp_path):
    shutil.copytree(tmp_path / "counters", tmp_path / "truncated")
    assert len(read_counters(tmp_path / "truncated", project.compiler.gcov_dump)) == 3


def test_share_at_the_threshold_is_enough_and_below_is_not():
    counters = [CounterFile(f"u{number}.gcda", 1, (Counted((number, 1, 1), 7),)) for number in range(100)]
    arguments = ("gcc", "-c", "-fprofile-use=/p")
    calls = [CompilerCall(f"u{number}.o", arguments, links=False, said="") for number in range(100)]
    builds_audit.demand_profile_used(audit(profile_units(counters, calls[1:], None, {}), "mixed"))
    with pytest.raises(ValueError, match=r"98 of 100"):
        builds_audit.demand_profile_used(audit(profile_units(counters, calls[2:], None, {}), "mixed"))


def test_summary_of_a_training_is_that_of_its_tool(trained):
    counters, commands = trained.folder / "counters", {"gcov_dump": trained.compiler.gcov_dump}
    found = profiles.summary(counters, "gcc", commands).to_json()
    assert found == {"files": 3, "files_nonzero": 2, "functions": 4, "functions_nonzero": 3}
    with pytest.raises(ValueError, match="profile of tool 'icc', expected gcc, clang or bolt"):
        profiles.summary(counters, "icc", commands)


@pytest.mark.parametrize(("ident", "optimised"), [(108032747, 1), (7, 0)], ids=["public", "local"])
def test_missing_function_of_the_same_name_does_not_cost_a_public_one_its_counters(ident, optimised):
    """The ident of a public function is the CRC of its symbol, here of `main`, so gcc cannot have missed it."""
    key = (ident, 1, 1)
    said = "a.c:1:1: warning: profile for function 'main' not found in profile data [-Wmissing-profile]\n"
    call = CompilerCall("a.o", ("gcc", "-c", "-fprofile-use=/p"), links=False, said=said)
    facts = audit(profile_units([CounterFile("a.gcda", 1, (Counted(key, 9),))], [call], None, {key: "main"}), "mixed")
    assert (facts.functions_matched, facts.functions_not_found) == (optimised, 1)
    assert facts.executed_share_optimised == optimised


def test_share_is_unknown_with_a_gcc_whose_layout_was_not_tried():
    problem = gcc.names_problem("14.2.0")
    assert problem == "the layout of counted functions in a program was tried with gcc 12, not with 14.2.0"
    assert gcc.names_problem("12.2.0") is None
    ran = Unit("sql/a.cc", compiled=True, counted=True, executed=(ExecutedFunction(None, None, 5),))
    facts = audit([ran], "mixed", problem)
    assert (facts.executed_share_optimised, facts.functions_matched, facts.top_functions) == (None, None, [])
    assert (facts.matched_share, facts.names_problem) == (1.0, problem)
    assert facts.by_directory[0].executed_share_optimised is None
    builds_audit.demand_profile_used(facts)
    assert audit([ran], "mixed").names_problem is None
