"""The table of docs/reruns.md is true: every edit in it is performed on a finished study of stubs and planned."""

import os

import pytest
import yaml

from tests.workflow import edited_study, edits, moves, planning
from tests.workflow.rerun_words import Words, labels, table
from tests.workflow.running import CHECKOUT
from tests.workflow.stubbed import copied

pytestmark = pytest.mark.slow

DOCUMENT = CHECKOUT / "docs" / "reruns.md"
TABLE = table(DOCUMENT.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A study of stubs brought to its report on two cores, its state, and its files before any edit."""
    (folder := tmp_path_factory.mktemp("reruns") / "checkout").mkdir()
    made = copied(folder)
    edited_study.begin(made)
    answer = made.run("--cores", "2", edited_study.TARGET)
    assert answer.status == 0, answer.text
    return made, planning.state(made), content(made)


def content(study):
    """Return file -> (bytes, status) of all an edit could touch."""
    folders = [study.root / name for name in ("scripts", "rules", "catalog", "envs", "profiles", "workloads")]
    files = [file for folder in [*folders, edited_study.sources(study)] for file in folder.rglob("*") if file.is_file()]
    files += [file for file in study.root.iterdir() if file.is_file() and file != study.journal]
    return {file: (file.read_bytes(), file.stat()) for file in files}


@pytest.fixture
def study(finished, monkeypatch):
    """The finished study, to be edited: PATH, content and dates of its files are put back afterwards."""
    made, _, before = finished
    monkeypatch.setenv("PATH", os.environ["PATH"])
    yield made
    for file, (text, status) in before.items():
        if file.stat().st_mtime_ns != status.st_mtime_ns:
            file.write_bytes(text)
            os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def words(name, study, finished, answer):
    """Return the jobs that are planned after an edit, in the words of docs/reruns.md."""
    config = yaml.safe_load((study.root / "config.yaml").read_text())
    of = edits.EDITS[name].of if name else ()
    runs = finished[1].in_blocks | planning.state(study).in_blocks
    return Words(labels(planning.Planned(finished[1].paths), runs), config, of, runs).of_answer(answer)


def test_table_has_every_edit_and_no_other():
    assert sorted(TABLE) == sorted(edits.EDITS)


def test_nothing_changed_then_there_is_nothing_to_do(study):
    assert "Nothing to be done" in study.plan().text


@pytest.mark.parametrize("name", edits.EDITS)
def test_edit_makes_run_again_what_the_table_says(name, study, finished):
    answer = edits.EDITS[name].do(study) or planning.planned(finished[1], study)
    assert words(name, study, finished, answer) == TABLE.get(name), answer


@pytest.mark.parametrize("name", edits.BY_SNAKEMAKE)
def test_snakemake_plans_the_same(name, study, finished):
    edits.EDITS[name].do(study)
    answer = study.plan()
    assert words(name, study, finished, answer) == TABLE[name], answer.text


def test_edits_that_change_nothing_change_nothing_together(study):
    assert {TABLE[name] for name in edits.HARMLESS} == {"nothing"}
    for name in edits.HARMLESS:
        edits.EDITS[name].do(study)
    answer = moves.other_cores(study)
    assert "Nothing to be done" in answer.text, answer.text
