"""Published figures: their file, and their ratios beside ours."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from scripts.lib.json_record import dump
from scripts.lib.resolved_study import PublishedFigures, PublishedFinding, ResolvedStudy
from scripts.lib.wording import NOTHING
from scripts.report.analysis import published, stats
from scripts.report.analysis.metrics import TPS
from scripts.report.analysis.run_tables import read_csv
from scripts.report.page import effects_section
from scripts.report.page.figures import naming, ratios
from scripts.report.page.figures.values import values_chart
from tests.made import synthetic
from tests.made.compared import compared
from tests.made.rendering import Elements, rendered
from tests.unit.report.page.figures.test_values import texts

FILE = Path(__file__).parents[4] / "studies" / "published" / "pgo-mysql-8.0.36.csv"
READ = dump(published.read(FILE))
# The synthetic studies have no variant named like the published build.
TOLD = {**READ, "rows": [{**row, "variant": row["variant"].replace("as_published", "pgo")} for row in READ["rows"]]}
FINDINGS = "# source: a paper\nvariant,workload,clients,finding\n"
HEAD = "# source: a paper\nmetric,variant,workload,clients,value\n"
UNITS = "# source: a paper\nmetric,variant,workload,clients,value,unit\n"
FIGURES = Path(__file__).parents[3] / "data" / "published_figures.csv"


def declared(**more):
    plan = synthetic.Plan(workloads=("simple_select", "oltp"), **more)
    return {**synthetic.study(plan), "published": TOLD}


def test_the_published_study_gives_its_published_means():
    found = published.ratios(ResolvedStudy.of(declared()), published.frame(ResolvedStudy.of(declared())), "tps")
    by_workload = found.groupby("workload")["ratio"].agg(stats.geometric_mean)
    assert stats.geometric_mean(found["ratio"]) == pytest.approx(1.280, abs=5e-4)
    assert len(found) == 44
    assert by_workload.round(3).to_dict() == {
        "simple_select": 1.378, "index_update": 1.270, "oltp": 1.301, "non_index_update": 1.180,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("metric,variant,workload,clients,value\n", r"line 1: expected `# source: where"),
        ("# source: a paper\nmetric,variant,clients,value\n", r"line 2: columns are 'metric,variant,clients,value'"),
        ("# source: a paper\n", "line 2: columns are 'nothing'"),
        (HEAD, "line 3: no figure"),
        (f"{HEAD}tps,pgo,oltp,8\n", "line 3: 4 fields, expected 5"),
        (f"{HEAD}tps,pgo,oltp,8,1\ntps,,oltp,8,1\n", "line 4: column variant is empty"),
        (f"{HEAD}tps,pgo,oltp,eight,1\n", "line 3: column clients is 'eight', expected a whole number"),
        (f"{HEAD}tps,pgo,oltp,8,fast\n", "line 3: column value is 'fast', expected a number"),
        (f"{HEAD}tps,pgo,oltp,8,nan\n", "line 3: column value is 'nan', expected a number above zero"),
        (f"{HEAD}tps,pgo,oltp,0,5\n", "line 3: column clients is '0', expected a whole number above zero"),
        (f"{UNITS}before_apparent_bytes,pgo,oltp,8,1,ms\n", "line 3: column unit is 'ms', expected one of B, KiB, MiB"),
        (f"{UNITS}packets,pgo,oltp,8,some,1/s\n", "line 3: column value is 'some', expected a number"),
        (f"{FINDINGS}5.5,oltp,8\n", "line 3: expected 4 fields, none empty: variant,workload,clients,finding"),
        (f"{FINDINGS}5.5,oltp,8,\n", "line 3: expected 4 fields, none empty: variant,workload,clients,finding"),
    ],
)
def test_a_mistake_in_the_file_names_line_and_column(tmp_path, text, complaint):
    file = tmp_path / "figures.csv"
    file.write_text(text)
    with pytest.raises(ValueError, match=f"figures.csv: {complaint}"):
        published.read(file)


def test_findings_are_words_where_nothing_was_counted(tmp_path):
    (tmp_path / "words.csv").write_text(f'{FINDINGS}"5.5, old",oltp,64,"half as fast, it says"\n')
    told = published.read(tmp_path / "words.csv")
    finding = PublishedFinding("5.5, old", "oltp", "64", "half as fast, it says")
    assert told == PublishedFigures("a paper", findings=[finding])
    study = replace(ResolvedStudy.of(declared()), published=told)
    assert published.frame(study).empty
    assert published.gaps(study) == []


def test_units_as_printed_become_those_of_the_metrics(tmp_path):
    rows = "before_apparent_bytes,none,oltp,8,141,GiB\np95_ms,none,oltp,8,0.5,s\ndata free,none,oltp,8,0,B\n"
    (tmp_path / "units.csv").write_text(UNITS + rows)
    size, latency, other = published.read(tmp_path / "units.csv").rows
    assert (size.value, latency.value) == (141 * 2**30, 500)
    assert (other.value, other.unit) == (0, "B")


def test_every_published_figure_is_that_of_the_list_read_from_the_texts():
    """tests/data/published_figures.csv was made by reading the texts, apart from studies/published/.

    The summaries of strace and the sizes of table spaces were taken from the texts by two programs, one for each side.
    """
    wanted = list(csv.DictReader(FIGURES.read_text().splitlines()))
    rows = {name: published.read(FILE.parent / name).rows for name in {line["file"] for line in wanted}}
    found = {
        (name, row.metric, row.variant, row.workload, row.clients): row.value
        for name, several in rows.items()
        for row in several
    }
    for line in wanted:
        key = (line["file"], line["metric"], line["variant"], line["workload"], int(line["clients"]))
        assert found.pop(key) == pytest.approx(float(line["value"]) * float(line["factor"])), key
    assert not found, "figures that the list lacks"


@pytest.mark.parametrize("file", sorted(FILE.parent.glob("*.csv")), ids=lambda file: file.stem)
def test_every_published_file_can_be_read(file):
    assert len(published.read(file).source) > 50


def test_published_means_are_given_over_all_client_counts_and_over_ours():
    found = compared()
    study = {**synthetic.study(synthetic.Plan(workloads=("simple_select", "oltp"))), "published": TOLD}
    first, second = published.beside(ResolvedStudy.of(study), {"runs": found.judged}, "tps")
    assert (first.workload, second.workload) == ("simple_select", "oltp")
    assert first.here == {"pgo": pytest.approx(86702.95 / 60466.1)}
    assert first.everywhere == {"pgo": pytest.approx(1.378, abs=5e-4)}
    assert (first.clients, first.common) == (11, 1)
    cells = found.cells
    ours = cells[(cells["variant"] == "pgo") & (cells["metric"] == "tps")].set_index("workload")["ratio"]
    assert first.measured["pgo"].ratio == pytest.approx(ours["simple_select"])


def test_what_either_side_lacks_is_said():
    rows = [*TOLD["rows"], {"metric": "qps", "variant": "pgo", "workload": "scan", "clients": 3, "value": 1.0}]
    study = {**declared(), "published": {"source": "s", "rows": rows}, "workloads": {"oltp": {}, "mine": {}}}
    said = " ".join(published.gaps(ResolvedStudy.of(study)))
    assert "does not measure: simple_select, non_index_update and index_update." in said
    assert "without a published figure: mine." in said
    assert "client counts this study does not measure: 1, 2, 4, 16" in said


def test_a_study_without_published_figures_has_none():
    assert published.frame(ResolvedStudy.of(synthetic.study(synthetic.Plan()))).empty
    assert published.gaps(ResolvedStudy.of(synthetic.study(synthetic.Plan()))) == []


def add_published(facts):
    return {**facts, "published": TOLD} if "order" in facts else facts


def test_the_page_shows_them_with_their_source(tmp_path):
    plan = synthetic.Plan(workloads=("oltp",), clients=(8, 64))
    tree, page, _ = rendered(plan, tmp_path, add_published)
    said = Elements(page).said()
    assert TOLD["source"] in said
    assert "published, / baseline the same at our client counts measured, / baseline" in said
    assert "11 client counts" in said
    chart = (tree.figures / "ratio-oltp.svg").read_text()
    assert "published pgo" in texts(chart)
    ours = read_csv(tree.tables / "cells.csv").query("variant == 'pgo' and metric == 'tps'")
    assert len(ours) == 2


def test_each_variant_of_either_side_has_a_row_and_what_a_side_lacks_is_left_empty():
    theirs = [{**row, "variant": "other"} for row in TOLD["rows"] if row["variant"] == "pgo"]
    study = {**declared(), "published": {**TOLD, "rows": [*TOLD["rows"], *theirs]}}
    study["variants"] = {**study["variants"], "unmeasured": study["variants"]["pgo"]}
    (tps, *_) = effects_section.published_tables(ResolvedStudy.of(study), {"runs": compared().judged})
    named = (row.cells for row in tps.rows)
    rows = {name.text: cells for workload, name, *cells in named if workload.text == "simple_select"}
    assert list(rows) == ["pgo", "other", "unmeasured"]
    assert [cell.text == NOTHING for cell in rows["pgo"]] == [False, False, False]
    assert [cell.text == NOTHING for cell in rows["other"]] == [False, False, True]
    assert [cell.text == NOTHING for cell in rows["unmeasured"]] == [True, True, True]
    assert (rows["other"][-1].state, rows["unmeasured"][-1].state) == ("", "hole")


def test_values_of_a_machine_of_another_scale_are_left_out_of_the_chart():
    runs = compared(synthetic.Plan(workloads=("oltp",), clients=(8, 64))).judged
    look = naming.look_of(["baseline", "pgo", "aa"], "baseline")
    rows = published.frame(ResolvedStudy.of(declared())).query("workload == 'oltp' and metric == 'tps'")
    for factor, drawn in ((1, False), (0.1, True), (0.01, False)):
        chart = values_chart(runs, TPS, look, "tps-oltp", rows.assign(value=rows["value"] * factor))
        assert ("published pgo" in texts(chart)) == drawn, factor


def test_a_chart_of_published_ratios_without_any_of_ours_is_still_a_figure():
    cells = compared().cells
    look = naming.look_of(["baseline", "pgo", "aa"], "baseline")
    theirs = published.ratios(ResolvedStudy.of(declared()), published.frame(ResolvedStudy.of(declared())), "tps")
    chart = ratios.published_chart(cells[cells["workload"] == "none"], theirs, TPS, look, "ratio-none")
    assert chart.startswith("<svg")
