"""Snakemake's records of jobs stay with the results, wherever these are moved or copied."""

import shutil
from pathlib import Path

import pytest

from scripts.workflow.job_records import follow, keep

RESULTS, METADATA = Path("results"), Path(".snakemake", "metadata")


@pytest.fixture
def directory(tmp_path, monkeypatch):
    """A working directory in which a first study began: Snakemake made its folders, the workflow its own."""
    work = tmp_path / "work"
    for folder in (METADATA, Path(".snakemake", "incomplete"), RESULTS):
        (work / folder).mkdir(parents=True)
    (work / METADATA / "job").write_text("{}")
    monkeypatch.chdir(work)
    return work


def test_records_move_into_the_results_and_are_found_where_snakemake_looks(directory):
    keep(RESULTS)
    assert (RESULTS / ".snakemake" / "job").read_text() == "{}"
    (METADATA / "next").write_text("{}")
    assert sorted(path.name for path in (RESULTS / ".snakemake").iterdir()) == ["job", "next"]


def test_second_start_changes_nothing(directory):
    keep(RESULTS)
    follow(RESULTS)
    keep(RESULTS)
    assert METADATA.is_symlink()
    assert (METADATA / "job").exists()


def test_results_copied_into_a_fresh_checkout_bring_their_records(directory, tmp_path, monkeypatch):
    keep(RESULTS)
    shutil.copytree(RESULTS, tmp_path / "fresh" / "results")
    monkeypatch.chdir(tmp_path / "fresh")
    follow(RESULTS)
    assert (METADATA / "job").exists()
    assert (METADATA.parent / "incomplete").is_dir()


def test_removed_results_leave_no_link_that_leads_nowhere(directory):
    keep(RESULTS)
    shutil.rmtree(RESULTS)
    follow(RESULTS)
    assert not METADATA.is_symlink()


def test_directory_without_results_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    follow(RESULTS)
    assert list(tmp_path.iterdir()) == []


def test_records_of_an_empty_look_around_give_way_to_those_of_the_results(directory, tmp_path, monkeypatch):
    keep(RESULTS)
    (tmp_path / "fresh" / METADATA).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "fresh")
    shutil.copytree(directory / RESULTS, RESULTS)
    follow(RESULTS)
    assert (METADATA / "job").exists()
