"""The figure of the first screen: rows, marks and columns, for a wide and for a narrow screen."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from scripts.report.analysis.metrics import METRICS, TPS
from scripts.report.page.figures.answer import NARROW, WIDE, answer_chart
from scripts.report.page.figures.naming import look_of
from scripts.report.page.results import ResultRow, Results, Span
from scripts.report.page.study_answer import ShownRatio
from tests.unit.report.page.figures.test_values import NAMESPACE, texts

P95 = METRICS["p95_ms"]


def row(name="pgo", ratio=1.3, cells=("oltp", "select"), state="good"):
    spans = tuple(Span(label, ratio * 1.05, ratio, ratio * 1.1) for label in cells)
    fields = (ShownRatio("1.30", "1.20–1.40", state), ShownRatio("0.80", "0.70–0.90", "plain"))
    return ResultRow(name, name, Span("", ratio, ratio * 0.9, ratio * 1.1), spans, fields)


def chart(*rows, layout=WIDE, metric=TPS):
    look = look_of(["baseline", *(each.variant for each in rows)], "baseline")
    return answer_chart(Results("baseline", (metric, P95), rows), look, layout, "answer")


def height(svg):
    return float(ET.fromstring(svg).get("viewBox").split()[3])


@pytest.mark.parametrize("layout", [WIDE, NARROW])
def test_names_cells_figures_and_intervals_stand_in_the_figure(layout):
    found = texts(chart(row(), layout=layout))
    assert {"pgo", "oltp", "select", "1.30", "1.20–1.40", "0.80", "0.70–0.90", "TPS", "p95 latency"} <= set(found)


def test_direction_is_stated_with_the_reference_between():
    assert "slower ← baseline → faster" in texts(chart(row()))
    assert "better ← baseline → worse" in texts(chart(row(), metric=P95))


@pytest.mark.parametrize("state", ["good", "bad", "quiet"])
def test_state_of_a_figure_becomes_an_id_that_the_page_colours(state):
    assert f'id="answer.{state}-' in chart(row(state=state))


def test_established_figures_are_bold():
    def bold(svg):
        return [each.text for each in ET.fromstring(svg).iter(f"{NAMESPACE}text") if "700" in each.get("style", "")]

    assert "1.30" in bold(chart(row(state="bad")))
    assert "1.30" not in bold(chart(row(state="plain")))


def test_name_of_the_reference_is_cut_in_the_label_of_a_a_and_not_what_it_is():
    (label,) = [text for text in texts(chart(replace(row("aa"), label=f"{'n' * 40} again (A/A)"))) if "again" in text]
    assert label == f"{'n' * 17}… again (A/A)"


def test_many_cells_share_a_line_and_are_counted():
    many = tuple(f"load{place}" for place in range(30))
    shown = chart(row(cells=many))
    assert "30 cells" in texts(shown)
    assert "load1" not in texts(shown)
    assert height(shown) < height(chart(row(cells=many[:6])))


def test_many_arms_share_lines_too_so_that_the_figure_fits_a_screen():
    names = ("oltp", "select", "update", "insert")
    arms = [row(f"v{place}", cells=names) for place in range(9)]
    assert "oltp" in texts(chart(*arms[:7]))
    assert "oltp" not in texts(chart(*arms))
    assert height(chart(*arms)) < height(chart(*arms[:7]))


def test_a_single_cell_has_no_line_beside_the_mean():
    assert "oltp" not in texts(chart(row(cells=("oltp",))))


def test_a_variant_without_ratio_keeps_its_row_and_a_long_name_is_cut():
    name = "<b>&" + "x" * 60
    empty = ResultRow(name, name, None, (), (ShownRatio("–", "", "quiet"),) * 2)
    found = texts(chart(row(), empty))
    assert any(text.startswith("<b>&xxx") and text.endswith("…") for text in found)
    assert not [text for text in found if "nan" in text]


def test_intervals_that_would_squeeze_the_ratios_are_cut():
    wild = ResultRow("pgo", "pgo", Span("", 1.1, 0.001, 1000.0), (), (ShownRatio("1.10", "0–1000", "plain"),) * 2)
    ticks = [float(text) for text in texts(chart(wild)) if text.replace(".", "").isdigit() and text != "1.10"]
    assert max(ticks) < 2
