"""Why and at what cost, on the page: what bound cells, work per transaction, remedies, seconds and bytes."""

import math
import random
import re
from dataclasses import replace

import pandas as pd
import pytest

from scripts.lib.build_records import BuildFacts, TrainedProfile, TrainingRun
from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.wording import by_width
from scripts.measure.engine.run_record import Run
from scripts.measure.engine.warnings import THRESHOLDS
from scripts.report.analysis.bounds import PaceSetter
from scripts.report.analysis.comparison import compare, terms_of
from scripts.report.analysis.pairing import SAME_HOST_COLUMNS
from scripts.report.page import bounds_section, builds_section, efforts_section
from scripts.report.page import runs_section as report_runs
from scripts.report.page.finding import Topic
from scripts.report.page.value_tables import measured_metrics
from tests.made import records, synthetic
from tests.made.rendering import Elements, findings_of, rendered

STUDY = {
    "reference": "baseline", "clients": [1, 8], "workloads": {"oltp": {}},
    "variants": {name: {"server": "mariadb-10.11", "build": name} for name in ("baseline", "pgo")},
}  # fmt: skip


def bound_row(variant, clients, server, client, bound):
    return {"variant": variant, "workload": "oltp", "clients": clients, "server_busy": server, "client_busy": client,
            "bound": bound, "iowait_share": 0.0, "n_server_cpus": 1, "virtualisation": "kvm"}  # fmt: skip


BOUNDS = pd.DataFrame(
    [
        bound_row("baseline", 1, 0.5, 0.3, PaceSetter.WAITING),
        bound_row("pgo", 1, 0.4, 0.3, PaceSetter.WAITING),
        bound_row("baseline", 8, 0.99, 0.3, PaceSetter.SERVER_CPU),
        bound_row("pgo", 8, 0.9, 0.98, PaceSetter.LOAD_GENERATOR),
    ]
)


def test_each_cell_says_what_bound_it_and_a_full_load_generator_is_marked():
    one, eight = (row.cells[2:] for row in bounds_section.bound_table(ResolvedStudy.of(STUDY), BOUNDS).rows)
    assert [cell.text for cell in one] == ["waiting", "waiting"]
    assert [cell.text for cell in eight] == ["server CPU", "load generator"]
    assert [cell.state for cell in eight] == ["", "bad"]
    assert "gains of the server are understated" in eight[1].hint


def test_one_client_on_a_virtual_machine_is_said_to_measure_wake_ups_with_the_cells_it_holds_for():
    said = dict(bounds_section.reasons(BOUNDS))
    text = next(sentence for sentence in said if "time to wake idle CPUs" in sentence)
    assert "virtual machine (kvm)" in text
    assert said[text] == "2 of 4 cells (oltp at 1)"


def test_without_cpu_time_nothing_is_said_of_what_bound_cells():
    unknown = BOUNDS.assign(bound=None)
    assert bounds_section.bound_blocks(ResolvedStudy.of(STUDY), unknown) == []
    assert bounds_section.reasons(unknown) == []


def edges(before, after):
    return {"before": before, "after": after}


def whole(values, repetitions=5, **more):
    """Return runs.csv and records of one cell: `values` gives (context switches, fsyncs) per variant and repetition."""
    rows, found = [], []
    host = dict.fromkeys(SAME_HOST_COLUMNS, "one")
    for repetition in range(1, repetitions + 1):
        for variant in ("baseline", "aa", "pgo"):
            switches, fsyncs = values(variant, repetition)
            place = {"variant": variant, "workload": "oltp", "clients": 8, "repetition": repetition}
            counters = {"commits": edges(10, 210), "data_fsyncs": edges(5, 5 + fsyncs), "dirty_pages": edges(1, 999)}
            rows.append({**place, **host, "outcome": "ok", "reason": None, "transactions": 100, "warning_codes": "",
                         "context_switches": switches, "read_bytes": 0, "write_bytes": None, **more})  # fmt: skip
            found.append(Run.of({**place, "outcome": "ok", "counters": counters}))
    return pd.DataFrame(rows), found


THREE = {**STUDY, "variants": dict.fromkeys(("baseline", "aa", "pgo"), STUDY["variants"]["baseline"])}


