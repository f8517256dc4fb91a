"""Figures of ratios as SVG text: cells, factors, and published ratios beside ours, with intervals and noise floor."""

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from scripts.comparison import AA
from scripts.drawing import PUBLISHED, STYLE, WIDTH_IN, Look, client_axis, grid, note, svg, title
from scripts.metrics import Metric
from scripts.svg_text import INK
from scripts.wording import number, plural

INTERACTION = "#8a8f98"
MOST_ROWS = 60


def forest_chart(cells: pd.DataFrame, metric: Metric, look: Look, name: str) -> str:
    """Return the chart of ratios: one row a cell and variant, t interval, and the noise floor as a band around 1.

    `cells` holds the rows of cells.csv of one metric, in the order to show. Of more than MOST_ROWS ratios only the
    lowest and the highest have a row, and the figure says so.
    """
    every = cells[cells["ratio"].notna()]
    shown = every if len(every) <= MOST_ROWS else _extremes(every)
    with mpl.rc_context({**STYLE, "svg.hashsalt": name}):
        rows = max(len(shown) + shown["workload"].nunique(), 1)
        figure = Figure(figsize=(WIDTH_IN, 0.75 + 0.2 * rows), layout="constrained")
        axes = figure.subplots()
        _floor_band(axes, shown)
        _forest_rows(axes, shown, look)
        _ratio_axis(axes, shown)
        title(figure, f"{metric.label}, ratio to {look.reference}")
        if shown is not every:
            half = number(MOST_ROWS // 2)
            note(axes, [f"The {half} lowest and the {half} highest of {number(len(every))} ratios"])
        return svg(figure, name)


def _extremes(cells: pd.DataFrame) -> pd.DataFrame:
    ranks = cells["ratio"].rank(method="first")
    return cells[(ranks <= MOST_ROWS // 2) | (ranks > len(cells) - MOST_ROWS // 2)]


def _floor_band(axes: Axes, shown: pd.DataFrame) -> None:
    floor = shown["floor_log_ratio"].max() if len(shown) else np.nan
    if np.isfinite(floor):
        axes.axvspan(np.exp(-floor), np.exp(floor), color=INK, alpha=0.08, linewidth=0)
    axes.axvline(1, color=INK, linewidth=0.8)


def _forest_rows(axes: Axes, shown: pd.DataFrame, look: Look) -> None:
    several = shown["clients"].nunique() > 1
    place, labels, before = -1, [], (None, None)
    for cell in shown.itertuples():
        if cell.workload != before[0]:
            place += 1
            labels.append((place, cell.workload, "bold"))
        place += 1
        colour = look.colours[cell.variant]
        if np.isfinite([cell.ratio_low, cell.ratio_high]).all():
            axes.plot((cell.ratio_low, cell.ratio_high), (place, place), color=colour, linewidth=1.4)
        axes.plot(cell.ratio, place, look.markers[cell.variant], color=colour, markersize=5)
        first = several and (cell.workload, cell.clients) != before
        labels.append(
            (place, f"{plural(int(cell.clients), 'client')}   {cell.variant}" if first else cell.variant, "normal")
        )
        before = (cell.workload, cell.clients)
    axes.set_yticks([place for place, _, _ in labels], [text for _, text, _ in labels], fontsize=8.5)
    for tick, (_, _, weight) in zip(axes.get_yticklabels(), labels, strict=True):
        tick.set_fontweight(weight)
    axes.set_ylim(place + 0.6, -0.6)


def _ratio_axis(axes: Axes, shown: pd.DataFrame) -> None:
    axes.set_xscale("log")
    low, high = shown[["ratio_low", "ratio"]].min(axis=None), shown[["ratio_high", "ratio"]].max(axis=None)
    if np.isfinite([low, high]).all():
        axes.set_xlim(min(low, 0.97) / 1.02, max(high, 1.03) * 1.02)
    axes.xaxis.set_major_locator(FixedLocator(ratio_ticks(*axes.get_xlim())))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    grid(axes, "x")


def ratio_ticks(low: float, high: float) -> list[float]:
    """Return three to eight round ratios within the bounds, 1 among them when it lies within."""
    for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0):
        first, last = int(np.ceil(round((low - 1) / step, 6))), int(np.floor(round((high - 1) / step, 6)))
        if last - first < 8:
            return [round(1 + place * step, 6) for place in range(first, last + 1)]
    return [1.0]


def factor_chart(factors: pd.DataFrame, metric: Metric, name: str) -> str:
    """Return the chart of factors: one row a factor, t interval over repetitions, noise floor as a band around 1.

    `factors` holds the rows of factors.csv, or of effects.csv, of one metric, in the order to show.
    """
    shown = factors[factors["ratio"].notna()].reset_index(drop=True)
    with mpl.rc_context({**STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=(WIDTH_IN, 0.75 + 0.26 * max(len(shown), 1)), layout="constrained")
        axes = figure.subplots()
        _floor_band(axes, shown)
        for place, row in enumerate(shown.itertuples()):
            colour = INTERACTION if row.factor.startswith("interaction") else INK
            if np.isfinite([row.ratio_low, row.ratio_high]).all():
                axes.plot((row.ratio_low, row.ratio_high), (place, place), color=colour, linewidth=1.4)
            axes.plot(row.ratio, place, "o", color=colour, markersize=5)
        axes.set_yticks(range(len(shown)), shown["factor"], fontsize=8.5)
        axes.set_ylim(len(shown) - 0.4, -0.6)
        _ratio_axis(axes, shown)
        title(figure, f"{metric.label}, ratio")
        return svg(figure, name)


def published_chart(cells: pd.DataFrame, published: pd.DataFrame, metric: Metric, look: Look, name: str) -> str:
    """Return the chart of one workload's ratios against clients, ours with t intervals, published ones in grey.

    `cells` holds the workload's rows of cells.csv of one metric, `published` variant, clients and ratio.
    """
    shown = cells[cells["ratio"].notna() & (cells["variant"] != AA)]
    within = published[published["clients"].between(shown["clients"].min(), shown["clients"].max())]
    with mpl.rc_context({**STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=(WIDTH_IN, 2.9), layout="constrained")
        axes = figure.subplots()
        axes.axhline(1, color=INK, linewidth=0.8)
        for variant, rows in within.groupby("variant", sort=False):
            axes.plot(rows["clients"], rows["ratio"], **PUBLISHED, label=f"published {variant}")
        for variant in (each for each in look.variants if each in set(shown["variant"])):
            rows = shown[shown["variant"] == variant].sort_values("clients")
            half = np.abs(rows[["ratio_low", "ratio_high"]].to_numpy().T - rows["ratio"].to_numpy())
            style = {"color": look.colours[variant], "marker": look.markers[variant], "ms": 5, "lw": 1.4}
            axes.errorbar(rows["clients"], rows["ratio"], half, **style, elinewidth=1.1, mew=0, label=variant)
        title(figure, f"{metric.label}, ratio to {look.reference}", next(iter(cells["workload"]), ""))
        grid(axes, "y")
        if len(shown):
            client_axis(axes, shown["clients"].unique())
            figure.legend(frameon=False, fontsize=8.5, handlelength=1.4, loc="outside lower center", ncols=3)
        return svg(figure, name)
