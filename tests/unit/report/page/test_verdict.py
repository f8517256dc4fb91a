"""The answer tells what a study shows beside its speedups: statement pairs, disk space, ladders and traffic."""

import pandas as pd

from scripts.lib.resolved_study import ResolvedStudy
from scripts.report.page.engine_section import TABLE_KINDS, Allocated, AllocatedPlace, allocated_sentences
from scripts.report.page.machine_section import CLIENT_COLUMNS, traffic_sentences
from scripts.report.page.pairs import PairedMeans
from scripts.report.page.statement_section import against_sentences
from tests.made.run import record_of

STUDY = {"variants": {"none": {}, "lz4": {}, "aa": {}}, "reference": "none", "workloads": {"oltp": {}}, "clients": [8]}


def beside(ratio, spread=1.0):
    pair = PairedMeans(16.0, ratio, ratio / spread, ratio * spread, 5)
    return {TABLE_KINDS: Allocated(8.0, 16.0, pair)}


def test_disk_space_of_each_other_variant_is_told_for_both_edges():
    alone = {TABLE_KINDS: Allocated(16.0, 16.0, None)}
    sizes = {
        ("none", "before"): alone,
        ("lz4", "before"): beside(0.55, 1.02),
        ("aa", "before"): beside(1.0),
        ("none", "after"): alone,
        ("lz4", "after"): beside(0.6),
        ("aa", "after"): beside(1.0),
    }
    (said,) = allocated_sentences(ResolvedStudy.of(STUDY), [AllocatedPlace("linkbench", 8, (TABLE_KINDS,), sizes)])
    assert said == (
        "linkbench, 8 clients: disk space of all tables of lz4 to that of none: "
        "0.55\u202f× (0.54–0.56), n 5 before the load and 0.60\u202f×, n 5 after the load."
    )


def test_traffic_of_each_cell_is_told_where_the_load_generator_has_a_host_of_its_own():
    amounts = dict(zip((name for name, _ in CLIENT_COLUMNS), (2e4, 3.7625e6, 2.1e4, 5.625e6, 2e4, 2.1e4), strict=True))
    place = {"variant": "none", "workload": "oltp", "clients": 8, "outcome": "ok"}
    runs = pd.DataFrame([{**place, **amounts}])
    remote = record_of({**place, "client_host": {"address": "10.0.0.2"}})
    assert list(traffic_sentences(ResolvedStudy.of(STUDY), runs, [remote])) == [
        "none, oltp, 8 clients: 20\u202f000 packets and 30.1 Mbit per second went to the server, "
        "21\u202f000 packets and 45.0 Mbit came from it."
    ]
    assert list(traffic_sentences(ResolvedStudy.of(STUDY), runs, [record_of(place)])) == []


def test_pairs_of_statements_are_told_with_their_intervals_and_what_was_not_measured_is_left_out():
    row = {
        "variant": "none",
        "statement": "a",
        "against": "b",
        "ratio": 2.0,
        "ratio_low": 1.9,
        "ratio_high": 2.1,
        "n_ok": 5,
    }
    rows = pd.DataFrame([row, {**row, "variant": "lz4", "ratio": float("nan")}])
    assert list(against_sentences(ResolvedStudy.of(STUDY), "oltp", rows)) == [
        "Time of a / b: none 2.00\u202f× (1.90–2.10, n 5)."
    ]