def test_work_is_divided_by_transactions_of_the_window_and_commits_of_the_call():
    runs, found = whole(lambda variant, _: (300, 50))
    lost = replace(found[-1], repetition=9, outcome="failed", counters=found[0].counters)
    (effort,) = efforts_section.efforts(ResolvedStudy.of(THREE), runs, [*found, lost])
    assert [head.text for head in effort.table.heads[2:]] == ["context switches", "data fsyncs"]
    assert [[cell.text for cell in row.cells] for row in effort.table.rows] == [
        ["baseline", "8", "3.00", "0.250"],
        ["aa", "8", "3.00 → 3.00", "0.250 → 0.250"],
        ["pgo", "8", "3.00 → 3.00", "0.250 → 0.250"],
    ]
    assert effort.none == ("bytes read",)


def test_what_a_transaction_cost_is_compared_block_by_block_with_the_interval_of_other_quantities():
    chance = random.Random(3)
    noise = {repetition: chance.uniform(0.5, 2) for repetition in range(1, 6)}
    gain = {"baseline": 1.0, "aa": 1.0, "pgo": 0.8}

    def values(variant, repetition):
        return (1000 * noise[repetition] * gain[variant] * math.exp(chance.gauss(0, 0.01)), 50)

    runs, found = whole(values)
    (effort,) = efforts_section.efforts(ResolvedStudy.of(THREE), runs, found)
    reference, _, pgo = (row.cells[2] for row in effort.table.rows)
    assert reference.notes == ()
    value, low, high = map(float, re.findall(r"[0-9.]+", pgo.notes[0]))
    assert value == pytest.approx(0.8, abs=0.02)
    assert 0.75 < low < 0.8 < high < 0.85
    same = compare(
        runs.assign(tps=runs["context_switches"] / 100, started_at=0.0, ended_at=1.0),
        terms_of(ResolvedStudy.of(THREE), ["tps"]),
    ).cells
    row = same[same["variant"] == "pgo"].iloc[0]
    assert pgo.notes == ("× {} ({})".format(*by_width(row["ratio"], row["ratio_low"], row["ratio_high"])),)


def test_a_quantity_of_zero_has_no_ratio_and_one_block_no_interval():
    runs, found = whole(lambda variant, _: (0 if variant == "pgo" else 300, 50), repetitions=1)
    (effort,) = efforts_section.efforts(ResolvedStudy.of(THREE), runs, found)
    assert [cell.notes for cell in effort.table.rows[2].cells[2:]] == [(), ("× 1.000",)]


def test_counters_without_commits_are_left_out():
    runs, found = whole(lambda *_: (None, 50))
    without = [replace(run, counters={"x": run.counters["data_fsyncs"]}) for run in found]
    assert efforts_section.efforts(ResolvedStudy.of(THREE), runs.assign(read_bytes=None), without) == []


def test_costs_add_up_and_what_is_unknown_is_no_zero():
    facts = [
        {"build": "pgo", "server": "s", "stage": "optimised", "wall_s": 100, "cpu_s": 180, "install_bytes": 2**20},
        {"build": "own", "server": "s", "stage": "prebuilt", "wall_s": None, "cpu_s": None, "install_bytes": 2**20},
        {"build": "bad", "server": "s", "outcome": "failed", "reason": "x"},
    ]
    trained = TrainedProfile(training="mixed", server="s", wall_s=20)
    rows = builds_section.cost_rows(list(map(BuildFacts.of, facts)), [trained], [])
    assert [row[0] for row in rows] == ["build pgo of s", "build own of s", "training mixed of s", "all of these"]
    assert rows[1][2:4] == ("–", "–")
    assert rows[-1] == ("all of these", "", "2 min", "3 min", "", "", "", "2.0 MiB")
    assert builds_section.cost_rows([], [], []) == []


def cell(clients, value):
    return {"variant": "baseline", "workload": "oltp", "metric": "tps", "clients": clients, "value": value}


@pytest.mark.parametrize(
    ("clients", "workload", "said"),
    [
        (8, "oltp", "25\u202f% in oltp at 8 clients"),
        (4, "oltp", "trained with 4 clients, the runs were measured with 1 and 8"),
        (8, "other", "on workloads that are not measured"),
    ],
)
def test_the_instrumented_server_is_set_beside_the_reference_at_the_same_clients_only(clients, workload, said):
    run = {"workload": workload, "clients": clients, "seconds": 20, "tps": 250.0}
    profile = {"training": "mixed", "server": "mariadb-10.11", "trained": "instrumented", "runs": [run]}
    (sentence,) = builds_section.instrumentation_sentences(
        ResolvedStudy.of(STUDY), pd.DataFrame([cell(8, 1000.0), cell(1, float("nan"))]), [TrainedProfile.of(profile)]
    )
    assert said in sentence


