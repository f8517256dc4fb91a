"""Figures of measured values as SVG text: curves by clients, lines by second, bars of timed SQL, fsyncs by time."""

from collections.abc import Mapping, Sequence

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from scripts.lib.vocabulary import COLD, CONTROLS, WARM
from scripts.lib.wording import NARROW, plural
from scripts.report.analysis.metrics import PANELS, Metric, Panel
from scripts.report.analysis.stats import geometric_mean, value_interval
from scripts.report.page.figures.drawing import (
    STYLE,
    WIDTH_IN,
    client_axis,
    dots,
    grid,
    label_text,
    legend,
    line_label,
    note,
    published_line,
    svg,
    thinned,
    title,
)
from scripts.report.page.figures.naming import COLOURS, Palette

MOST_SCALE = 4  # of published values to ours on one axis
MOST_SPAN = 20  # of latencies on a linear axis
SPREAD = 0.3  # of the least step between two client counts, of one doubling at most: taken by the variants
MOST_HOLES = 3  # named in a note


def values_chart(
    runs: pd.DataFrame, metric: Metric, look: Palette, name: str, published: pd.DataFrame | None = None
) -> str:
    """Return the chart of one workload: one dot per ok run, geometric means over clients with their t intervals.

    `runs` holds the workload's rows of runs.csv. Missing values are gaps, which a note names. With several client
    counts, published values (variant, clients, value) of a machine of similar speed are drawn as dashed lines.
    """
    measured = runs[(runs["outcome"] == "ok") & runs[metric.name].notna()]
    present = [variant for variant in look.variants if variant in set(measured["variant"])]
    with mpl.rc_context({**STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=(WIDTH_IN, 3.3), layout="constrained")
        axes, notes = figure.subplots(), list[str]()
        drawn = thinned(measured, metric.name, notes)
        _by_clients(axes, (measured, drawn), metric, present, look)
        _beside(axes, measured, metric, published, look.colours)
        client_axis(axes, runs["clients"].unique())
        legend(figure, axes, present)
        title(figure, _value_axis(axes, measured[metric.name], metric), next(iter(runs["workload"]), ""))
        note(axes, [*notes, *_holes(runs, measured)])
        return svg(figure, name)


def _value_axis(axes: Axes, values: pd.Series, metric: Metric) -> str:
    wide = metric.unit == "ms" and len(values) and 0 < values.min() * MOST_SPAN < values.max()
    if wide:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.set_ylim(0, axes.get_ylim()[1] * 1.04)
        axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}".replace(",", NARROW)))
    grid(axes, "y")
    return f"{metric.heading}, log scale" if wide else metric.heading


def _by_clients(axes: Axes, runs: tuple[pd.DataFrame, ...], metric: Metric, variants: list[str], look: Palette) -> None:
    measured, drawn = runs
    counts = np.array(sorted(measured["clients"].unique()))
    step = np.log2(counts[1:] / counts[:-1]).min(initial=1.0)
    below_first = sorted(variants, key=lambda name: (name not in CONTROLS, name != look.reference))
    for variant in below_first:
        shift = 2 ** (step * SPREAD * ((variants.index(variant) + 0.5) / len(variants) - 0.5))
        dots_of = drawn[drawn["variant"] == variant]
        dots(axes, dots_of["clients"].to_numpy() * shift, dots_of[metric.name].to_numpy(), look.colours[variant], 2.6)
        values = measured[measured["variant"] == variant]
        groups = [values.loc[values["clients"] == clients, metric.name] for clients in counts]
        middles = np.array([geometric_mean(group) for group in groups])
        half = np.abs(np.array([value_interval(group) for group in groups]).T - middles)
        axes.errorbar(
            counts * shift, middles, half, color=look.colours[variant], marker=look.markers[variant], ms=5, mew=0,
            lw=1.3, elinewidth=1.3, ls=":" if variant in CONTROLS else "-", label=line_label(variant),
        )  # fmt: skip


