"""Two finished studies side by side: what changed is listed, and a ratio of the two is never called a speedup."""

import copy
import dataclasses
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from scripts.commands.compare_studies import __main__ as compare_studies
from scripts.commands.compare_studies import studies
from scripts.commands.compare_studies.cells import Cells, headline, shared_cells, whole_speedup
from scripts.commands.compare_studies.figure import speedup_charts, speedups
from scripts.commands.compare_studies.studies import load_finished, refusals, within_study
from scripts.commands.import_logs import __main__ as import_logs
from scripts.commands.import_logs.imported_description import study_description
from scripts.commands.import_logs.logs import read_tree
from scripts.commands.import_logs.pattern_file import read_pattern
from scripts.lib.host.entry import WrongCall
from scripts.measure.engine.run_record import Run
from scripts.report.analysis.run_tables import read_csv, write_csv
from tests.made import logs as made_logs
from tests.made import synthetic
from tests.made.rendering import computed
from tests.made.synthetic import Plan

FIRST = {}
WORKLOADS = ("simple_select", "oltp")
RECIPE = {
    "load": {
        "warmup_s": 3, "measure_s": 6, "script": "oltp_read_only", "options": {"point_selects": 1},
        "tables": {"tables": 4, "rows": 1000},
    },
    "variant": {"server": "mariadb-10.11", "options": {"innodb_buffer_pool_size": "1G"}},
}  # fmt: skip


def made(root, name, change=None, study=None, **plan):
    """Write a finished made-up study without figures; `change` edits the facts of every run, `study` the config."""
    asked = Plan(study=name, workloads=WORKLOADS, drift=0.0, noise=0.01, **plan)
    runs = [{**facts, "recipe": copy.deepcopy(RECIPE)} for facts in synthetic.runs(asked)]
    for facts in runs:
        facts["recipe"]["variant"]["build"] = facts["variant"]
        if change:
            change(facts)
    tree = synthetic.write_tree(asked, root, runs)
    if study:
        synthetic._json(tree.study, synthetic.study(asked) | study)
    computed(tree)
    return tree.study.parent


def setter(where, value):
    def change(facts):
        *path, last = where.split(".")
        for key in path:
            facts = facts[key]
        facts[last] = value

    return change


@pytest.fixture(scope="module", autouse=True)
def first(tmp_path_factory):
    """The study that most tests compare another one with, made once."""
    FIRST["folder"] = made(tmp_path_factory.mktemp("first"), "a")


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """Two studies of the same settings, which no test changes."""
    return together(tmp_path_factory.mktemp("pair"))


def together(tmp_path, **b):
    return load_finished(FIRST["folder"]), load_finished(made(tmp_path / "other", "b", **{"seed": 8, **b}))


def recorded(finished, change):
    """Return a study in which `change` has edited the facts of every run; its figures stay."""
    records = []
    for file in sorted(finished.folder.glob("runs/**/*.json")):
        change(facts := json.loads(file.read_text()))
        records.append(Run.of(facts))
    return dataclasses.replace(finished, records=records)


@pytest.fixture
def view(monkeypatch):
    """Return what a page says of a pair of studies; drawing its charts takes ten times as long."""
    monkeypatch.setattr(compare_studies, "speedup_charts", lambda cells: [])
    return lambda pair: compare_studies.compare(*pair)


def cells_of(a, b):
    shared = {name: shared_cells(a, b, name) for name in a.variants}
    return Cells(a, b, shared, refusals(a, b, shared))


def test_the_figure_has_the_speedups_of_both_sides_below_each_other(pair):
    cells = cells_of(*pair)
    found = speedups(cells)
    assert [row.label for row in found.rows] == ["pgo in A", "pgo in B"]
    whole = cells.compared("pgo", "tps", cells.shared["pgo"])
    assert [row.mean.ratio for row in found.rows] == [whole.speedup_a.ratio, whole.speedup_b.ratio]
    assert [len(row.cells) for row in found.rows] == [len(cells.shared["pgo"])] * 2
    wide, narrow = speedup_charts(cells)
    assert wide.startswith("<svg")
    assert 'id="speedups-narrow.' in narrow


@pytest.mark.parametrize("inside", ["blocks/oltp/8/1/0123456789ab/pgo.json", "runs/pgo/oltp/8/1.json"])
def test_records_lie_in_blocks_or_are_runs_of_the_earlier_layout(inside):
    assert within_study(Path("results/studies/a", inside)) == Path(inside)


def test_the_same_settings_one_after_the_other_are_a_difference_not_interleaved(pair, view):
    shown = view(pair)
    assert shown.headline.startswith("Difference, not interleaved")
    assert not shown.refusals
    notes = {note for table in shown.tables.values() for row in table.rows for note in row.cells[4].notes}
    assert {table.heads[4].text for table in shown.tables.values()} == {"B / A, not interleaved"}
    assert "no speedup" not in notes
    assert any(text.startswith("pgo: B gave") for text in shown.sentences)


