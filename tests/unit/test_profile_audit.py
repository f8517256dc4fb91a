"""A profile of a real program, made in one build tree and used in another: the audit finds what was lost."""

import shutil
import subprocess

import pytest

from scripts import profile_audit
from scripts.compile import COUNTERS, instrument_flags, profile_flags
from scripts.compile_records import CompilerCall, read_calls, units
from scripts.profile_audit import CounterFile, audit, counter_name, read_counters, summary
from tests.unit.wrapped import Project

MAIN = "int work(int);\nint spare(int);\nint main(int n, char **v) { return work(n) == 0 ? spare(n) : 0; }\n"
WORK = """
__attribute__((noinline)) static int twice(int n) { return n > 3 ? 2 * n : n + n; }
int work(int n) { return twice(n); }
"""
UNITS = {"main": MAIN, "sub__work": WORK, "sub__spare": "int spare(int n) { return n; }\n"}


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
    compile_all(tree, instrument_flags(tree.path))
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
        compile_all(tree, profile_flags(tree.path, folder))
        return units(read_calls(tree.records, tree.path))

    return build


def audited(project, calls, folder):
    return audit(read_counters(folder, project.compiler.gcov_dump), calls, "mixed")


def test_profile_is_found_from_another_build_tree(project, used, tmp_path):
    facts = audited(project, used(), tmp_path / "counters")
    assert (facts["units_with_counters"], facts["units_nonzero"], facts["units_matched"]) == (3, 2, 2)
    assert (facts["matched_share"], facts["missing"], facts["mismatches"]) == (1.0, [], 0)
    assert facts["functions_not_found"] == 0
    profile_audit.demand(facts)


def test_counter_files_are_named_after_the_objects_and_nothing_of_the_build_tree(trained):
    names = sorted(path.name for path in (trained.folder / "counters").iterdir())
    assert names == ["main.gcda", "sub#spare.gcda", "sub#work.gcda"]


def test_counters_are_read_by_function(trained):
    counters = read_counters(trained.folder / "counters", trained.compiler.gcov_dump)
    assert counters == [
        CounterFile("main.gcda", 1, 1),
        CounterFile("sub#spare.gcda", 1, 0),
        CounterFile("sub#work.gcda", 2, 2),
    ]
    assert summary(counters) == {"files": 3, "files_nonzero": 2, "functions": 4, "functions_nonzero": 3}


def test_many_files_are_read_in_batches_with_the_same_answer(trained):
    folder, tool = trained.folder / "counters", trained.compiler.gcov_dump
    assert read_counters(folder, tool, batch=1) == read_counters(folder, tool)


def test_lost_counters_of_a_unit_are_named_and_refuse_the_build(project, used, tmp_path):
    lost = tmp_path / "lost"
    shutil.copytree(tmp_path / "counters", lost)
    (lost / "sub#work.gcda").unlink()
    facts = audited(project, used(lost), tmp_path / "counters")
    assert facts["missing"] == [{"unit": "sub/work", "why": "no counters file found"}]
    assert (facts["units_matched"], facts["units_nonzero"]) == (1, 2)
    told = r"(?s)1 of 2 executed units .* \(50\.0%, expected 99% or more\)\. Missing:\n  sub/work: no counters"
    with pytest.raises(ValueError, match=told):
        profile_audit.demand(facts)


def test_renamed_object_is_named_and_refuses_the_build(project, used, tmp_path):
    calls = [call for call in used() if call.unit != "sub/work.o"]
    facts = audited(project, calls, tmp_path / "counters")
    assert facts["missing"] == [{"unit": "sub/work", "why": "not compiled in this build"}]
    with pytest.raises(ValueError, match="sub/work: not compiled in this build"):
        profile_audit.demand(facts)


def test_changed_source_is_a_coverage_mismatch(compiler, trained, tmp_path):
    project = Project(compiler, tmp_path)
    shutil.copytree(trained.folder / "counters", tmp_path / "counters")
    project.write(**{**UNITS, "sub__work": "int work(int n) { while (n > 9) n /= 3; return n ? 1 : n; }\n"})
    tree = project.build("changed")
    compile_all(tree, profile_flags(tree.path, tmp_path / "counters"))
    facts = audited(project, units(read_calls(tree.records, tree.path)), tmp_path / "counters")
    assert {"unit": "sub/work", "why": "coverage mismatch"} in facts["missing"]
    assert facts["mismatches"] >= 1
    with pytest.raises(ValueError, match="coverage mismatch"):
        profile_audit.demand(facts)


def test_unit_that_never_ran_is_not_demanded(project, used, tmp_path):
    calls = [call for call in used() if call.unit != "sub/spare.o"]
    profile_audit.demand(audited(project, calls, tmp_path / "counters"))


def test_directories_are_counted_apart(project, used, tmp_path):
    facts = audited(project, used(), tmp_path / "counters")
    assert facts["by_directory"] == [
        {"directory": ".", "units_nonzero": 1, "units_matched": 1},
        {"directory": "sub", "units_nonzero": 1, "units_matched": 1},
    ]


def test_counters_that_are_all_zero_are_refused(project, tmp_path):
    for file in ("main.gcda", "sub#work.gcda"):
        (tmp_path / "counters" / file).unlink()
    counters = read_counters(tmp_path / "counters", project.compiler.gcov_dump)
    facts = {"training": "mixed", "server": "tiny", **summary(counters)}
    with pytest.raises(ValueError, match="training mixed of tiny: all counters of 1 files are zero"):
        profile_audit.demand_trained(facts)
    with pytest.raises(ValueError, match="profile mixed: no unit has a non-zero counter"):
        profile_audit.demand(audit(counters, [], "mixed"))


def test_one_counter_above_zero_is_a_training():
    profile_audit.demand_trained({"functions_nonzero": 1})


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
    counters = [CounterFile(f"u{number}.gcda", 1, 1) for number in range(100)]
    calls = [CompilerCall(f"u{number}.o", ("gcc", "-c"), links=False, said="") for number in range(100)]
    profile_audit.demand(audit(counters, calls[1:], "mixed"))
    with pytest.raises(ValueError, match=r"98 of 100"):
        profile_audit.demand(audit(counters, calls[2:], "mixed"))


@pytest.mark.parametrize(
    ("unit", "name"),
    [
        ("main.o", "main.gcda"),
        ("sql/CMakeFiles/sql.dir/item.cc.o", "sql#CMakeFiles#sql.dir#item.cc.gcda"),
        ("src/port/snprintf_srv.o", "src#port#snprintf_srv.gcda"),
        ("dir.with.dot/main.o", "dir.with.dot#main.gcda"),
    ],
)
def test_name_of_a_counter_file_follows_from_the_object(unit, name):
    assert counter_name(unit) == name


@pytest.mark.parametrize(
    ("file", "unit", "folder"),
    [
        ("main.gcda", "main", "."),
        ("sql#CMakeFiles#sql.dir#item.cc.gcda", "sql/item.cc", "sql"),
        (
            "storage#innobase#CMakeFiles#innobase.dir#btr#btr0btr.cc.gcda",
            "storage/innobase/btr/btr0btr.cc",
            "storage/innobase",
        ),
        ("src#backend#access#nbtree#nbtree.gcda", "src/backend/access/nbtree/nbtree", "backend/access"),
    ],
)
def test_units_and_folders_are_named_as_people_know_them(file, unit, folder):
    assert (profile_audit.unit_name(file), profile_audit.directory(file)) == (unit, folder)
