"""What is said: the headline, the findings on trust, and how numbers are written."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from scripts.lib import wording
from scripts.lib.build_records import Audit, BuildFacts
from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.vocabulary import Verdict
from scripts.report.page import build_findings, measuring_section, verdict
from tests.made import synthetic
from tests.made.rendering import findings_of, worded


def row_of(verdict, low, high, ratio=1.01, repetitions=5, cells=1):
    values = {
        "ratio": ratio,
        "log_ratio": np.log(ratio),
        "p_holm": 0.06,
        "ratio_low": low,
        "ratio_high": high,
        "verdict": verdict,
        "n_cells": cells,
        "n_cells_planned": 1,
        "n_blocks_least": repetitions,
    }
    return next(pd.DataFrame([{**values, "n_repetitions": repetitions}]).itertuples())


@pytest.mark.parametrize(
    ("row", "repetitions", "said"),
    [
        (row_of(Verdict.FAR_BELOW, 0.8, 0.9, 0.85), 5, "pgo is more than 2 % slower than baseline: 0.85"),
        (row_of(Verdict.ABOVE, 1.01, 1.05, 1.03), 5, "pgo is faster than baseline: 1.03"),
        (row_of(Verdict.ABOVE, 1.005, 1.015), 5, "pgo is faster than baseline, by less than 2 %: 1.010"),
        (row_of(Verdict.SAME, 0.99, 1.015), 5, "pgo is as fast as baseline within 2 %: 1.010"),
        (row_of(Verdict.OPEN, 0.97, 1.12, 1.04), 5, "Open: pgo is between 3.0 % slower and 12 % faster: 1.04"),
        (row_of(Verdict.OPEN, 1.02, 1.4, 1.2), 5, "which among so many comparisons may be chance (p 0.06 by Holm)"),
        (row_of("too_few_blocks", 1.2, 1.6, 1.4, 3), 3, "Smoke test, no verdict under 5 repetitions: pgo gave 1.40"),
        (row_of("too_few_blocks", 1.2, 1.6, 1.4, 4), 7, "a cell has 4 whole blocks of 7 and 5 are needed"),
        (row_of("too_few_blocks", float("nan"), float("nan"), 1.4, 1), 1, "no interval: a cell has 1 block"),
    ],
)
def test_the_headline_says_no_more_than_the_data(row, repetitions, said):
    found = verdict.headline("pgo", ResolvedStudy.of({"reference": "baseline", "repetitions": repetitions}), row)
    assert said in found.replace("\u202f", " ")


def test_split_blocks_and_failures_are_told_and_not_called_good(report_with_holes):
    found = findings_of(report_with_holes[0])
    assert found["blocks"].state == "look"
    assert any("another boot" in line for line in found["blocks"].details)
    assert found["runs"].text == "24 of 30 planned runs gave a measurement; 6 failed."
    (line,) = found["runs"].details
    places = {"oltp, 64 clients, repetitions 1, 2, 3, 4 and 5", "oltp, 8 clients, repetition 2"}
    assert set(line.partition(":")[0].removeprefix("pgo, ").split("; ")) == places
    assert "2 boots" in found["one_machine"].text


def test_an_undisturbed_study_is_called_good(report):
    found = findings_of(report[0])
    for code in ("profile_used", "runs", "blocks", "order", "alone", "one_machine"):
        assert found[code].state == "good", code
    assert (
        "10 of 10 blocks ran in the order drawn from seed 7; each variant was first in 1 to 5 of them"
        in found["order"].text
    )
    assert "Both ran the same build-id" in found["aa"].text


def test_an_audit_under_its_threshold_or_absent_is_not_called_good():
    study = {"variants": {"pgo": {"server": "m", "build": "pgo"}}}
    audit = {"units_matched": 90, "units_nonzero": 100, "matched_share": 0.9, "threshold": 0.99}
    build = BuildFacts.of({"server": "m", "build": "pgo", "flags": {"profile": ["-fprofile-use"]}})
    of_build = Audit.of({"server": "m", "build": "pgo", **audit})
    found = [
        build_findings.audited(ResolvedStudy.of(study), build_findings.Built([build], audits, [], []))
        for audits in ([of_build], [])
    ]
    assert [finding.state for finding in found] == ["look", "look"]
    whole = build_findings.Built([build], [replace(of_build, matched_share=1.0)], [], [])
    assert build_findings.audited(ResolvedStudy.of(study), whole).state == "good"


def timed(*spans):
    rows = [
        {"variant": "pgo", "workload": "oltp", "clients": 8, "repetition": place, "run_number": place,
         "block": f"oltp/8/{place}", "machine_id": "m", "started_at": start, "ended_at": end}
        for place, (start, end) in enumerate(spans, start=1)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_own_share_is_the_time_between_runs_over_the_span():
    gaps_s, span_s, pauses = measuring_section.own_gaps(timed((0, 10), (11, 20), (22, 30)))
    assert (gaps_s, span_s, pauses) == (3, 30, [])


def test_a_night_between_runs_is_a_pause_and_no_cost_of_the_workflow():
    gaps_s, span_s, pauses = measuring_section.own_gaps(timed((0, 10), (11, 20), (5020, 5030)))
    assert (gaps_s, span_s, pauses) == (1, 30, [5000])


def test_a_gap_in_which_a_run_failed_is_not_counted():
    gaps_s, span_s, pauses = measuring_section.own_gaps(timed((0, 10), (None, None), (30, 40), (41, 50)))
    assert (gaps_s, span_s, pauses) == (1, 30, [20])


def test_overlapping_runs_are_found_on_one_host_only():
    runs = timed((0, 10), (9, 20))
    assert measuring_section.overlaps(runs).state == "look"
    assert measuring_section.overlaps(runs.assign(machine_id=["a", "b"])).state == "good"


def test_order_notices_a_block_that_ran_otherwise():
    runs = pd.concat([timed((0, 10)).assign(variant="pgo"), timed((11, 20)).assign(variant="baseline")])
    planned = {"seed": 1, "order": [["oltp", 8, 1, ["baseline", "pgo"]]]}
    assert measuring_section.run_order(ResolvedStudy.of(planned), runs).state == "look"
    planned["order"][0][3].reverse()
    assert measuring_section.run_order(ResolvedStudy.of(planned), runs).state == "good"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (wording.count(8891.4), "8\u202f891"),
        (wording.count(0.98312), "0.983"),
        (wording.count(0), "0"),
        (wording.count(float("nan")), "–"),
        (wording.ratio(1.0149), "1.015"),
        (wording.ratio(1.436), "1.44"),
        (wording.ratio(0.0336), "0.034"),
        (wording.ratio(0.00336), "0.0034"),
        (wording.interval(1.38, 1.49), "1.38–1.49"),
        (wording.interval(0.9712, 1.0611), "0.971–1.061"),
        (wording.interval(None, 1.2), "–"),
        (wording.percent(0.00001), "under 0.1\u202f%"),
        (wording.percent(0.0), "0.0\u202f%"),
        (wording.duration(0.35), "0.35 s"),
        (wording.duration(3725), "1 h 2 min"),
        (wording.duration(59.9), "60 s"),
        (wording.size(0), "0 bytes"),
        (wording.size(17_800_000), "17.0 MiB"),
        (wording.plural(1, "cell"), "1 cell"),
        (wording.brief("a\n  b\n\nc"), "a b c"),
        (wording.brief("a\nb\nc\nd\nthe cause"), "a b … the cause"),
        (wording.brief("a" * 99 + "z", longest=30), "a" * 20 + " … " + "a" * 9 + "z"),
        (wording.listing(["a", "b", "c"]), "a, b and c"),
    ],
)
def test_numbers_are_written(written, expected):
    assert written == expected


def test_runs_of_one_block_side_by_side_are_one_span():
    runs = timed((0, 10), (1, 11), (12, 20)).assign(block=["a", "a", "b"], method="slices")
    assert measuring_section.overlaps(runs).state == "good"
    assert measuring_section.own_gaps(runs) == (1, 20, [])
    assert measuring_section.overlaps(runs.assign(block=["a", "b", "c"])).state == "look"


def test_warnings_that_leave_too_few_pairs_give_no_second_answer(tmp_path):
    def disturbed(facts):
        if facts.get("variant") == "pgo" and facts.get("repetition", 0) > 1:
            facts["warnings"] = [{"code": "others", "text": "other programs"}]
        return facts

    tree, _, _ = worded(synthetic.Plan(workloads=("oltp",)), tmp_path, disturbed)
    (line,) = findings_of(tree)["warnings"].details
    assert line == (
        "pgo: 1 of 5 pairs have no run that stands out by a warning, too few for an answer without the others"
    )