def _beside(
    axes: Axes, runs: pd.DataFrame, metric: Metric, published: pd.DataFrame | None, colours: Mapping[str, str]
) -> None:
    """Draw published values within our client counts, unless their scale differs so much that one would look flat."""
    if published is None or runs.empty:
        return
    shown = published[published["clients"].between(runs["clients"].min(), runs["clients"].max())]
    if not 1 / MOST_SCALE <= shown["value"].max() / runs[metric.name].max() <= MOST_SCALE:
        return
    for number, (variant, rows) in enumerate(shown.groupby("variant", sort=False)):
        published_line(axes, variant, number, rows["clients"], rows["value"], colours)


def _holes(runs: pd.DataFrame, measured: pd.DataFrame) -> list[str]:
    keys = ["variant", "clients"]
    planned = runs[keys].drop_duplicates()
    empty = planned[~planned.apply(tuple, axis=1).isin(set(map(tuple, measured[keys].to_numpy())))]
    if empty.empty:
        return []
    holes = [f"{name} at {plural(int(count), 'client')}" for name, count in empty.to_numpy()]
    more = [f"{len(holes) - MOST_HOLES} more"] if len(holes) > MOST_HOLES else []
    return [f"No value: {', '.join([*holes[:MOST_HOLES], *more])}"]


MOST_POINTS = 150  # of one line; more are drawn as means of as many stretches
MOST_RUNS = 3  # of one variant
TALL_IN, PANEL_IN = 1.2, 0.95


def seconds_chart(series: pd.DataFrame, samples: pd.DataFrame, look: Palette, name: str) -> str:
    """Return the figure of one workload at one client count, one line per run: TPS, then each counter that changed.

    `series` and `samples` hold the rows of series.csv and counters.csv. The first three runs of a variant are drawn.
    """
    lines = {"Transactions per second": _tps(series), **{panel.heading: _each(samples, panel) for panel in PANELS}}
    moved = {heading: values for heading, values in lines.items() if values["value"].any()}
    with mpl.rc_context({**STYLE, "svg.hashsalt": name}):
        height_in = TALL_IN + PANEL_IN * len(moved)
        figure = Figure(figsize=(WIDTH_IN, height_in), layout="constrained")
        panels = figure.subplots(max(1, len(moved)), 1, sharex=True, squeeze=False)[:, 0]
        for axes, (heading, values) in zip(panels, moved.items(), strict=False):
            _lines(axes, values, look)
            axes.set_title(heading, loc="left", fontsize=8.5)
        panels[-1].set_xlabel("seconds of the measuring call")
        drawn = set(panels[0].get_legend_handles_labels()[1])
        legend(figure, panels[0], [variant for variant in look.variants if line_label(variant) in drawn])
        title(figure, *_where(series))
        note(panels[-1], _left_out(series) if len(series) else ["No run was measured"])
        return svg(figure, name)


def _where(series: pd.DataFrame) -> tuple[str, str]:
    """Return the title, and the workload."""
    text = "Second by second"
    for row in series[:1].itertuples():
        return f"{text}, {plural(int(row.clients), 'client')}", row.workload
    return text, ""


def _tps(series: pd.DataFrame) -> pd.DataFrame:
    return series[["variant", "repetition", "second", "tps"]].rename(columns={"tps": "value"}).dropna()


def _each(samples: pd.DataFrame, panel: Panel) -> pd.DataFrame:
    runs = samples.groupby(["variant", "repetition"], sort=False)
    lines = [panel.of(samples_of_run).assign(variant=key[0], repetition=key[1]) for key, samples_of_run in runs]
    return pd.concat(lines) if lines else pd.DataFrame(columns=["variant", "repetition", "second", "value"])


def _lines(axes: Axes, values: pd.DataFrame, look: Palette) -> None:
    for variant, rows in values.groupby("variant", sort=False):
        first = sorted(rows["repetition"].unique())[:MOST_RUNS]
        for number, repetition in enumerate(first):
            line = thinned_series(rows[rows["repetition"] == repetition])
            label = line_label(variant) if number == 0 else "_"
            axes.plot(
                line["second"], line["value"], color=look.colours[variant], linewidth=1.0, alpha=0.85, label=label
            )
    axes.set_ylim(0, 1.1 * max(np.max(np.asarray(line.get_ydata())) for line in axes.lines))
    axes.yaxis.set_major_locator(MaxNLocator(3))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}".replace(",", NARROW)))
    axes.tick_params(labelsize=8.5)
    grid(axes, "y")


