"""Expectations are held, broken or open by their intervals alone."""

import pandas as pd
import pytest

from scripts.lib.resolved_study import ResolvedStudy
from scripts.report.analysis.expectations import whole_verdict
from scripts.report.analysis.metrics import MEASURED
from scripts.study.config import schema

ROW = {"variant": "pgo", "metric": "tps", "ratio": 1.2, "ratio_low": 1.1, "ratio_high": 1.3, "verdict": "far_above",
       "n_cells": 2, "n_cells_planned": 2, "n_blocks_least": 5}  # fmt: skip
OK = {"variant": "pgo", "outcome": "ok", "reason": None}


def verdict(limit, study=None, runs=OK, **changes):
    tables = {"overall": pd.DataFrame([{**ROW, **changes}]), "runs": pd.DataFrame([runs])}
    declared = {
        "study": "x",
        "reference": "baseline",
        "repetitions": 5,
        "blocks": ["a"],
        "expect": {"pgo": {"tps": limit}},
        **(study or {}),
    }
    return whole_verdict(ResolvedStudy.of(declared), tables)


@pytest.mark.parametrize(
    ("limit", "word"),
    [("> 1.05", "held"), ("> 1.1", "open"), (">= 1.1", "held"), (">1.2", "open"), ("> 1.3", "broken"),
     (">= 1.3", "open"), ("< 1.02", "broken"), ("< 1.31", "held"), ("<= 1.3", "held"), ("< 1.2", "open")],
)  # fmt: skip
def test_the_whole_interval_decides(limit, word):
    found = verdict(limit)
    assert found["word"] == word
    assert found["expectations"][0]["text"] == f"pgo: tps {limit}: {word}, 1.20 (1.10–1.30)"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"ratio_low": float("nan"), "ratio_high": float("nan")}, "1.20 without an interval"),
        ({"n_blocks_least": 4}, "a cell has 4 blocks, 5 are needed"),
        ({"n_cells": 1}, "1 of 2 cells could be compared"),
        ({"n_cells": 0, "ratio": float("nan")}, "no ratio; no cell could be compared"),
        ({"study": {"partial": True}}, "the study is not finished"),
    ],
)
def test_a_study_that_does_not_show_it_leaves_it_open(changes, text):
    found = verdict("> 1.05", **changes)
    assert found["word"] == "open"
    assert text in found["expectations"][0]["text"]


def test_a_server_that_always_fails_breaks_every_expectation():
    found = verdict("> 0.1", runs={**OK, "outcome": "failed", "reason": "it did not start"}, n_cells=0)
    assert found["word"] == "broken"
    assert "all its runs failed: it did not start" in found["expectations"][0]["text"]


def test_the_worst_state_is_the_word():
    limits = {"tps": "> 1.05", "p95_ms": "< 1"}
    found = verdict("", study={"expect": {"pgo": limits}})
    assert [each["state"] for each in found["expectations"]] == ["held", "open"]
    assert found["word"] == "open"


def test_a_study_without_expectations_has_answers_and_no_word():
    found = verdict("> 1", study={"expect": None})
    assert found["word"] is None
    assert found["answers"] == [{name: ROW[name] for name in found["answers"][0]}]


def test_every_quantity_can_be_expected():
    key = schema.resolved()["properties"]["expect"]
    assert set(key["additionalProperties"]["properties"]) == set(MEASURED)
