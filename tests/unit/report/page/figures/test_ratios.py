"""Heat maps: which colour, figure and mark stands where, and that all panels share one scale."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

from scripts.jobs import plot_figures
from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.vocabulary import Verdict
from scripts.report.analysis.metrics import METRICS, TPS
from scripts.report.page.figures import naming
from scripts.report.page.figures import ratios as figures_ratios
from scripts.report.page.figures.drawing import PUBLISHED_COLOUR
from scripts.report.page.figures.ratios import BETTER, CROSSED, FRAMED, HATCHED, WORSE, HeatGrid
from tests.made import synthetic
from tests.made.compared import compared
from tests.unit.report.page.figures.test_values import NAMESPACE, texts

LOOK = naming.look_of(("baseline", "pgo", "lto", "aa"), "baseline")
P95 = METRICS["p95_ms"]
PAPERS = {"#ffffff": "#1c2024", "#15181b": "#e4e7ea"}


def cells(*rows):
    table = pd.DataFrame(rows, columns=["variant", "workload", "clients", "ratio", "verdict"])
    blocks = [4 if verdict == Verdict.TOO_FEW_BLOCKS else 5 for verdict in table["verdict"]]
    return table.assign(n_blocks=blocks, ratio_low=0.9 * table["ratio"], ratio_high=1.1 * table["ratio"])


def marked(svg, mark):
    """Return how many boxes carry a mark."""
    groups = [group for group in ET.fromstring(svg).iter(f"{NAMESPACE}g") if f".{mark}" in (group.get("id") or "")]
    lines = sum(path.get("d").count("M") for group in groups for path in group.iter(f"{NAMESPACE}path"))
    return lines // 3 if mark == CROSSED else lines


@pytest.mark.parametrize(
    ("ratio", "verdict", "mark"),
    [
        (1.4, Verdict.ABOVE, "framed"), (0.7, Verdict.BELOW, "framed"), (1.2, "far_above", "framed"),
        (1.01, Verdict.SAME, "plain"), (1.01, Verdict.OPEN, "plain"), (1.4, Verdict.TOO_FEW_BLOCKS, "hatched"),
        (1.4, Verdict.UNPAIRED, "hatched"), (1.4, None, "framed"), (1.05, None, "plain"),
        (None, None, "crossed"), (float("nan"), Verdict.TOO_FEW_BLOCKS, "crossed"),
    ],
)  # fmt: skip
def test_a_cell_is_marked_by_its_verdict_or_its_interval(ratio, verdict, mark):
    row = next(cells(("pgo", "a", 1, np.nan if ratio is None else ratio, verdict)).itertuples())
    assert figures_ratios.mark_of(row) == mark
    assert figures_ratios.mark_of(None) == "crossed"


def test_every_place_of_the_grid_has_its_figure_or_a_cross():
    shown = cells(
        ("pgo", "a", 1, 1.404, Verdict.ABOVE), ("pgo", "a", 8, 1.01, Verdict.OPEN),
        ("pgo", "b", 1, 12.34, Verdict.TOO_FEW_BLOCKS), ("pgo", "b", 8, np.nan, None),
    )  # fmt: skip
    chart = figures_ratios.heat_chart(shown, HeatGrid(["a", "b"], [1, 8, 64], "pgo"), TPS, 1.0, LOOK, "heat-tps-pgo")
    found = texts(chart)
    assert [text for text in found if "." in text] == ["1.40", "1.01", "12.3"]
    assert [marked(chart, mark) for mark in (FRAMED, HATCHED, CROSSED)] == [1, 1, 3]
    assert {"a", "b", "1", "8", "64", "clients", "pgo: Transactions per second, ratio to baseline"} <= set(found)
    bold = [
        text.text for text in ET.fromstring(chart).iter(f"{NAMESPACE}text") if "font-weight: 700" in text.get("style")
    ]
    assert bold == ["1.40"]


def test_what_has_no_ratio_has_no_colour_and_no_zero():
    holes = cells(("pgo", "a", 1, np.nan, None), ("pgo", "a", 8, np.nan, Verdict.TOO_FEW_BLOCKS))
    chart = figures_ratios.heat_chart(holes, HeatGrid(["a"], [1, 8], "pgo"), TPS, 1.0, LOOK, "heat-tps-pgo")
    assert marked(chart, CROSSED) == 2
    assert not marked(chart, "shade")
    assert not [text for text in texts(chart) if text.startswith("0") or "nan" in text.lower()]


@pytest.mark.parametrize(
    ("metric", "ratio", "hue"), [(TPS, 1.5, BETTER), (TPS, 0.6, WORSE), (P95, 1.5, WORSE), (P95, 0.6, BETTER)]
)
def test_colour_tells_better_from_worse_whatever_the_metrics_direction(metric, ratio, hue):
    assert figures_ratios.shade(ratio, metric, 1.0)[0] == hue


def test_colour_is_linear_in_the_logarithm_and_ends_at_the_limit():
    full = np.log(2)
    opacities = [figures_ratios.shade(ratio, TPS, full)[1] for ratio in (1, 2**0.25, 2**-0.5, 0.5, 2, 5)]
    assert opacities == pytest.approx([figures_ratios.MOST_OPAQUE * share for share in (0, 0.25, 0.5, 1, 1, 1)])


def luminance(colour):
    values = np.array(to_rgb(colour) if isinstance(colour, str) else colour)
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    return linear @ (0.2126, 0.7152, 0.0722)


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("hue", [BETTER, WORSE])
def test_text_on_the_strongest_colour_is_legible_on_light_and_dark(paper, hue):
    """Contrast as WCAG 2 defines it; 4.5 is what it asks of small text."""
    share = figures_ratios.MOST_OPAQUE
    box = share * np.array(to_rgb(hue)) + (1 - share) * np.array(to_rgb(paper))
    low, high = sorted((luminance(box), luminance(PAPERS[paper])))
    assert (high + 0.05) / (low + 0.05) >= 4.5


def test_the_key_shows_both_ends_and_all_marks():
    chart = figures_ratios.scale_chart(TPS, np.log(2), LOOK, "scale-tps")
    found = texts(chart)
    assert {"0.50", "1.00", "2.00", "faster or slower", "the same, or open", "too few blocks", "no ratio"} <= set(found)
    assert found.index("worse") < found.index("better")
    assert [marked(chart, mark) for mark in (FRAMED, HATCHED, CROSSED)] == [1, 1, 1]


def drawn(plan):
    study = ResolvedStudy.of(synthetic.study(plan))
    ordered = plot_figures.in_order(compared(plan).cells, study)
    look = naming.look_of(list(study.variants), study.reference)
    return study, dict(plot_figures.heat(study, ordered, TPS, look))


VARIANTS = {"baseline": 0.0, "pgo": 1.0, "pgo_lto": 1.3, "aa": 0.0}


@pytest.fixture(autouse=True)
def maps_of_small_studies(monkeypatch):
    monkeypatch.setattr(naming, "LEAST_HEAT", 1)


def test_studies_with_few_workloads_and_client_counts_have_no_map(monkeypatch):
    monkeypatch.setattr(naming, "LEAST_HEAT", 20)
    plan = synthetic.Plan(variants=VARIANTS, workloads=("simple_select", "oltp"), clients=(1, 8, 64), repetitions=1)
    assert naming.heat_names(ResolvedStudy.of(synthetic.study(plan)), "tps") == []
    wide = synthetic.study(plan) | {"clients": list(range(1, 11))}
    assert naming.heat_names(ResolvedStudy.of(wide), "tps")[0] == "scale-tps"


def test_several_client_counts_give_one_map_a_variant_without_aa():
    study, maps = drawn(synthetic.Plan(variants=VARIANTS, workloads=("simple_select", "oltp"), clients=(1, 8, 64)))
    assert list(maps) == naming.heat_names(study, "tps") == ["scale-tps", "heat-tps-pgo", "heat-tps-pgo_lto"]
    assert {"simple_select", "oltp", "1", "8", "64"} <= set(texts(maps["heat-tps-pgo"]))


def test_one_client_count_gives_one_map_of_workloads_by_variants():
    study, maps = drawn(synthetic.Plan(variants=VARIANTS, workloads=("simple_select", "oltp")))
    assert list(maps) == naming.heat_names(study, "tps") == ["scale-tps", "heat-tps"]
    found = texts(maps["heat-tps"])
    assert [text for text in found if text in VARIANTS] == ["pgo", "pgo_lto"]
    assert marked(maps["heat-tps"], FRAMED) == 4


def test_a_study_of_the_reference_alone_has_no_map():
    study, maps = drawn(synthetic.Plan(variants={"baseline": 0.0, "aa": 0.0}, workloads=("oltp",)))
    assert maps == {}
    assert naming.heat_names(study, "tps") == []


def test_a_cell_that_failed_is_a_hole():
    gone = frozenset(("pgo", "oltp", 8, repetition) for repetition in range(1, 6))
    _, maps = drawn(synthetic.Plan(variants=VARIANTS, workloads=("oltp",), clients=(1, 8), failures=gone))
    assert [marked(maps[f"heat-tps-{name}"], CROSSED) for name in ("pgo", "pgo_lto")] == [1, 0]


def test_the_largest_map_is_small_and_names_are_text():
    names = [f"oltp_<b>&{place:02}" for place in range(25)]
    counts = [2**place for place in range(12)]
    shown = cells(*(("pgo", name, count, 1.5, Verdict.ABOVE) for name in names for count in counts))
    chart = figures_ratios.heat_chart(shown, HeatGrid(names, counts, "pgo"), TPS, 1.0, LOOK, "heat-tps-pgo")
    assert len(chart) < 150_000
    assert set(names) <= set(texts(chart))
    assert marked(chart, FRAMED) == 300


def at_16_and_64(*variants):
    """Return rows of cells.csv of one workload: each of the variants at two client counts."""
    row = {"workload": "oltp", "ratio": 1.0, "ratio_low": 0.9, "ratio_high": 1.1}
    return pd.DataFrame([{**row, "variant": name, "clients": clients} for name in variants for clients in (16, 64)])


def test_long_names_of_published_variants_are_not_cut_off():
    names = [f"v5.7_tc48_log{number}" for number in range(5)]
    chart = figures_ratios.published_chart(at_16_and_64("pgo", "lto"), at_16_and_64(*names), TPS, LOOK, "ratio-oltp")
    width, height = map(float, re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', chart).groups())
    entries = re.findall(r'x="(-?[\d.]+)" y="(-?[\d.]+)"[^>]*>(published [^<]+)<', chart)
    assert [text for *_, text in entries] == [f"published {name}" for name in names]
    for x, y, text in entries:
        assert float(x) >= 0
        assert float(x) + len(text) * 8.5 * 0.64 < width
        assert 0 < float(y) < height


def test_published_lines_have_the_colours_of_our_variants_of_their_names():
    chart = figures_ratios.published_chart(at_16_and_64("pgo"), at_16_and_64("pgo", "other"), TPS, LOOK, "ratio-oltp")
    dashed = re.findall(r"stroke-dasharray: ([\d. ,]+);[^\"]*stroke: (#\w+)", chart)
    assert {colour for _, colour in dashed} == {LOOK.colours["pgo"], PUBLISHED_COLOUR}
    assert len({gaps for gaps, _ in dashed}) == 2
