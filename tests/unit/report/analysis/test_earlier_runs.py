"""The records of an earlier release give the same values as they gave that release."""

import csv
import tarfile
from pathlib import Path

import pytest

from scripts.jobs import collect_runs
from scripts.report.analysis import dictionary
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


def rows(table):
    with table.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_earlier_records_give_the_same_values_in_every_column_of_then(unpacked):
    (study,) = Path("results").glob("studies/*/study.json")
    collect_runs.main(study, study.parent / "runs.txt", dictionary.files(Path("after")))
    for table in ("runs.csv", "series.csv"):
        before, after = (rows(Path(when, table)) for when in ("before", "after"))
        assert [{name: row[name] for name in before[0]} for row in after] == before
        assert {row["block"] for row in after} == {
            f"{row['workload']}/{row['clients']}/{row['repetition']}" for row in before
        }
