"""The page's tables of operations: shares of calls, values of variants, ratios over the blocks whose pair counts."""

import math

import pandas as pd

from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.wording import NOTHING
from scripts.report.analysis import run_columns
from scripts.report.page import workloads_section
from scripts.report.page.figures import naming

STUDY = {"reference": "a", "variants": {"a": {}, "b": {}, "c": {}}, "clients": [4]}


def tables(statuses=("paired", "paired", "paired"), study=STUDY):
    rows, pairs = [], []
    for repetition, ratio in ((1, 2.0), (2, 2.0 * math.e**0.1), (3, 2.0 * math.e**-0.1)):
        key = {"workload": "graph", "clients": 4, "repetition": repetition, "block": f"graph/4/{repetition}"}
        for variant, factor in (("a", 1.0), ("b", ratio)):
            for name, calls, mean_ms in (("getnode", 75, 1.0), ("addnode", 25, 4.0)):
                latencies = dict.fromkeys(("mean_ms", "p50_ms", "p95_ms", "p99_ms", "max_ms"), mean_ms * factor)
                rows.append({"variant": variant, **key, "operation": name, "calls": calls, **latencies})
        pairs.append({"variant": "b", **key, "status": statuses[repetition - 1], "metric": "tps"})
    frame = pd.DataFrame(rows, columns=run_columns.OPERATIONS.names)
    return workloads_section.operation_tables(ResolvedStudy.of(study), frame, pd.DataFrame(pairs))


def test_operations_have_shares_values_and_ratios_with_their_interval():
    found = tables()["graph"]
    assert list(found) == ["mean latency, ms", "p95 latency, ms", "p99 latency, ms"]
    (name, share, a, b, c), (_, other, *_) = (row.cells for row in found["mean latency, ms"].rows)
    assert (name.text, share.text, other.text) == ("getnode", "75.0\u202f%", "25.0\u202f%")
    assert (a.text, a.notes, b.text) == ("1.00", ("n 3",), "1.00 → 2.00")
    assert b.notes == ("2.00\u202f× (1.56–2.56), n 3",)
    assert (c.text, c.state) == (NOTHING, "hole")


def mean_of_b(statuses):
    """The mean latency of the first operation in variant b."""
    return tables(statuses)["graph"]["mean latency, ms"].rows[0].cells[3]


def test_blocks_that_do_not_count_are_left_out_of_ratios():
    b = mean_of_b(("paired", "split", "split"))
    assert (b.text, b.notes) == ("1.00 → 2.00", ("2.00\u202f×, n 1",))
    assert mean_of_b(("split", "split", "split")).notes == ("no whole block",)


def test_several_client_counts_are_told_apart():
    assert next(iter(tables(study={**STUDY, "clients": [4, 8]})["graph"])) == "mean latency, ms, 4 clients"


def test_study_whose_loads_tell_no_operations_has_no_table():
    pairs = pd.DataFrame(columns=["variant", "workload", "clients", "repetition", "status", "metric"])
    assert (
        workloads_section.operation_tables(
            ResolvedStudy.of(STUDY), pd.DataFrame(columns=run_columns.OPERATIONS.names), pairs
        )
        == {}
    )


def of_workloads(amount):
    names = [f"w{number}" for number in range(amount)]
    return ResolvedStudy.of({"workloads": {name: {} for name in names}, "clients": [1, 8]})


def test_many_workloads_have_curves_of_the_first_metric_alone_and_the_page_says_so():
    few, many = of_workloads(15), of_workloads(16)
    assert sum(len(naming.value_metrics(few, name)) for name in few.workloads) == naming.MOST_CURVES
    assert {naming.value_metrics(many, name) for name in many.workloads} == {("tps",)}
    assert workloads_section.undrawn_note(few) == ""
    for heading in ("p95", "p99", "CPU"):
        assert heading in workloads_section.undrawn_note(many)
