"""The records of an earlier release give the same tables as they gave that release."""

import tarfile
from pathlib import Path

import pytest

from scripts.jobs import collect_runs
from tests.made.studies import CHECKOUT

FORMATS = CHECKOUT / "tests" / "data" / "formats"


@pytest.fixture
def unpacked(tmp_path, monkeypatch):
    """Return a folder with the finished study of format 1 and, in `before`, the tables made from it then."""
    for archive, folder in (("1.tar.xz", tmp_path), ("1-tables.tar.xz", tmp_path / "before")):
        with tarfile.open(FORMATS / archive) as stored:
            stored.extractall(folder)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_earlier_records_give_the_same_tables(unpacked):
    (study,) = Path("results").glob("studies/*/study.json")
    collect_runs.main(study, study.parent / "runs.txt", Path("after"))
    for table in ("runs.csv", "series.csv"):
        assert Path("after", table).read_text() == Path("before", table).read_text()
