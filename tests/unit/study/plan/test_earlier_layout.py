"""A study with results of before blocks is recognised by their folder, and nothing is measured beside them."""

from pathlib import Path

import pytest

from scripts.lib import json_record
from scripts.study.plan.earlier_layout import demand_blocks
from tests.made import laid_out
from tests.made.studies import paths

RUN = "results/studies/small/runs/pgo-0123456789ab/oltp-0123456789ab/8/1.json"


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch):
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)


def test_nothing_is_measured_beside_runs_of_before_blocks_and_the_last_commit_that_renders_them_is_named():
    demand_blocks(paths())
    json_record.write(Path(RUN), {})
    with pytest.raises(ValueError, match=f"^results/studies/small/runs: .*{json_record.LAST_BEFORE_BLOCKS}"):
        demand_blocks(paths())


def test_finished_blocks_are_valid_whatever_lies_beside_them():
    laid_out.make(paths())
    json_record.write(Path(RUN), {})
    demand_blocks(paths())


def test_runs_of_imported_logs_are_no_earlier_layout():
    json_record.write(Path(RUN), {})
    json_record.write(Path("results/studies/small/study.json"), {"imported": {"logs": 1}})
    demand_blocks(paths())