def thinned_series(line: pd.DataFrame) -> pd.DataFrame:
    """Return `second` and `value` of a line; more than MOST_POINTS points are averaged over as many stretches."""
    if len(line) <= MOST_POINTS:
        return line[["second", "value"]].sort_values("second")
    stretch = pd.cut(line["second"], MOST_POINTS, labels=False)
    return line.groupby(stretch)[["second", "value"]].mean()


def _left_out(series: pd.DataFrame) -> list[str]:
    runs = series.groupby("variant")["repetition"].nunique().max()
    return [f"The first {MOST_RUNS} of up to {plural(int(runs), 'repetition')} are drawn"] if runs > MOST_RUNS else []


STATEMENTS_WIDTH_IN = 7.4
# Statements beyond the colours get them again, hatched.
HATCHES = ("", "////", "....", "xxxx")
BAR_WIDTH, GROUP_GAP = 0.74, 0.9


def statements_chart(rows: pd.DataFrame, variants: Sequence[str], name: str) -> str:
    """Return the chart of one workload from its rows of statements.csv; what was not measured has no bar."""
    bars = [(cache, variant) for cache in (COLD, WARM) for variant in variants]
    table = rows.set_index(["cache", "variant", "statement"])["value_s"]
    bars = [bar for bar in bars if bar in table.index.droplevel("statement")]
    with mpl.rc_context({**STYLE, "svg.hashsalt": name, "hatch.linewidth": 0.5}):
        figure = Figure(figsize=(STATEMENTS_WIDTH_IN, 1.5 + 0.27 * len(bars)), layout="constrained")
        axes = figure.subplots()
        places = [y + (GROUP_GAP if cache == WARM else 0) for y, (cache, _) in enumerate(bars)]
        for number, statement in enumerate(dict.fromkeys(rows["statement"])):
            _pieces(axes, table, bars, places, number, statement)
        _labels(axes, bars, places)
        title(figure, "Seconds of the statements", next(iter(rows["workload"]), ""))
        if bars:
            figure.legend(
                loc="outside lower center", ncols=3, frameon=False, fontsize=8.5, handlelength=1.1, columnspacing=1.3
            )
        return svg(figure, name)


def _pieces(
    axes: Axes, table: pd.Series, bars: list[tuple[str, str]], places: list[float], number: int, statement: str
) -> None:
    """Draw the piece of a statement in every bar, to the right of the statements before it."""
    widths = [table.get((*bar, statement), 0.0) for bar in bars]
    starts = [patch.get_x() + patch.get_width() for patch in axes.containers[-1]] if axes.containers else 0.0
    hatch = HATCHES[number // len(COLOURS) % len(HATCHES)]
    axes.barh(
        places, widths, left=starts, label=label_text(statement), color=COLOURS[number % len(COLOURS)], linewidth=0,
        height=BAR_WIDTH, hatch=hatch,
    )  # fmt: skip


def _labels(axes: Axes, bars: list[tuple[str, str]], places: list[float]) -> None:
    axes.set_yticks(places, [f"{label_text(variant)}, {cache}" for cache, variant in bars], fontsize=8.5)
    axes.set_ylim(max(places, default=0) + 0.6, -0.6)
    axes.xaxis.set_major_locator(MaxNLocator(8))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}".replace(",", NARROW)))
    axes.set_xlabel("s")
    grid(axes, "x")


def draw_sync_chart(durations: dict[str, dict[str, list[int]]], look: Palette, name: str) -> str:
    """Return the chart of the share of calls done by a time; `durations` has `duration_us` and `count` by variant."""
    with mpl.rc_context({**STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=(WIDTH_IN, 2.7), layout="constrained")
        axes = figure.subplots()
        for variant, counts in durations.items():
            shares = np.cumsum(counts["count"]) / sum(counts["count"])
            values_ms = np.array(counts["duration_us"]) / 1000
            axes.step(values_ms, shares, where="post", color=look.colours[variant], linewidth=1.3, label=variant)
        axes.set_xscale("log")
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("ms")
        axes.xaxis.set_major_locator(LogLocator())
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value * 100:.0f} %"))
        grid(axes, "y")
        figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=8.5, handlelength=1.4)
        title(figure, "Share of waits for the disk done by a time")
        return svg(figure, name)
