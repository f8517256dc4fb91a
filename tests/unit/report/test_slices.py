"""What the page reports of slices: reasons for turns, disturbed slices, ratios by position, work of stopped servers."""

import numpy as np
import pandas as pd
import pytest

from scripts.analysis.run_tables import RUNS
from scripts.report import measuring, slices
from tests.made.run import record_of

VARIANTS = ("baseline", "aa", "pgo")


def sliced(**columns):
    """Return three blocks of runs in 50 slices each."""
    rows = [(name, f"oltp/8/{block}/x") for block in (1, 2, 3) for name in VARIANTS]
    runs = pd.DataFrame(rows, columns=["variant", "block"])
    facts = {"workload": "oltp", "clients": 8, "outcome": "ok", "method": "slices", "why": None, "rounds": 50}
    facts |= {"slice_s": 0.1, "tps": 100.0, "tps_trimmed": 100.1, "tps_log_sd": 0.01, "waiting_cpu_s": 0.0}
    return runs.assign(**{**facts, "early_transactions": 1000, "late_transactions": 1000, **columns})


def test_a_waiting_server_that_works_is_named_with_its_seconds():
    assert slices.waiting_finding(sliced(waiting_cpu_s=[0.004] * 9)).state == "good"
    found = slices.waiting_finding(sliced(waiting_cpu_s=[0, 0, 0.3, 0, 0, 0.2, 0, 0, 0]))
    assert (found.code, found.state) == ("waiting", "look")
    assert found.details == ("pgo, oltp, 8 clients: 0.5 s in 2 runs",)


def test_studies_by_turns_have_no_servers_that_wait():
    assert slices.waiting_finding(sliced(method="turns")) is None
    assert slices.waiting_finding(sliced().drop(columns="method")) is None
    assert slices.waiting_finding(sliced(waiting_cpu_s=np.nan)) is None


def test_the_reason_for_turns_is_named():
    runs = sliced(method="turns", why="together: 1")
    assert measuring.method_text(runs) == "In each block the variants were measured one after the other (together: 1)."
    assert "one after the other." in measuring.method_text(sliced(method="turns"))


def test_ratio_in_each_half_of_the_slices_is_that_to_both_references():
    late = [1000, 1210, 1320, 1000, 1210, 1320, 1000, 1210, 1331]
    (line,) = slices.position_lines(sliced(late_transactions=late), "baseline")
    assert line.startswith("pgo: 1.000 of the reference's transactions in the first half of the slices, 1.20 in the")
    assert slices.position_lines(sliced(late_transactions=np.nan, early_transactions=np.nan), "baseline") == ()


def test_total_and_trimmed_mean_are_compared_by_the_standard_error():
    assert slices.disturbed_lines(sliced()) == ()
    (line,) = slices.disturbed_lines(sliced(tps_trimmed=[100] * 8 + [102]))
    assert line.startswith("In 1 of 9 runs the total and the mean over slices")


def test_transactions_of_both_halves_come_from_the_positions():
    run = record_of({"sliced": {"method": "slices", "positions": [1] * 8 + [2] * 7 + [5]}})
    assert [RUNS[f"{half}_transactions"].value(run) for half in ("early", "late")] == [8, 19]
    assert RUNS["early_transactions"].value(record_of({})) is None


@pytest.mark.parametrize("columns", [{"outcome": "failed"}, {"method": "turns"}])
def test_nothing_is_reported_of_slices_where_there_are_none(columns):
    assert slices.disturbed_lines(sliced(**columns)) == slices.position_lines(sliced(**columns), "baseline") == ()


def test_timed_sql_side_by_side_is_named_and_its_waiting_servers_are_watched():
    runs = sliced(method="statements")
    assert measuring.method_text(runs).endswith("measured side by side, each statement sent to one after the other.")
    assert slices.waiting_finding(runs) is not None
    assert slices.position_lines(runs, "baseline") == ()
