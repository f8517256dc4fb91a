"""The first screen answers the question in words and numbers, and says what to doubt and where it was measured."""

import pandas as pd
import pytest

from scripts.lib.build_records import DatasetFacts
from scripts.lib.resolved_study import ResolvedStudy, read_study
from scripts.lib.vocabulary import AA, RELINKED
from scripts.lib.wording import by_width
from scripts.measure.engine.run_record import Run
from scripts.report.analysis.run_tables import read_csv
from scripts.report.page import first_screen
from scripts.report.page.results import results
from scripts.report.page.study_answer import StudyAnswer
from tests.made import synthetic
from tests.made.rendering import Elements, answer_of, rendered, worded

LADDER = {"baseline": 0.0, "lto": 0.0, "pgo": 1.0, "pgo_lto": 1.1, "aa": 0.0}


@pytest.fixture(scope="module")
def ladder(tmp_path_factory):
    plan = synthetic.Plan(workloads=("oltp", "index_update"), variants=LADDER, noise=0.005)
    return rendered(plan, tmp_path_factory.mktemp("ladder"))


def tables_of(tree):
    names = ("runs", "overall", "cells", "relinked", "factors", "effects")
    return {name: read_csv(tree.tables / f"{name}.csv") for name in names}


def answer_text(tree):
    study = read_study(tree.study)
    answers = [answer_of(tree, name) for name in study.variants if name not in (study.reference, AA)]
    return first_screen.answer_sentence(study, tables_of(tree), answers)


def test_ladder_is_answered_by_what_each_factor_brings_with_its_interval(ladder):
    tree, page, summary = ladder
    said = answer_text(tree)
    factors = read_csv(tree.tables / "factors.csv").query("metric == 'tps'").set_index("factor")
    pgo = factors.loc["PGO alone"]
    assert said.startswith("Faster: PGO alone ")
    text, bounds = by_width(pgo["ratio"], pgo["ratio_low"], pgo["ratio_high"])
    assert f"PGO alone {text}\u202f× the transactions per second ({bounds})" in said
    assert "PGO and LTO " in said
    assert "interaction" not in said
    assert "on top of" not in said, "each variant is named once, by its first factor"
    for text in (Elements(page).said(), summary.replace("\\", "")):
        assert said in text


def test_two_variants_are_answered_by_their_ratio(report):
    tree, page, summary = report
    assert answer_text(tree) == answer_of(tree).headline
    assert f'<p class="headline">{answer_of(tree).headline}</p>' in page
    assert summary.index(answer_of(tree).headline) < summary.index("| ratio to baseline |")


def test_a_study_of_the_reference_alone_has_an_answer():
    assert first_screen.answer_sentence(ResolvedStudy.of({}), {}, []) == first_screen.ONLY_REFERENCE


def overall_row(variant, ratio, verdict):
    bounds = {"ratio": ratio, "ratio_low": ratio * 0.98, "ratio_high": ratio * 1.02}
    return {"variant": variant, "metric": "tps", "n_cells": 1, "verdict": verdict, **bounds}


def test_results_are_grouped_by_word_better_first():
    rows = [overall_row("a", 0.9, "far_below"), overall_row("b", 1.2, "far_above"), overall_row("c", 1.01, "open"),
            overall_row("d", 1.0, "same"), overall_row("e", 1.1, "above")]  # fmt: skip
    study = {"reference": "r", "variants": {name: {} for name in "rabcde"}, "repetitions": 5}
    empty = pd.DataFrame({"metric": [], "workload": [], "n_factors": [], "interaction": [], "server": []})
    runs = pd.DataFrame(columns=["variant", "outcome", "failure", "cause"])
    tables = {"overall": pd.DataFrame(rows), "factors": empty, "effects": empty, "runs": runs}
    said = first_screen.answer_sentence(ResolvedStudy.of(study), tables, ["two", "answers"])
    words = [part.split(":")[0] for part in said.split(". ")]
    assert words == ["Faster", "Slower", "The same within 2\u202f%", "Open"]
    assert said.startswith("Faster: b 1.20\u202f× the transactions per second (1.18–1.22), e 1.10\u202f× (1.08–1.12).")


def test_doubts_name_the_repetitions_with_most_warnings():
    codes = ["others" if repetition in (5, 6) else "" for repetition in range(1, 8)]
    runs = pd.DataFrame({"repetition": range(1, 8), "warning_codes": codes})
    (said,) = first_screen._warned(runs)
    assert said == "2 of 7 runs have a warning, most of them in repetitions 5–6; none was dropped."
    runs["warning_codes"] = "others"
    assert list(first_screen._warned(runs)) == ["7 of 7 runs have a warning; none was dropped."]
    runs["warning_codes"] = None
    assert list(first_screen._warned(runs)) == []


def test_doubts_hold_what_the_study_could_find_and_that_layout_is_unknown(ladder):
    said = Elements(ladder[1]).said()
    assert "A study like this finds differences from " in said
    assert "the interval of one workload is about ±" in said
    assert "what code layout alone moves is not known" in said


