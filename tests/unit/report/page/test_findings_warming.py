"""What the page reports of servers that still warm up, and of tables in the buffer pool."""

import math

import numpy as np
import pandas as pd
import pytest

from scripts.report.analysis.run_columns import RUNS
from scripts.report.page.findings import warm_finding
from tests.made.run import record_of

MIB = 2**20


def measured(rises, **columns):
    """Return runs in slices: a row of `rises` per block, an entry per server."""
    rows = [(f"oltp/8/{block}/x", rise) for block, row in enumerate(rises, 1) for rise in row]
    runs = pd.DataFrame(rows, columns=["block", "rise"])
    facts = {"workload": "oltp", "clients": 8, "outcome": "ok", "method": "slices", "fill_s": 0.2}
    return runs.assign(**{**facts, "pool_bytes": 512.0 * MIB, "table_bytes": 100.0 * MIB, **columns})


def test_throughput_that_rises_in_every_block_is_named_with_its_interval():
    found = warm_finding(measured([[0.05, 0.07], [0.06, 0.06], [0.05, 0.06]]), 0.02)
    assert (found.code, found.state) == ("warm", "look")
    [line] = found.details
    assert line.startswith("oltp, 8 clients: throughput still rose, second half over first 1.060 (1.0")
    assert "warmup_s" in found.remedy


@pytest.mark.parametrize(
    "rises",
    [
        [[0.30, 0.30], [-0.25, -0.25], [0.01, 0.01]],
        [[0.011, 0.011], [0.012, 0.012], [0.013, 0.013]],
        [[0.2, 0.2]],
        [[-0.06, -0.06], [-0.06, -0.05], [-0.07, -0.06]],
    ],
    ids=["a machine that changes", "a rise within what matters", "one block", "a fall"],
)
def test_other_changes_within_blocks_are_no_warm_up(rises):
    assert warm_finding(measured(rises), 0.02).state == "good"


def test_tables_read_into_the_pool_and_those_that_exceed_it_are_counted():
    known = measured([[0.0, 0.0], [0.001, 0.0]])
    assert "In 4 of 4 runs tables were read" in warm_finding(known, 0.02).text
    beyond = warm_finding(known.assign(fill_s=np.nan, pool_bytes=64.0 * MIB), 0.02)
    assert "In 0 of 4 runs" in beyond.text
    assert "in 4 the pool cannot hold them" in beyond.text
    assert "pool" not in warm_finding(known.assign(pool_bytes=np.nan), 0.02).text


def test_rise_of_servers_measured_by_turns_is_named_too():
    rises = [[0.05, 0.07], [0.06, 0.06], [0.05, 0.06]]
    assert warm_finding(measured(rises, method="turns"), 0.02).state == "look"


@pytest.mark.parametrize("columns", [{"outcome": "failed"}, {"rise": np.nan}])
def test_nothing_is_reported_where_no_load_was_measured(columns):
    assert warm_finding(measured([[0.1], [0.1]], **columns), 0.02) is None


def test_a_rise_is_that_of_the_second_half_of_the_slices_or_seconds():
    run = {"sliced": {"method": "slices"}, "series": {"tps": [10.0, 20.0, 100.0, 30.0, 30.0]}}
    assert RUNS["rise"].value(record_of(run)) == pytest.approx(math.log(2))
    assert RUNS["rise"].value(record_of({**run, "sliced": {"method": "turns"}})) == pytest.approx(math.log(2))
    assert RUNS["rise"].value(record_of({"sliced": {"method": "statements"}})) is None
    assert RUNS["rise"].value(record_of({**run, "series": {"tps": [0.0, 5.0]}})) is None