@pytest.mark.parametrize(
    ("where", "value", "what"),
    [
        ("host.machine_id", "other", "host"),
        ("host.kernel", "7.0", "host, kernel"),
        ("host.cpu_model", "another", "host, CPU"),
        ("sysbench.version", "1.0.19", "sysbench"),
        ("sysbench.sha256", "00", "sysbench program"),
        ("recipe.load.warmup_s", 60, "seconds of warm-up"),
        ("recipe.load.measure_s", 60, "seconds of measuring"),
        ("recipe.load.tables.rows", 7, "oltp: dataset"),
        ("recipe.load.options.point_selects", 2, "oltp: workload options"),
        ("recipe.load.script", "oltp_write_only", "oltp: script"),
        ("recipe.variant.options.innodb_buffer_pool_size", "2G", "pgo: server options"),
        ("storage", "tmpfs", "pgo: storage"),
        ("placement.server_cpus", [2], "placement, server"),
        ("placement.client_cpus", [3], "placement, sysbench"),
    ],
)
def test_another_host_sysbench_or_setting_forbids_a_speedup_and_is_named(pair, where, value, what):
    a, b = pair
    cells = cells_of(a, recorded(b, setter(where, value)))
    assert what in {change.what for change in cells.refusals.named()}
    assert headline(cells).startswith("No speedup of B over A is given")
    assert what.split(": ")[-1].partition(",")[0] in headline(cells)


@pytest.mark.parametrize(
    ("where", "value"), [("host.machine_id", "other"), ("recipe.load.tables.rows", 7), ("storage", "tmpfs")]
)
def test_a_difference_everywhere_of_a_load_or_of_a_variant_takes_the_speedup_from_every_row(pair, where, value, view):
    a, b = pair
    shown = view((a, recorded(b, setter(where, value))))
    assert shown.headline.startswith("No speedup of B over A is given")
    assert all("no speedup" in row.cells[4].notes for table in shown.tables.values() for row in table.rows)
    assert not any("B gave" in text for text in shown.sentences)
    assert any("B's speedup is" in text for text in shown.sentences)


def test_what_is_unknown_on_both_sides_is_not_the_same(tmp_path, view):
    unknown = setter("host.machine_id", None)
    pair = load_finished(made(tmp_path / "one", "a", unknown)), load_finished(made(tmp_path / "other", "b", unknown))
    (row,) = view(pair).refusals.rows
    assert [cell.text for cell in row.cells] == ["host", "unknown", "unknown"]


def test_a_speedup_is_that_of_the_studys_own_report(pair):
    a, b = pair
    overall = read_csv(a.folder / "tables/overall.csv").query("variant == 'pgo' and metric == 'tps'").iloc[0]
    cells = cells_of(a, b)
    found = cells.compared("pgo", "tps", cells.shared["pgo"]).speedup_a
    assert found.ratio == pytest.approx(overall["ratio"])
    assert found.bounds == pytest.approx((overall["ratio_low"], overall["ratio_high"]))
    assert whole_speedup(a, "pgo", "tps").bounds == pytest.approx(found.bounds)


def test_the_ratio_of_speedups_does_not_depend_on_how_fast_the_machines_are(tmp_path):
    def twice(facts):
        facts["window"]["tps"] *= 2

    slow, fast = together(tmp_path), together(tmp_path / "again", change=twice)
    found = [cells_of(*pair).compared("pgo", "tps", [("oltp", 8)]) for pair in (slow, fast)]
    assert found[1].change.ratio == pytest.approx(2 * found[0].change.ratio)
    assert found[1].relative.bounds == pytest.approx(found[0].relative.bounds)
    assert found[0].relative.bounds[0] < 1 < found[0].relative.bounds[1]


def test_over_another_reference_speedups_are_not_divided(tmp_path):
    pair = together(tmp_path, variants={"pgo": 1.0, "baseline": 0.0, "lto": 0.3, "aa": 1.0})
    found = cells_of(pair[0], pair[1]).compared("pgo", "tps", [("oltp", 8)])
    assert np.isnan(found.relative.log_ratio)


def test_without_a_shared_cell_only_the_speedups_stand_side_by_side(tmp_path, view):
    shown = view(together(tmp_path, clients=(16,)))
    assert "no cell in common" in shown.headline
    assert shown.tables == {}
    assert any("each over all its own cells" in text for text in shown.sentences)


def test_config_is_compared_leaf_by_leaf_and_a_part_of_one_side_is_one_line(tmp_path):
    a, b = together(tmp_path, repetitions=6, variants={"baseline": 0.0, "pgo": 1.0, "lto": 0.3, "aa": 0.0})
    found = {change.what: (change.a, change.b) for change in studies.config_changes(a, b)}
    assert found["repetitions"] == ("5", "6")
    assert found["seed"] == ("7", "8")
    assert found["variants.lto"][0] == "–"
    assert "server mariadb-10.11" in found["variants.lto"][1]
    assert not any(what.startswith("variants.pgo") for what in found)


