"""How throughput holds as clients grow: shares of the best client count, ours beside published ones."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from scripts.lib import json_record
from scripts.lib.resolved_study import ResolvedStudy
from scripts.report.analysis import ladder, published
from scripts.report.analysis.run_tables import read_csv
from tests.made import synthetic
from tests.made.rendering import Elements, worded

FILE = Path(__file__).parents[4] / "studies" / "published" / "point-select-ladder.csv"
TOLD = json_record.dump(published.read(FILE))


def logs(**counts):
    """A frame of log TPS by client count: a row each, a column a repetition."""
    wide = pd.DataFrame({int(name[1:]): values for name, values in counts.items()}).T
    return np.log(wide)


def test_shares_are_paired_by_repetition():
    first, best, last = ladder.shares(logs(c8=[50, 100, 200], c64=[100, 200, 400], c512=[80, 160, 320]))
    assert [rung[:2] for rung in (first, best, last)] == [(8, 64), (64, 64), (512, 64)]
    assert [rung[2] for rung in (first, best, last)] == pytest.approx([0.5, 1, 0.8])
    assert last[3:] == (pytest.approx(0.8), pytest.approx(0.8), 3)
    assert math.isnan(best[3])


def test_one_repetition_has_no_interval_and_a_hole_is_no_zero():
    alone = list(ladder.shares(logs(c8=[100], c64=[50])))
    assert math.isnan(alone[1][3])
    (*_, (_, _, share, _, _, repetitions)) = ladder.shares(logs(c8=[100, 100], c64=[50, float("nan")]))
    assert (share, repetitions) == (pytest.approx(0.5), 1)


def test_interval_is_that_of_the_repetitions():
    (_, (_, _, share, low, high, _)) = ladder.shares(logs(c8=[100, 100, 100], c64=[90, 81, 72.9]))
    assert share == pytest.approx(0.81)
    assert (low, high) == pytest.approx((0.81 * math.exp(-0.26173), 0.81 * math.exp(0.26173)), rel=1e-3)


def test_published_ladder_is_the_one_of_the_source():
    rows = published.frame(ResolvedStudy.of({"published": TOLD}))
    assert len(rows) == 10
    assert rows.set_index("clients")["value"][[8, 4096]].tolist() == [138.244, 208.14]


def ladder_study(tmp_path, clients):
    def edit(facts):
        rows = [{**row, "workload": "simple_select"} for row in TOLD["rows"]]
        return {**facts, "published": {**TOLD, "rows": rows}} if "order" in facts else facts

    plan = synthetic.Plan(workloads=("simple_select",), clients=clients)
    tree, page, _ = worded(plan, tmp_path, edit)
    return tree, Elements(page).said()


def test_the_page_shows_shares_and_says_what_is_left_with_the_most_clients(tmp_path):
    _, said = ladder_study(tmp_path, (8, 64, 512))
    assert "TPS as a share of TPS at the best client count" in said
    assert "published mysql-5.7.17: the mean is highest with the most clients, 4096." in said
    assert "baseline: the mean is highest with the most clients, 512." in said
    assert "66 %" in said.replace("\u202f", " ")


def test_without_a_ladder_of_our_own_there_is_none(tmp_path):
    tree, said = ladder_study(tmp_path, (8,))
    assert "TPS as a share" not in said
    assert read_csv(tree.tables / "ladder.csv").empty


def test_table_has_the_shares_of_each_variant_by_client_count(tmp_path):
    tree, _ = ladder_study(tmp_path, (8, 64, 512))
    rows, runs = read_csv(tree.tables / "ladder.csv"), read_csv(tree.tables / "runs.csv")
    assert set(rows["variant"]) == set(runs["variant"]) - {"aa"}
    own = runs[runs["variant"] == "pgo"].pivot(index="clients", columns="repetition", values="tps")
    wanted = np.exp(np.log(own.loc[8] / own.loc[512]).mean())
    first = rows.set_index(["variant", "clients"]).loc[("pgo", 8)]
    assert (first["best_clients"], first["n_ok"]) == (512, own.shape[1])
    assert first["share"] == pytest.approx(wanted)