def test_machine_is_named_in_one_line(report):
    (line,) = [text for text in Elements(report[1]).text if "virtual" in text and " · " in text]
    for part in ("EPYC", " CPUs", "of memory", "MariaDB", "4 tables of 100\u202f000 rows", "8 clients"):
        assert part in line


def test_cpu_whose_name_a_virtual_machine_hides_is_named_with_its_numbers():
    host = {"cpu_model": "AMD EPYC", "cpu_id": "family 26 model 2", "cpus": 2, "memory_mib": 24106}
    runs = [Run.of({"host": {**host, **lacking}}) for lacking in ({}, {"cpu_id": None}, {"cpu_model": None})]
    lines = [first_screen.machine_line(ResolvedStudy.of({"clients": [1]}), [run], [], []) for run in runs]
    names = ["AMD EPYC (family 26 model 2)", "AMD EPYC", "family 26 model 2"]
    assert [line.split(" · ")[0] for line in lines] == names


def test_tables_that_several_servers_hold_are_named_once_with_the_range_of_their_sizes():
    tables = {"dataset": "sbtest", "tables": 5, "rows": 40000}
    held = [{**tables, "bytes": mib * 2**20} for mib in (142.5, 103, 153.3)]
    other = {"dataset": "links", "tables": None, "rows": None, "bytes": 20 * 2**20}
    line = first_screen.machine_line(
        ResolvedStudy.of({"clients": [1]}), [], [], [DatasetFacts.of(facts) for facts in (*held, other)]
    )
    assert line.replace("\u202f", " ") == "5 tables of 40 000 rows, 103.0 MiB to 153.3 MiB · links, 20.0 MiB · 1 client"


def test_figure_is_there_for_wide_and_narrow_screens_with_every_arm_and_its_figures(ladder):
    tree, page, _ = ladder
    found = results(read_study(tree.study), tables_of(tree))
    assert [row.variant for row in found.rows] == ["lto", "pgo", "pgo_lto", AA]
    assert [metric.name for metric in found.metrics] == ["tps", "cpu_us_per_tx", "p95_ms"]
    for name in ("answer", "answer-narrow"):
        chart = (tree.figures / f"{name}.svg").read_text()
        assert chart in page
        for row in found.rows:
            assert f">{row.label}</text>" in chart
            for field in row.fields:
                assert f">{field.text}</text>" in chart
                assert f">{field.interval}</text>" in chart
        assert "slower ← baseline → faster" in chart


def test_established_figures_are_bold_and_those_of_controls_never(ladder):
    tree, _, _ = ladder
    found = {row.variant: row for row in results(read_study(tree.study), tables_of(tree)).rows}
    assert found["pgo"].fields[0].state == "good"
    assert {field.state for field in found[AA].fields} == {"quiet"}
    assert 'id="answer.good-' in (tree.figures / "answer.svg").read_text()


def test_relinks_have_the_last_row_with_what_they_move(tmp_path):
    variants = {"baseline": 0.0, "pgo": 1.0, "relinked": 0.0, "aa": 0.0}

    def moved(facts):
        if facts.get("variant") == RELINKED and facts.get("window"):
            facts["window"]["tps"] *= 1.1 if facts["repetition"] % 2 else 0.9
        return facts

    tree, _, _ = rendered(synthetic.Plan(workloads=("oltp", "index_update"), variants=variants), tmp_path, moved)
    last = results(read_study(tree.study), tables_of(tree)).rows[-1]
    row = read_csv(tree.tables / "relinked.csv").query("metric == 'tps' and workload.isna()").iloc[0]
    assert (last.variant, last.label) == (RELINKED, "baseline relinked")
    assert last.mean.ratio is None
    assert last.mean.high == pytest.approx(1 + row["moved"])
    assert last.fields[0].text.startswith("±")
    assert "baseline relinked" in (tree.figures / "answer.svg").read_text()


def test_summary_has_the_columns_of_the_figure_and_marks_what_is_established(ladder):
    tree, _, summary = ladder
    shown = StudyAnswer.read(tree.study.with_name("answer.json")).rows
    rows = {row.label: list(map(str, row.ratios)) for row in shown}
    assert "*" in rows["pgo"][0]
    assert "*" not in rows["baseline again (A/A)"][0]
    line = next(line for line in summary.splitlines() if line.startswith("| pgo |"))
    assert rows["pgo"][0].replace("*", "\\*") in line


def test_matrix_is_answered_by_its_levels(tmp_path):
    factors = {"hash": ["ahi_on", "ahi_off"], "dw": ["dw_on", "dw_off"]}
    gains = {"ahi_on.dw_on": 0.0, "ahi_on.dw_off": 1.0, "ahi_off.dw_on": 0.0, "ahi_off.dw_off": 1.0, AA: 0.0}
    arms = {name: dict(zip(factors, name.split("."), strict=True)) for name in gains if name != AA}

    def edit(record):
        return {**record, "matrix": {"factors": factors, "arms": arms}} if "order" in record else record

    tree, page, _ = worded(synthetic.Plan(variants=gains, workloads=("oltp",)), tmp_path, edit=edit)
    said = answer_text(tree)
    assert said.startswith("Faster: dw_off instead of dw_on 1.")
    assert "ahi_off instead of ahi_on " in said
    assert said in Elements(page).said()
