"""Effects of a full factorial: by hand, against ordinary least squares, and with what is missing."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from scripts.lib import json_record
from scripts.lib.resolved_study import ResolvedMatrix, ResolvedStudy, ResolvedVariant, ResolvedWorkload
from scripts.lib.vocabulary import AA, DIFFERENCES
from scripts.report.analysis import comparison, effects, metrics
from scripts.report.analysis import table_columns as tables
from scripts.report.analysis.pairing import SAME_HOST_COLUMNS
from scripts.report.page import effects_section as report_effects
from tests.made import synthetic
from tests.made.rendering import Elements, rendered

pytestmark = pytest.mark.slow

FACTORS = {"hash": ["ahi_on", "ahi_off"], "dw": ["dw_on", "dw_off"], "log": ["none", "sync0", "sync1"]}


def study(factors=None, reference=None, repetitions=6):
    factors = factors or FACTORS
    arms = {
        ".".join(levels): dict(zip(factors, levels, strict=True)) for levels in itertools.product(*factors.values())
    }
    return ResolvedStudy(
        matrix=ResolvedMatrix(factors, arms),
        reference=reference or next(iter(arms)),
        variants=dict.fromkeys([*arms, AA], ResolvedVariant()),
        repetitions=repetitions,
    )


def runs_of(study, log_tps, cells=(("w", 1),), outcome=lambda *place: "ok"):
    """Return runs.csv: `log_tps(variant, workload, clients, repetition)` gives the log of TPS; others are the same."""
    rows = [
        {"variant": variant, "workload": workload, "clients": clients, "repetition": repetition,
         "outcome": outcome(variant, repetition), **dict.fromkeys(SAME_HOST_COLUMNS, "the same"),
         "reason": None, "warning_codes": None,
         "started_at": 0, "ended_at": 1, "tps": np.exp(log_tps(variant, workload, clients, repetition))}
        for repetition in range(1, study.repetitions + 1)
        for workload, clients in cells
        for variant in study.variants
    ]  # fmt: skip
    frame = pd.DataFrame(rows)
    return frame.assign(**{name: frame["tps"] for name in metrics.METRICS if name != "tps"})


def matrix_table(study, runs):
    terms = comparison.Terms(study.reference, tuple(metrics.METRICS))
    arms = comparison.compare(runs, terms).arms
    return effects.matrix_table(study, arms, dict.fromkeys(metrics.METRICS, 1.0), terms)


def overall(study, runs):
    found = matrix_table(study, runs)
    return found[found["workload"].isna() & (found["metric"] == "tps")].set_index("formula")


def noise(seed=1, size=0.01):
    chance = np.random.default_rng(seed)
    return lambda *place: chance.normal(0, size)


def test_two_by_two_by_hand():
    made = study({name: FACTORS[name] for name in ("hash", "dw")})
    tps = {"ahi_on.dw_on": 100, "ahi_on.dw_off": 200, "ahi_off.dw_on": 50, "ahi_off.dw_off": 400, AA: 100}
    found = overall(made, runs_of(made, lambda variant, *_: np.log(tps[variant])))
    assert found["ratio"].to_dict() == pytest.approx(
        {
            "ahi_off / ahi_on": 1.0,  # the root of 50/100 · 400/200
            "dw_off / dw_on": 4.0,  # the root of 200/100 · 400/50
            "ahi_off.dw_off · ahi_on.dw_on / (ahi_off.dw_on · ahi_on.dw_off)": 4.0,  # 400/50 over 200/100
        }
    )


def test_effects_are_those_of_least_squares_with_interactions():
    made, draw = study(), noise(2, 0.3)
    runs = runs_of(made, draw)
    ours = runs[runs["variant"] != AA]
    levels = [[made.matrix.arms[variant][name] for name in FACTORS] for variant in ours["variant"]]
    # One column an effect: products of indicators, each less its share of the levels, which is what a mean takes off.
    columns, names = [np.ones(len(ours))], []
    for size in (1, 2, 3):
        for chosen in itertools.combinations(range(3), size):
            for picks in itertools.product(*(list(FACTORS.values())[place][1:] for place in chosen)):
                parts = [
                    [(row[place] == pick) - 1 / len(list(FACTORS.values())[place]) for row in levels]
                    for place, pick in zip(chosen, picks, strict=True)
                ]
                columns.append(np.prod(parts, axis=0))
                names.append(picks)
    # The reference is the mean of its two runs of a block.
    twice = (
        runs[runs["variant"].isin([made.reference, AA])]
        .groupby("repetition")["tps"]
        .agg(lambda tps: np.log(tps).mean())
    )
    logs = np.where(ours["variant"] == made.reference, ours["repetition"].map(twice), np.log(ours["tps"]))
    solved = np.linalg.lstsq(np.column_stack(columns), logs, rcond=None)[0][1:]
    found = overall(made, runs)
    assert len(found) == len(names) == 11
    assert found["log_ratio"].tolist() == pytest.approx(solved.tolist())


def test_base_of_every_factor_is_the_references_level():
    made = study(reference="ahi_off.dw_on.sync1")
    found = overall(made, runs_of(made, noise()))
    assert {"ahi_on / ahi_off", "dw_off / dw_on", "none / sync1", "sync0 / sync1"} < set(found.index)


def test_cells_follow_the_mean_over_them():
    made = replace(study({"dw": FACTORS["dw"]}), workloads=dict.fromkeys(("write", "read"), ResolvedWorkload()))
    cells = (("read", 1), ("write", 1), ("write", 8))
    gain = {("dw_off", "write"): np.log(2)}
    found = matrix_table(made, runs_of(made, lambda variant, workload, *_: gain.get((variant, workload), 0.0), cells))
    tps = found[found["metric"] == "tps"]
    assert tps["ratio"].tolist() == pytest.approx([4 ** (1 / 3), 1, 2, 2])
    assert list(zip(tps["workload"][1:], tps["clients"][1:], strict=True)) == list(cells)
    assert tps["verdict"].notna().tolist() == [True, False, False, False]
    table, *_ = report_effects.matrix_cells(made, found)
    _, *ratios = table.rows[0].cells
    assert [cell.text for cell in ratios] == ["2.00", "2.00", "1.000"]


def test_block_that_lost_a_variant_counts_for_the_effects_that_do_not_take_it():
    made = study({"log": FACTORS["log"]})
    runs = runs_of(
        made, noise(), outcome=lambda variant, repetition: "failed" if (variant, repetition) == ("sync1", 2) else "ok"
    )
    found = overall(made, runs)
    assert found["n_repetitions"].to_dict() == {"sync0 / none": 6, "sync1 / none": 5}


def test_words_need_blocks_and_an_adjusted_p():
    made, draw = study({name: FACTORS[name] for name in ("hash", "dw")}), noise(3)
    effect = {"dw_off": 0.2, "dw_on": 0.0}
    runs = runs_of(made, lambda variant, *place: effect.get(variant.rpartition(".")[2], 0.0) + draw())
    words = overall(made, runs)["verdict"].tolist()
    assert words[1] == "far_above"
    assert set(words[::2]) <= {"same", "open"}
    few = runs[runs["repetition"] <= 4]
    assert set(overall(made, few)["verdict"]) == {"too_few_blocks"}


def test_interaction_is_shown_when_two_options_do_more_together():
    made, draw = study({name: FACTORS[name] for name in ("hash", "dw")}), noise(4)
    found = overall(made, runs_of(made, lambda variant, *place: 0.3 * (variant == "ahi_off.dw_off") + draw()))
    assert found["verdict"].tolist()[2] in DIFFERENCES
    # Four runs wander more than the two of a pair.
    half = np.log(found["ratio_high"] / found["ratio"]).tolist()
    assert half[2] > 1.2 * half[0]


def test_sentences_say_what_each_level_does_and_what_two_do_together():
    made, draw = study({name: FACTORS[name] for name in ("hash", "dw")}), noise(6)
    runs = runs_of(made, lambda variant, *place: -0.2 * variant.endswith("dw_off") + draw())
    found = matrix_table(made, runs)
    first, second, third = report_effects.matrix_sentences(made, found)
    assert first.text.startswith("hash, ahi_off instead of ahi_on: ")
    assert "over 1 cell, 6 repetitions" in first.text
    assert ": more than 2\u202f% slower; p95 latency 0.821\u202f× (95\u202f% interval " in second.text
    assert second.bad
    assert third.text.startswith("interaction of ahi_off and dw_off in transactions per second: ")


def test_page_and_summary_show_the_matrix_and_the_small_scale(tmp_path):
    factors = {name: FACTORS[name] for name in ("hash", "dw")}
    gains = {"ahi_on.dw_on": 0.0, "ahi_on.dw_off": 1.0, "ahi_off.dw_on": 0.0, "ahi_off.dw_off": 1.0, AA: 0.0}

    def edit(record):
        if "order" not in record:
            return record
        return {
            **record,
            "matrix": json_record.dump(study(factors).matrix),
            "scaled": [["datasets.sbtest.rows", 10**7, 100]],
        }

    plan = synthetic.Plan(variants=gains, workloads=("oltp", "simple_select"))
    tree, page, summary = rendered(plan, tmp_path, edit=edit)
    said = Elements(page).said()
    for text in ("What each factor does", "hash, ahi_off instead of ahi_on: ", "Cell by cell", "hash × dw"):
        assert text in said
    for where in (said, summary):
        assert "datasets.sbtest.rows 10000000 → 100." in where
    assert "interaction of ahi\\_off and dw\\_off" in summary
    assert {"effects-tps.svg", "effects-p95_ms.svg"} <= {file.name for file in tree.figures.iterdir()}


def test_study_without_a_matrix_has_an_empty_table_and_section():
    found = matrix_table(ResolvedStudy(reference="ahi_on.dw_on.none"), runs_of(study(), noise()))
    assert list(found) == tables.EFFECTS.names
    assert not len(found)
    without = ResolvedStudy(reference="a")
    assert list(report_effects.matrix_sentences(without, found)) == []
    assert list(report_effects.matrix_cells(without, found)) == []
    assert report_effects.matrix_section(without, found, ()) is None
