"""A value that stands beside a ratio comes from the same blocks: the quotient of two printed values is the ratio."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from scripts.commands.compare_studies.cells import Cells, shared_cells, side_table
from scripts.commands.compare_studies.studies import load_finished, refusals
from scripts.lib.json_record import read, write
from scripts.lib.resolved_study import ResolvedStudy, read_study
from scripts.lib.wording import size
from scripts.measure.engine.run_record import read_diagnosis
from scripts.report.analysis.metrics import METRICS
from scripts.report.analysis.run_tables import read_csv
from scripts.report.page import machine_section
from scripts.report.page.diagnosis_tables import diagnosed_cells, function_tables
from scripts.report.page.efforts_section import efforts
from scripts.report.page.pairs import paired_means
from scripts.report.page.workloads_section import by_workload
from tests.made import added_later
from tests.made.diagnoses import diagnosed
from tests.made.rendering import exported, worded

PAIR = re.compile(r"([\d.\u202f]+)(?: MiB)? → ([\d.\u202f]+)")


@pytest.fixture(scope="module")
def later(tmp_path_factory):
    """The report of a study to which work_mem was added on a slower day."""
    return worded(added_later.PLAN, tmp_path_factory.mktemp("later"), added_later.declared, made=added_later.runs())


def rounding(text):
    """Return half of the last digit of a number as printed."""
    return 0.5 * 10.0 ** -len(text.partition(".")[2])


def assert_quotient(pair, ratio):
    """The quotient of `934 → 947` is the printed ratio within the rounding of the three figures."""
    before, after = PAIR.search(pair).groups()
    (printed,) = re.findall(r"\d+(?:\.\d+)?", ratio)[:1]
    a, b = (float(text.replace("\u202f", "")) for text in (before, after))
    share = rounding(before) / a + rounding(after) / b
    assert b / a == pytest.approx(float(printed), abs=rounding(printed) + share * b / a + 1e-9), (pair, ratio)


def tables_of(tree):
    return {path.stem: read_csv(path) for path in tree.tables.glob("*.csv")}


def test_the_reference_was_faster_when_pgo_was_measured(later):
    cells = tables_of(later[0])["cells"].query("metric == 'tps'").set_index(["variant", "workload"])
    sides = cells["reference_value"]
    assert sides["pgo", "oltp"] / sides["work_mem", "oltp"] > 1.1
    of_all_blocks = cells.loc[("baseline", "oltp"), "value"]
    assert sides["work_mem", "oltp"] < of_all_blocks < sides["pgo", "oltp"]


def test_cells_csv_and_results_json_have_both_sides_of_each_ratio(later):
    tree, *_ = later
    cells = tables_of(tree)["cells"]
    known = cells[cells["ratio"].notna()]
    assert set(known["variant"]) == {"pgo", "work_mem", "aa"}
    assert np.allclose(known["value"] / known["reference_value"], known["ratio"], rtol=1e-12)
    assert cells["reference_value"].notna().equals(cells["ratio"].notna())


def test_values_are_the_weighted_means_of_the_blocks_in_comparisons_csv(later):
    tables = tables_of(later[0])
    pairs = tables["comparisons"].query("variant == 'pgo' and workload == 'oltp' and metric == 'tps'")
    pairs = pairs[pairs["log_ratio"].notna()]
    assert list(pairs["n_reference"]) == [2, 1, 2, 2]
    weights = 1 / (1 + 1 / pairs["n_reference"])
    cell = tables["cells"].query("variant == 'pgo' and workload == 'oltp' and metric == 'tps'").iloc[0]
    for name in ("value", "reference_value"):
        assert cell[name] == pytest.approx(np.exp(np.average(np.log(pairs[name]), weights=weights)))


def test_every_pair_in_the_table_by_workload_and_in_the_summary_has_its_quotient_beside_it(later):
    tree, _, summary = later
    rows = by_workload(read_study(tree.study), tables_of(tree)).rows
    assert [row.cells[1].text for row in rows] == ["pgo", "work_mem", "aa"] * 2
    for row in rows:
        for value, ratio in zip(row.cells[2::2], row.cells[3::2], strict=True):
            assert_quotient(value.text, ratio.text)
    pairs = re.findall(r"\| ([\d.\u202f]+ → [\d.\u202f]+) \| ([\d.]+) ", summary)
    assert len(pairs) == 3 * len(rows)
    for pair in pairs:
        assert_quotient(*pair)


def test_what_a_transaction_cost_stands_beside_its_ratio(later):
    tree, *_ = later
    made = efforts(read_study(tree.study), tables_of(tree)["runs"], [])
    cells = [cell for effort in made for row in effort.table.rows for cell in row.cells if cell.notes]
    assert cells
    for cell in cells:
        assert_quotient(cell.text, cell.notes[0])


def test_two_studies_side_by_side_show_the_values_behind_each_speedup(later):
    folder = later[0].study.parent
    study = load_finished(folder)
    shared = {name: shared_cells(study, study, name) for name in study.variants}
    cells = Cells(study, study, shared, refusals(study, study, shared))
    for metric in ("tps", "p95_ms", "cpu_us_per_tx"):
        table = side_table(cells, METRICS[metric])
        for row in table.rows:
            for field in row.cells[5:7]:
                if row.cells[1].text != "baseline":
                    assert_quotient(field.notes[-1], field.text)


def test_sizes_on_disk_and_operations_are_means_over_the_blocks_that_both_have():
    blocks = list("abcd")
    theirs = pd.Series([8 * 2**20, 9 * 2**20, 20 * 2**20, np.nan], blocks)
    ours = pd.Series([4 * 2**20, 5 * 2**20, np.nan, 1.0], blocks)
    cell = paired_means(ours, theirs).cell(size)
    assert cell.text == "8.5 MiB → 4.5 MiB"
    assert cell.notes[0].endswith("n 2")
    assert_quotient(cell.text, cell.notes[0])
    assert paired_means(ours, theirs * np.nan) is None


def test_cpu_time_of_functions_is_set_against_the_reference_of_the_same_blocks(later, tmp_path):
    tree, *_ = later
    study, cells = read(tree.study), tables_of(tree)["cells"]
    records = []
    for variant in ("baseline", "pgo", "work_mem"):
        place = {"study": "made_up", "variant": variant, "workload": "oltp", "clients": 8}
        write(tmp_path / f"{variant}.json", diagnosed(place, "perf"))
        records.append(read_diagnosis(tmp_path / f"{variant}.json"))
    (cell,) = diagnosed_cells(ResolvedStudy.of(study), cells, records)
    known = cells.query("metric == 'cpu_us_per_tx' and workload == 'oltp'").set_index("variant")["reference_value"]
    for variant in ("pgo", "work_mem"):
        assert cell.reference_samples(variant).cpu_us == known[variant]
    assert cell.reference_samples("baseline") is None
    fields = [
        field
        for fold in function_tables(cell)
        for row in fold.blocks[0].rows
        for field in row.cells[2:]
        if "→" in field.text
    ]
    assert fields
    for field in fields:
        change = field.notes[1].partition(" ±")[0].replace("\u2212", "-").replace("\u202f", "")
        before, after = (text.replace("\u202f", "") for text in PAIR.search(field.text).groups())
        within = rounding(before) + rounding(after) + rounding(change) + 1e-9
        assert float(after) - float(before) == pytest.approx(float(change), abs=within)


def test_no_sentence_excuses_values_that_contradict_ratios(later):
    _, page, summary = later
    assert "can differ from the quotient" not in page + summary
    assert "→ variant: geometric means over the blocks that have both" in page
    assert "→ variant: geometric means over the blocks that have both" in summary


def test_results_json_holds_the_same_figures(later):
    tree, *_ = later
    exported(tree)
    (file,) = tree.tables.rglob("results.json")
    rows = [row for row in json.loads(file.read_text())["tables"]["cells"] if row["ratio"] is not None]
    assert rows
    assert all(row["value"] / row["reference_value"] == pytest.approx(row["ratio"]) for row in rows)


def test_times_of_storages_are_set_against_the_reference_of_their_own_block(later):
    tree, *_ = later
    study, runs = read(tree.study), tables_of(tree)["runs"]
    runs["fsync_p50_ms"] = np.where(runs["variant"] == "work_mem", 3.0, 1.0)
    told = [line for line in machine_section.storage_sentences(ResolvedStudy.of(study), runs) if "work_mem" in line]
    assert [line.rpartition("; ")[2] for line in told] == ["4 blocks.", "5 blocks."]
    assert all("an fsync 2.00 ms more" in line for line in told)
