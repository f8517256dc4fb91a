"""Estimates of a run count its rest and the loading of tables that no snapshot holds."""

import pytest

from scripts.study.config import run_time
from scripts.study.config.declared_loads import DatasetDeclaration
from scripts.study.config.loading import load
from tests.made.studies import CHECKOUT, config

FRESH = {"datasets": {"sbtest": {"tables": 4, "rows": 50_000, "fresh": True}}}


@pytest.mark.parametrize(
    ("changes", "seconds"),
    [
        ({}, 2 + 5 + 5),
        ({"rest_s": 150}, 150 + 2 + 5 + 5),
        ({"rounds": 50, "slice_s": 0.2}, 2 + 10 + 5),
        ({"rounds": 50, "slice_s": "automatic"}, 2 + 5 + 5),
        (FRESH, 2 + 5 + 5 + 4),
        ({**FRESH, "workloads": {"oltp": None, "other": {"script": "oltp_read_only", "dataset": "own"}},
          "datasets": {**FRESH["datasets"], "own": {"tables": 1, "rows": 9}}}, 2 + 5 + 5 + 2),
    ],
    ids=["plain", "rest", "rounds", "rounds of the shortest slices", "loaded anew", "one of two loaded anew"],
)  # fmt: skip
def test_stated_seconds_of_a_run(changes, seconds):
    assert run_time.stated_s(load(config(**changes), CHECKOUT, "small.yaml")) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("dataset", "rows", "kept"),
    [
        ({"tables": 4, "rows": 10}, 40, 40),
        ({"tables": 4, "rows": 10, "fresh": True}, 40, 0),
        ({"script": "tpcc.lua", "tables": 2}, 0, 0),
    ],
)
def test_rows_of_a_dataset_and_of_its_snapshot(dataset, rows, kept):
    declared = DatasetDeclaration(**dataset)
    assert (run_time.rows_of(declared), run_time.snapshot_rows(declared)) == (rows, kept)
