"""README's table of what runs again is true: every edit in it is performed on a finished study of stubs and planned."""

import os

import pytest
import yaml

from tests.workflow import edited_study, edits
from tests.workflow.rerun_words import Words, labels, table
from tests.workflow.running import CHECKOUT
from tests.workflow.stubbed import copied

README = CHECKOUT / "README.md"
TABLE = table(README.read_text())


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A study of stubs brought to its report on two cores, what its jobs made, and the files before any edit."""
    (folder := tmp_path_factory.mktemp("reruns") / "checkout").mkdir()
    made = copied(folder)
    edited_study.begin(made)
    planned = labels(made.plan())
    answer = made.run("--cores", "2", edited_study.TARGET)
    assert answer.status == 0, answer.text
    return made, planned, content(made)


def content(study):
    """Return file -> (bytes, status) of all an edit could touch."""
    folders = [study.root / name for name in ("scripts", "rules", "catalog", "envs", "profiles", "workloads")]
    files = [file for folder in [*folders, edited_study.sources(study)] for file in folder.rglob("*") if file.is_file()]
    files += [file for file in study.root.iterdir() if file.is_file() and file != study.journal]
    return {file: (file.read_bytes(), file.stat()) for file in files}


@pytest.fixture
def study(finished):
    """The finished study, to be edited: content and dates of its files are put back afterwards."""
    made, _, before = finished
    yield made
    for file, (text, status) in before.items():
        if file.stat().st_mtime_ns != status.st_mtime_ns:
            file.write_bytes(text)
            os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_table_has_every_edit_and_no_other():
    assert sorted(TABLE) == sorted(edits.EDITS)


def test_nothing_changed_then_there_is_nothing_to_do(study):
    assert "Nothing to be done" in study.plan().text


@pytest.mark.parametrize("name", edits.EDITS)
def test_edit_makes_run_again_what_the_table_says(name, study, finished):
    edit = edits.EDITS[name]
    answer = edit.do(study) or study.plan()
    assert answer.status == 0, answer.text
    config = yaml.safe_load((study.root / "config.yaml").read_text())
    said = Words(finished[1], config, edit.of).of_answer(answer)
    assert said == TABLE.get(name), answer.text