def test_a_server_other_than_the_references_is_not_set_beside_it():
    runs = [TrainingRun(workload="oltp", clients=8, tps=1.0)]
    profile = TrainedProfile(training="mixed", server="other", runs=runs)
    assert (
        builds_section.instrumentation_sentences(ResolvedStudy.of(STUDY), pd.DataFrame([cell(8, 1000.0)]), [profile])
        == []
    )


def test_what_the_sizes_of_a_bolted_build_hide_is_told_where_there_is_one():
    plain = BuildFacts(build="pgo", stage="optimised")
    assert builds_section.layout_sentences([plain]) == []
    (sentence,) = builds_section.layout_sentences([plain, BuildFacts(build="pgo_bolt", stage="bolted")])
    assert sentence.startswith("In pgo_bolt, .text is")
    assert ".bolt.org.text" in sentence


def test_only_findings_to_be_read_first_get_a_remedy(report_with_holes):
    findings = findings_of(report_with_holes[0]).values()
    looked = [finding for finding in findings if finding.state == "look"]
    assert {"runs", "blocks"} <= {finding.code for finding in looked}
    assert all(finding.remedy for finding in looked)
    assert not any(finding.remedy for finding in findings if finding.state != "look")
    assert Topic("of_a_new_kind", "Of a new kind").look("").remedy == ""


def test_every_limit_stands_on_the_page_with_what_helps(report):
    said = Elements(report[1]).said()
    for code, limit in THRESHOLDS.items():
        assert code in said
        assert limit.remedy
        assert limit.remedy in said


def test_limits_count_the_runs_beyond_them():
    steal = Run.of({"warnings": [{"code": "steal", "text": "the hypervisor took 9 %"}]})
    new = Run.of({"warnings": [{"code": "not_measured", "text": "not measured: io"}]})
    rows = report_runs.warning_rows([steal, steal, new, Run.of({"warnings": None})])
    assert rows[0][:3] == ("steal", "the hypervisor took 9 %", "above 2\u202f%")
    assert [(row[0], row[-1]) for row in rows[:3]] == [("steal", "2"), ("not_measured", "1"), ("others", "0")]
    limits = {row[0]: row[2] for row in rows}
    assert (limits["swap"], limits["clock"]) == ("above 0\u202fMiB", "above 0.5\u202fs")
    assert limits["reconnects"] == "above 0"
    assert (limits["governor"], limits["not_measured"]) == ("not performance", "–")


def test_sections_stand_in_the_order_of_the_questions(report):
    ids = [attributes["id"] for tag, attributes in Elements(report[1]).found if tag in ("header", "section")
           and "id" in attributes]  # fmt: skip
    expected = ["answer", "where", "time", "why", "trust"]
    folded = ["overall", "workload-1", "workload-2", "cost", "runs", "builds", "machine", "commands", "method"]
    assert ids == expected + folded


def test_a_metric_without_any_value_has_no_column_figure_or_sentence(tmp_path):
    def without_cpu(facts):
        if "cpu" in facts and "window" in facts:
            facts["cpu"] = None
        return facts

    _, page, summary = rendered(synthetic.Plan(workloads=("oltp",)), tmp_path, without_cpu)
    for text in (Elements(page).said().split("Quantities")[0], summary):
        answered = text.split("The same build against itself")[0]
        assert "CPU per transaction" not in answered
        assert "of it user" not in text
        assert "host CPU without client" not in text
    assert 'aria-label="cpu' not in page
    assert "What set the pace of each cell" not in page


def test_all_metrics_are_shown_as_holes_when_nothing_was_measured():
    cells = pd.DataFrame({"metric": ["tps", "p95_ms"], "value": [None, None]})
    assert measured_metrics(cells) == {"tps", "p95_ms"}
    assert measured_metrics(cells.assign(value=[1.0, None])) == {"tps"}


def test_builds_of_the_made_up_study_have_costs():
    facts = list(map(BuildFacts.of, records.of_builds(("baseline", "pgo"))["facts"]))
    assert len(builds_section.cost_rows(facts, [], [])) == len(facts) + 1
