"""Figures: what they hold, that they are the same twice, and that no data becomes markup."""

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from scripts.jobs import plot_figures
from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.wording import NARROW, number
from scripts.report.analysis import run_tables
from scripts.report.analysis.comparison import compare, terms_of
from scripts.report.analysis.metrics import METRICS
from scripts.report.page.figures import drawing, naming, values
from scripts.report.page.figures import ratios as figures_ratios
from tests.made import synthetic
from tests.made.run import records_of

NAMESPACE = "{http://www.w3.org/2000/svg}"
VARIANTS = ("baseline", "pgo", "pgo_lto", "aa")
LOOK = naming.look_of(VARIANTS, "baseline")


def frames(plan):
    declared = synthetic.study(plan)
    records = records_of(synthetic.runs(plan))
    runs, _ = run_tables.collect(ResolvedStudy.of(declared), records)
    return runs, plot_figures.in_order(
        compare(runs, terms_of(ResolvedStudy.of(declared))).cells, ResolvedStudy.of(declared)
    )


def plan(**more):
    variants = {"baseline": 0.0, "pgo": 1.0, "pgo_lto": 1.3, "aa": 0.0}
    return synthetic.Plan(workloads=("oltp",), variants=variants, **more)


def texts(svg):
    return [element.text for element in ET.fromstring(svg).iter(f"{NAMESPACE}text")]


def dots(svg, colour):
    return svg.count(f"fill: {colour}")


def test_every_variant_has_its_own_colour_and_marker():
    assert len(set(LOOK.colours.values())) == 4
    assert LOOK.markers["pgo"] != LOOK.markers["pgo_lto"]


def test_eight_variants_have_colours_of_their_own_and_a_ninth_another_marker():
    many = naming.look_of(["baseline", *(f"v{place}" for place in range(9))], "baseline")
    assert len(set(many.colours.values())) == 9
    assert many.colours["v8"] == many.colours["v0"]
    assert many.markers["v8"] != many.markers["v0"]


def test_a_variant_keeps_its_colour_where_another_one_failed():
    runs, _ = frames(plan(failures=frozenset(("pgo", "oltp", 8, repetition) for repetition in range(1, 6))))
    chart = values.values_chart(runs, METRICS["tps"], LOOK, "tps-oltp")
    assert dots(chart, LOOK.colours["pgo_lto"]) > 0
    assert dots(chart, LOOK.colours["pgo"]) == 0
    assert "pgo" not in texts(chart)


def test_with_several_client_counts_they_stand_on_the_x_axis_and_the_legend_names_the_variants_in_order():
    runs, _ = frames(plan(clients=(1, 8, 64)))
    found = texts(values.values_chart(runs, METRICS["p95_ms"], LOOK, "p95_ms-oltp"))
    assert {"1", "8", "64", "clients"} <= set(found)
    assert [text for text in found if text in VARIANTS] == list(VARIANTS)


def run_dots(svg):
    groups = [group for group in ET.fromstring(svg).iter(f"{NAMESPACE}g") if ".dots-" in (group.get("id") or "")]
    return sum(path.get("d").count("M") for group in groups for path in group.iter(f"{NAMESPACE}path"))


@pytest.mark.parametrize("clients", [(1, 8), (1, 8, 64)])
def test_every_ok_run_is_a_dot(clients):
    runs, _ = frames(plan(clients=clients, failures=frozenset([("pgo", "oltp", 8, 2)])))
    chart = values.values_chart(runs, METRICS["tps"], LOOK, "tps-oltp")
    assert run_dots(chart) == len(clients) * 4 * 5 - 1