def test_builds_are_told_apart(tmp_path):
    a, b = together(tmp_path, change=setter("server.release", "10.11.99"))
    releases = [change for change in studies.build_changes(a, b) if change.what == "pgo: release"]
    assert [(change.a == "10.11.99", change.b) for change in releases] == [(False, "10.11.99")]


def test_page_and_summary_are_written_and_escape_what_they_show(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    a, b = (
        made(tmp_path / "one", "a"),
        made(tmp_path / "other", "b", study={"title": "<b>bold</b>", "warmup_s": 9}, seed=8),
    )
    compare_studies.main(a, b)
    folder = compare_studies.COMPARISONS / "a-b"
    page, summary = ((folder / name).read_text() for name in ("report.html", "summary.md"))
    assert "<b>bold</b>" not in page
    assert "&lt;b&gt;bold" in page
    assert "http" not in re.sub(r'http-equiv| xmlns(:xlink)?="[^"]*"', "", page)
    assert "Difference, not interleaved" in page
    assert "Difference, not interleaved" in summary
    assert "warmup_s" in page


def test_imported_logs_are_set_beside_a_measured_study_and_nothing_is_called_a_speedup(tmp_path, monkeypatch, view):
    monkeypatch.chdir(tmp_path)
    logs = made_logs.tree(tmp_path / "logs", clients=(8,))
    rules = read_pattern(made_logs.write(tmp_path, "p.yaml", f'path: "{made_logs.LAID_OUT}"\n'))
    found = read_tree(logs, rules)
    folder = import_logs.STUDIES / "shared"
    import_logs.write_records(folder, logs, study_description("shared", logs, rules, found), found.logs)
    import_logs.write_tables(folder)
    shown = view((load_finished(made(tmp_path / "one", "a")), load_finished(folder)))
    assert {"host", "seconds of warm-up", "oltp: dataset"} <= {row.cells[0].text for row in shown.refusals.rows}
    text = next(text for text in shown.sentences if text.startswith("pgo gave"))
    assert "B's speedup is" in text
    assert "dataset" in text


@pytest.mark.parametrize("lost", ["tables/runs.csv", "study.json", "runs/pgo/oltp/8/1.json"])
def test_a_study_that_is_not_whole_is_refused_naming_the_file(tmp_path, lost):
    folder = made(tmp_path, "a")
    (folder / lost).unlink()
    with pytest.raises(ValueError, match=lost):
        load_finished(folder)


def test_a_results_folder_stands_for_its_only_study(tmp_path):
    made(tmp_path, "a")
    assert load_finished(tmp_path).name == "a"
    shutil.copytree(tmp_path / "studies/a", tmp_path / "studies/b")
    with pytest.raises(ValueError, match=r"expected one finished study or the folder of one; found .*a, .*b"):
        load_finished(tmp_path)
    with pytest.raises(ValueError, match="no such folder"):
        load_finished(tmp_path / "nowhere")


def test_studies_without_a_common_variant_are_refused(tmp_path, view):
    pair = together(tmp_path, variants={"plain": 0.0, "lto": 0.3, "aa": 0.0})
    with pytest.raises(ValueError, match=r"no variant in common: .* has baseline, pgo; .* has plain, lto"):
        view(pair)


def test_a_study_is_not_compared_with_itself_whatever_its_folder_is_called(tmp_path, monkeypatch):
    folder = made(tmp_path / "one", "x")
    link = tmp_path / "link"
    link.symlink_to(folder)
    monkeypatch.chdir(folder.parent)
    for other in (folder, link, Path("x"), folder / ".." / "x"):
        with pytest.raises(WrongCall, match=f"^A={folder} and B=.*: both are .*, expected two studies"):
            compare_studies.main(folder, other)
    assert not Path("results/comparisons").exists()


def test_copies_of_the_same_runs_are_named_and_not_called_a_difference(tmp_path):
    folder = made(tmp_path / "one", "x")
    shutil.copytree(tmp_path / "one", tmp_path / "copy")
    sides = [load_finished(each) for each in (folder, tmp_path / "copy" / folder.relative_to(tmp_path / "one"))]
    assert compare_studies.compare(*sides).headline.startswith("A and B are copies of the same runs")


def test_runs_that_both_studies_hold_are_counted(tmp_path):
    folders = [made(tmp_path / name, "x") for name in ("one", "two")]
    table = folders[1] / "tables/runs.csv"
    runs = read_csv(table)
    runs.loc[runs["repetition"] > 2, "started_at"] += 100.0
    write_csv(runs, table)
    a, b = map(load_finished, folders)
    compared = compare_studies.compare(a, b)
    assert compared.sentences[0] == "12 of 30 runs of A are in B too: the two were not measured apart."
    assert studies.runs_of_both(a, b) == 12
    other = made(tmp_path / "three", "x", seed=99)
    assert studies.runs_of_both(a, load_finished(other)) == 0
