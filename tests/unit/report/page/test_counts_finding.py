"""A cell whose runs were counted in two ways is named; records say whose counts they have, older ones by method."""

import pandas as pd
import pytest

from scripts.lib.vocabulary import CountedBy
from scripts.measure.engine.run_record import Run
from scripts.report.page.findings import counts_finding

CELL = {"variant": "pgo", "workload": "oltp", "clients": 8}


def runs(*counted):
    return pd.DataFrame([{**CELL, "repetition": place, "counted_by": whose} for place, whose in enumerate(counted)])


def test_a_cell_with_both_is_named():
    finding = counts_finding(runs("sysbench", "gate", "gate", None))
    assert finding.text == "In 1 cell the transactions of runs were counted in two ways."
    assert finding.details == ("pgo, oltp, 8 clients: 2 runs counted by gate and 1 run counted by sysbench",)
    assert "counts.csv" in finding.remedy


def test_cells_of_one_kind_are_no_finding():
    assert counts_finding(runs("gate", "gate", None)) is None
    assert counts_finding(runs("sysbench")) is None
    assert counts_finding(pd.DataFrame([CELL])) is None


RECORDS = [
    ({"sliced": {"method": "turns"}, "window": {"tps": 9.0}}, CountedBy.SYSBENCH),
    ({"window": {"tps": 9.0}}, CountedBy.SYSBENCH),
    ({"sliced": {"method": "slices"}, "window": {"tps": 9.0}}, CountedBy.GATE),
    ({"sliced": {"method": "turns"}, "window": {"tps": 9.0}, "counted_by": "gate"}, CountedBy.GATE),
    ({"outcome": "failed", "sliced": {"method": "turns"}}, None),
]


@pytest.mark.parametrize(("facts", "whose"), RECORDS)
def test_older_records_have_the_counts_of_their_method(facts, whose):
    assert Run.of(facts).counts_of == whose
