"""Every published figure is printed, with ours where the study measured the same quantity."""

import pandas as pd
import pytest

from scripts.lib.resolved_study import ResolvedStudy
from scripts.measure.engine.run_parts import Edges, TimedSql
from scripts.measure.engine.run_record import Diagnosis, Run
from scripts.report.page import published_figures
from scripts.report.page.published_figures import MeasuredFigures

MIB = 2**20
KEY = {"workload": "load", "clients": 4}
COUNTERS = {"change_buffer_merges": Edges(5, 12), "change_buffer_merged_delete_marks": Edges(0, 4)}
SHOWN = [
    {"pass": number, "name": "hits", "columns": ["Variable_name", "Value"], "rows": [["h", str(2 * number)]]}
    for number in (1, 2)
]


def run(variant, **facts):
    return Run(variant=variant, workload="load", clients=4, repetition=1, outcome="ok", **facts)


@pytest.fixture
def measured():
    runs = pd.DataFrame(
        [
            {**KEY, "variant": variant, "outcome": outcome, "tps": tps, "latency_mean_ms": 3.0}
            for variant, outcome, tps in (
                ("a", "ok", 100.0),
                ("a", "ok", 300.0),
                ("a", "failed", 9e9),
                ("b", "ok", 50.0),
            )
        ]
    )
    statements = pd.DataFrame(
        [{**KEY, "variant": "a", "statement": "count", "cache": "cold", "value_s": 0.25, "n_rows": 7}]
    )
    files = pd.DataFrame(
        [
            {**KEY, "variant": "a", "repetition": repetition, "part": part, "kind": kind,
             "before_allocated_bytes": MIB, "after_apparent_bytes": (2 + repetition) * MIB}
            for repetition in (1, 2)
            for part, kind in (
                *(("linkdb.nodetable", "table"), ("linkdb.linktable#p3", "table")),
                *(("system", "system"), ("catalog", "catalog")),
            )
        ]
    )  # fmt: skip
    records = [
        run("a", counters=COUNTERS, timed_sql=TimedSql(shown=SHOWN)),
        Run(variant="b", workload="load", clients=4, repetition=1, outcome="failed"),
    ]
    calls = {"calls": [{"name": "futex", "calls": 31, "errors": 2, "system_s": 0.5}]}
    looked = Diagnosis(
        variant="a", workload="load", clients=4, repetition=1, outcome="ok", tool="syscalls", diagnosis=calls
    )
    return MeasuredFigures(runs, statements, files, records, [looked])


def row(measured, metric, unit="", variant="a", clients=4, value=8):
    published = {"metric": metric, "variant": variant, "workload": "load", "clients": clients, "value": value}
    study = {"variants": {"a": {}, "b": {}, "aa": {}}, "published": {"rows": [{**published, "unit": unit}]}}
    (found,) = published_figures.figure_rows(ResolvedStudy.of(study), measured)
    assert found[:4] == (metric, variant, "load", str(clients))
    return found[4:]


@pytest.mark.parametrize(
    ("metric", "unit", "ours"),
    [
        ("tps", "1/s", "200 1/s"),
        ("latency avg", "ms", "3.00 ms"),
        ("cold_s/count", "s", "0.250 s"),
        ("warm_s/count", "s", "–"),
        ("rows/count", "rows", "7.00 rows"),
        ("shown/hits/value", "hits", "4.00 hits"),
        ("shown/hits/other", "hits", "–"),
        ("before_allocated_bytes", "", "4.0 MiB"),
        ("allocated to linkdb/linktable#P#p3 before", "MiB", "1.00 MiB"),
        ("allocated to linkdb/linktable#P#p4 before", "MiB", "–"),
        ("allocated to linkdb/nodetable before", "MiB", "1.00 MiB"),
        ("file size of linkdb/nodetable after", "MiB", "3.50 MiB"),
        ("size of ibdata1 after the ladder", "MB", "3.67 MB"),
        ("change buffer merges", "merges", "7.00 merges"),
        ("calls of futex", "calls", "31.0 calls"),
        ("time in futex", "s", "0.500 s"),
        ("calls of select", "calls", "0 calls"),
        ("errors of all", "calls", "2.00 calls"),
        ("change buffer merged delete_marks", "delete marks", "4.00 delete marks"),
        ("phases of the moon", "", "–"),
    ],
)
def test_quantity_that_was_measured_too_stands_beside_the_published_one(measured, metric, unit, ours):
    assert row(measured, metric, unit)[1] == ours


def test_variant_that_the_study_lacks_stands_beside_each_of_ours_but_controls(measured):
    assert row(measured, "tps", "1/s", variant="5.7.17") == ("8 1/s", "a 200 1/s; b 50.0 1/s")


def test_other_client_count_has_no_figure_of_ours(measured):
    assert row(measured, "tps", clients=64)[1] == "–"


def test_published_zero_is_a_figure(measured):
    assert row(measured, "shown/rebuilt/data_free", "B", value=0)[0] == "0 B"