@pytest.mark.parametrize("clients", [(1, 8), (1, 8, 64)])
def test_of_too_many_runs_some_are_drawn_and_the_figure_says_so(clients):
    runs, _ = frames(plan(clients=clients))
    copies = -(-2400 // len(runs))
    many = pd.concat([runs.assign(repetition=copy) for copy in range(copies)], ignore_index=True)
    chart = values.values_chart(many, METRICS["tps"], LOOK, "tps-oltp")
    assert run_dots(chart) == drawing.MOST_DOTS
    said = f"2{NARROW}000 of {number(len(many))} runs are drawn; means and intervals are of all"
    assert said in texts(chart)
    assert len(chart) < 150_000


def lines_of(svg, colour):
    """Return (parts, steps) of the longest line of a colour that is not made of dots."""
    styled = [(path.get("d"), path.get("style", "")) for path in ET.fromstring(svg).iter(f"{NAMESPACE}path")]
    lines = [d for d, style in styled if "stroke-linecap: square" in style and f"stroke: {colour}" in style]
    longest = max(lines, key=lambda d: d.count("L"))
    return longest.count("M"), longest.count("L")


def test_a_cell_without_a_value_is_a_gap_in_the_curve_and_named():
    gone = frozenset(("pgo", "oltp", 8, repetition) for repetition in range(1, 6))
    runs, _ = frames(plan(clients=(1, 4, 8, 16, 64), failures=gone))
    chart = values.values_chart(runs, METRICS["tps"], LOOK, "tps-oltp")
    assert lines_of(chart, LOOK.colours["pgo"]) == (2, 2)
    assert lines_of(chart, LOOK.colours["pgo_lto"]) == (1, 4)
    assert "No value: pgo at 8 clients" in texts(chart)


def test_latencies_that_span_decades_are_drawn_on_a_logarithmic_axis():
    runs, _ = frames(plan(clients=(1, 8, 256)))
    assert "p99 latency, ms, log scale" in texts(values.values_chart(runs, METRICS["p99_ms"], LOOK, "p99_ms-oltp"))
    assert "Transactions per second" in texts(values.values_chart(runs, METRICS["tps"], LOOK, "tps-oltp"))


def test_client_counts_too_close_for_their_numbers_keep_their_ticks():
    axes = Figure().subplots()
    drawing.client_axis(axes, [1, 2, 48, 50, 1024])
    assert list(axes.get_xticks()) == [1, 2, 48, 50, 1024]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "2", "48", "", "1024"]


def test_a_workload_without_any_ok_run_still_gives_a_figure():
    runs, _ = frames(plan())
    assert values.values_chart(runs.assign(outcome="failed"), METRICS["tps"], LOOK, "tps-oltp").startswith("<svg")


def test_forest_has_a_row_for_every_compared_cell_in_the_studys_order():
    _, compared = frames(plan(clients=(1, 8)))
    found = texts(
        figures_ratios.forest_chart(compared[compared["metric"] == "tps"], METRICS["tps"], LOOK, "forest-tps")
    )
    labels = [
        text
        for text in found
        if any(name in text.split() for name in ("oltp", *VARIANTS)) and not {"ratio", "→"} & {*text.split()}
    ]
    assert [label.split() for label in labels] == [
        ["oltp"], ["1", "client", "pgo"], ["pgo_lto"], ["aa"], ["8", "clients", "pgo"], ["pgo_lto"], ["aa"],
    ]  # fmt: skip


def test_forest_of_too_many_ratios_shows_the_lowest_and_the_highest_and_says_so():
    _, compared = frames(plan(clients=(1, 8)))
    one = compared[(compared["metric"] == "tps") & (compared["variant"] == "pgo")].iloc[0]
    ratios = pd.Series(np.random.default_rng(3).permutation(np.linspace(0.5, 2.0, 100)))
    many = pd.DataFrame([one.to_dict() | {"workload": f"w{place}", "ratio": r} for place, r in ratios.items()])
    found = texts(figures_ratios.forest_chart(many, METRICS["tps"], LOOK, "forest-tps"))
    outer = [f"w{place}" for place in sorted([*ratios.nsmallest(30).index, *ratios.nlargest(30).index])]
    assert [text for text in found if text.startswith("w")] == outer
    assert "The 30 lowest and the 30 highest of 100 ratios" in found


def test_forest_of_single_blocks_shows_the_ratio_without_an_interval():
    _, compared = frames(plan(repetitions=1))
    chart = figures_ratios.forest_chart(compared[compared["metric"] == "tps"], METRICS["tps"], LOOK, "forest-tps")
    assert "nan" not in chart.lower()
    assert dots(chart, LOOK.colours["pgo"]) > 0


def test_forest_without_any_ratio_is_still_a_figure():
    _, compared = frames(plan())
    empty = compared[(compared["metric"] == "tps") & (compared["variant"] == "baseline")]
    assert figures_ratios.forest_chart(empty, METRICS["tps"], LOOK, "forest-tps").startswith("<svg")


