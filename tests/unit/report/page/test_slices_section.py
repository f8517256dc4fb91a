"""What the page reports of slices: reasons for turns, disturbed slices, ratios by position, work of stopped servers."""

import numpy as np
import pandas as pd
import pytest

from scripts.lib.resolved_study import ResolvedStudy
from scripts.measure.engine import disk_load
from scripts.report.analysis.run_columns import RUNS
from scripts.report.page import measuring_section, slices_section
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
    assert slices_section.waiting_finding(sliced(waiting_cpu_s=[0.004] * 9)).state == "good"
    found = slices_section.waiting_finding(sliced(waiting_cpu_s=[0, 0, 0.3, 0, 0, 0.2, 0, 0, 0]))
    assert (found.code, found.state) == ("waiting", "look")
    assert found.details == ("pgo, oltp, 8 clients: 0.5 s in 2 runs",)


def test_studies_by_turns_have_no_servers_that_wait():
    assert slices_section.waiting_finding(sliced(method="turns")) is None
    assert slices_section.waiting_finding(sliced().drop(columns="method")) is None
    assert slices_section.waiting_finding(sliced(waiting_cpu_s=np.nan)) is None


def test_the_reason_for_turns_is_named():
    runs = sliced(method="turns", why="together: 1")
    assert (
        measuring_section.method_text(runs)
        == "In each block the variants were measured one after the other (together: 1)."
    )
    assert "one after the other." in measuring_section.method_text(sliced(method="turns"))
    codes = ["fsyncs", "synced_commits"] * 4
    reasons = [disk_load.bound({name: 1e9}).text for name in codes]
    mixed = sliced(method="turns", why=[*reasons, "together: 1"], turned_by=[*codes, None])
    assert measuring_section.method_text(mixed).endswith(
        "(together: 1; bound by a disk: over 100 fsyncs per second or over 100 commits synced to the binary log per "
        "second)."
    )


def asking(fsyncs, **columns):
    rates = {
        "disk_fsyncs_per_s": fsyncs,
        "disk_synced_commits_per_s": 0.0,
        "disk_pool_misses_per_s": 2.0,
        "disk_written_bytes_per_s": np.nan,
    }
    return sliced(**rates, **{"turned_by": None, **columns})


def test_load_bound_by_a_disk_is_named_with_what_the_reference_asked_and_how_many_blocks_went_by_turns():
    assert slices_section.disk_lines(asking(99.0)) == slices_section.disk_lines(sliced()) == ()
    counts = {"fsyncs": [90.0] * 3 + [410.0] * 6, "turned_by": [None] * 3 + ["fsyncs"] * 6}
    (line,) = slices_section.disk_lines(asking(**counts))
    assert line == (
        "oltp, 8 clients, bound by a disk: 2 of 3 blocks by turns; the reference while it warmed up, per second: "
        "90 to 410 fsyncs (limit 100), 0 commits synced to the binary log (limit 100), 2 pool misses (limit 100)"
    )
    assert ": 3 blocks in slices, since the study sets `together`;" in slices_section.disk_lines(asking(410.0))[0]
    assert (
        measuring_section.method_finding(ResolvedStudy.of({"reference": "baseline"}), asking(410.0))
        .details[0]
        .startswith("oltp, 8 clients, bound by")
    )


def test_rates_of_the_reference_come_from_the_record():
    about = {"method": "turns", "turned_by": "fsyncs", "disk_per_s": {"fsyncs": 410.0, "written_bytes": 5.0}}
    run = record_of({"variant": "pgo", "workload": "oltp", "clients": 8, "sliced": about})
    found = {name: RUNS[name].value(run) for name in ("turned_by", "disk_fsyncs_per_s", "disk_pool_misses_per_s")}
    assert found == {"turned_by": "fsyncs", "disk_fsyncs_per_s": 410.0, "disk_pool_misses_per_s": None}


def test_ratio_in_each_half_of_the_slices_is_that_to_both_references():
    late = [1000, 1210, 1320, 1000, 1210, 1320, 1000, 1210, 1331]
    (line,) = slices_section.position_lines(sliced(late_transactions=late), "baseline")
    assert line.startswith("pgo: 1.000 of the reference's transactions in the first half of the slices, 1.20 in the")
    assert slices_section.position_lines(sliced(late_transactions=np.nan, early_transactions=np.nan), "baseline") == ()


def test_total_and_trimmed_mean_are_compared_by_the_standard_error():
    assert slices_section.disturbed_lines(sliced()) == ()
    (line,) = slices_section.disturbed_lines(sliced(tps_trimmed=[100] * 8 + [102]))
    assert line.startswith("In 1 of 9 runs the total and the mean over slices")


def test_transactions_of_both_halves_come_from_the_positions():
    run = record_of({"sliced": {"method": "slices", "positions": [1] * 8 + [2] * 7 + [5]}})
    assert [RUNS[f"{half}_transactions"].value(run) for half in ("early", "late")] == [8, 19]
    assert RUNS["early_transactions"].value(record_of({})) is None


@pytest.mark.parametrize("columns", [{"outcome": "failed"}, {"method": "turns"}])
def test_nothing_is_reported_of_slices_where_there_are_none(columns):
    assert (
        slices_section.disturbed_lines(sliced(**columns))
        == slices_section.position_lines(sliced(**columns), "baseline")
        == ()
    )


def test_timed_sql_side_by_side_is_named_and_its_waiting_servers_are_watched():
    runs = sliced(method="statements")
    assert measuring_section.method_text(runs).endswith(
        "measured side by side, each statement sent to one after the other."
    )
    assert slices_section.waiting_finding(runs) is not None
    assert slices_section.position_lines(runs, "baseline") == ()