@pytest.mark.parametrize(("low", "high"), [(0.97, 1.03), (0.55, 1.02), (0.9, 1.8), (0.3, 9.0), (1.3, 1.31)])
def test_ratio_ticks_are_few_and_within_the_bounds(low, high):
    ticks = figures_ratios.ratio_ticks(low, high)
    assert 2 <= len(ticks) <= 8
    assert all(low <= tick <= high for tick in ticks)
    assert (1.0 in ticks) == (low <= 1 <= high)


def test_ticks_of_ratios_do_not_overlap_beside_long_labels():
    rows = [
        ("thread_cache", 1.08, 1.071, 1.089, False),
        ("interaction of two long names of levels", 1, 0.98, 1.02, True),
    ]
    factors = pd.DataFrame(rows, columns=["factor", "ratio", "ratio_low", "ratio_high", "interaction"])
    chart = figures_ratios.factor_chart(factors, METRICS["tps"], "factors-tps")
    places = [float(x) for x in re.findall(r'x="([\d.]+)" y="[\d.]+">[\d.]+</text>', chart)]
    assert len(places) >= 2
    assert min(b - a for a, b in pairwise(places)) > 22


def test_last_number_of_an_axis_of_ratios_is_not_cut_off():
    rows = [
        ("sync_0 / binlog_off", 0.889, 0.849, 0.931, False),
        ("sync_1 / binlog_off", 0.744, 0.707, 0.783, False),
        ("sync_1000 / binlog_off", 0.929, 0.893, 0.966, False),
    ]
    factors = pd.DataFrame(rows, columns=["factor", "ratio", "ratio_low", "ratio_high", "interaction"])
    chart = figures_ratios.factor_chart(factors, METRICS["tps"], "factors-tps")
    width = float(re.search(r'viewBox="0 0 ([\d.]+)', chart)[1])
    last, text = re.findall(r'x="([\d.]+)" y="[\d.]+">([\d.]+)</text>', chart)[-1]
    half_pt = len(text) * 9.5 * 0.64 / 2  # digits of the page's font are at most 0.64 of its size wide
    assert float(last) + half_pt < width


def test_equal_data_give_equal_bytes_whatever_the_global_random_state():
    runs, _ = frames(plan())
    first = values.values_chart(runs, METRICS["tps"], LOOK, "tps-oltp")
    np.random.default_rng(1).random(5)
    assert values.values_chart(runs, METRICS["tps"], LOOK, "tps-oltp") == first


def test_two_figures_on_one_page_share_no_id():
    runs, _ = frames(plan())
    ids = [
        {element.get("id") for element in ET.fromstring(svg).iter() if element.get("id")}
        for svg in (values.values_chart(runs, METRICS[name], LOOK, f"{name}-oltp") for name in ("tps", "p95_ms"))
    ]
    assert ids[0]
    assert not ids[0] & ids[1]


def test_references_within_a_figure_lead_to_its_own_ids():
    runs, _ = frames(plan())
    root = ET.fromstring(values.values_chart(runs, METRICS["tps"], LOOK, "tps-oltp"))
    links = [element.get("{http://www.w3.org/1999/xlink}href") for element in root.iter(f"{NAMESPACE}use")]
    assert links
    assert {link[1:] for link in links} <= {element.get("id") for element in root.iter()}


def test_ink_follows_the_readers_text_colour():
    runs, _ = frames(plan())
    chart = values.values_chart(runs, METRICS["tps"], LOOK, "tps-oltp")
    assert "currentColor" in chart
    assert drawing.INK_COLOUR not in chart


def test_markup_and_mathematics_in_names_come_out_as_text():
    runs, compared = frames(plan())
    odd = 'p<i onload="x">$a_b$&'
    look = naming.look_of([odd if name == "pgo" else name for name in VARIANTS], "baseline")
    svgs = (
        values.values_chart(runs.replace({"variant": {"pgo": odd}}), METRICS["tps"], look, f"tps-{odd}"),
        figures_ratios.forest_chart(
            compared[compared["metric"] == "tps"].replace({"variant": {"pgo": odd}}), METRICS["tps"], look, f"f-{odd}"
        ),
    )
    for svg in svgs:
        assert any(odd in text for text in texts(svg))
        assert not list(ET.fromstring(svg).iter(f"{NAMESPACE}i"))
