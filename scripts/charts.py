"""Figures of the report as SVG text: values against clients or by variant, and ratios with their intervals."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from scripts.comparison import AA
from scripts.drawing import INK, STYLE, Look, svg
from scripts.metrics import Metric
from scripts.stats import geometric_mean, value_interval
from scripts.wording import NARROW, plural


def _plain(value: float, _: int = 0) -> str:
    return f"{value:,g}".replace(",", NARROW)


def _grid(axes: Axes, axis: str) -> None:
    axes.grid(axis=axis, color=INK, alpha=0.13, linewidth=0.6)
    axes.tick_params(length=3 if axis == "y" else 0)


def values_chart(runs: pd.DataFrame, metric: Metric, look: Look, name: str) -> str:
    """Return the chart of one workload: every ok run a dot, geometric means with their t intervals.

    `runs` holds the workload's rows of runs.csv. With one client count the variants stand side by side.
    """
    measured = runs[(runs["outcome"] == "ok") & runs[metric.name].notna()]
    present = [variant for variant in look.variants if variant in set(measured["variant"])]
    with mpl.rc_context({**STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=(4.7, 2.9), layout="constrained")
        axes = figure.subplots()
        draw = _by_variant if runs["clients"].nunique() < 2 else _by_clients
        if present:
            draw(axes, measured, metric, present, look)
        axes.set_ylim(0, axes.get_ylim()[1] * 1.04)
        axes.yaxis.set_major_locator(MaxNLocator(5))
        axes.yaxis.set_major_formatter(FuncFormatter(_plain))
        axes.set_ylabel("")
        axes.set_title(metric.heading, loc="left", fontsize=10)
        _grid(axes, "y")
        return svg(figure, name)


def _by_variant(axes: Axes, runs: pd.DataFrame, metric: Metric, variants: list[str], look: Look) -> None:
    order = {"order": variants, "x": "variant", "y": metric.name, "ax": axes, "legend": False}
    # strip plot jitter comes from numpy's global state, so that equal data would give unequal files
    sns.stripplot(runs, **order, hue="variant", palette=look.colours, alpha=0.4, size=3.6, jitter=False)
    for place, variant in enumerate(variants):
        chosen = runs.loc[runs["variant"] == variant, metric.name]
        middle, (low, high) = geometric_mean(chosen), value_interval(chosen)
        shown = [[middle - low], [high - middle]] if np.isfinite([low, high]).all() else None
        style = {"color": look.colours[variant], "marker": look.markers[variant], "ms": 5.5, "capsize": 0, "lw": 1.4}
        axes.errorbar(place + 0.14, middle, shown, **style)
    axes.set_xlim(-0.5, len(variants) - 0.5)
    axes.set_xlabel("")


def _by_clients(axes: Axes, runs: pd.DataFrame, metric: Metric, variants: list[str], look: Look) -> None:
    below_first = sorted(variants, key=lambda name: (name != AA, name != look.reference))
    shared = {"x": "clients", "y": metric.name, "hue": "variant", "hue_order": below_first, "ax": axes}
    shared |= {"palette": look.colours}
    styled = {"style": "variant", "style_order": below_first, "markers": look.markers, "dashes": False}
    sns.scatterplot(runs, **shared, alpha=0.35, s=9, linewidth=0, legend=False)
    sns.lineplot(
        runs, **shared, **styled, estimator=geometric_mean, errorbar=value_interval, err_style="bars",
        linewidth=1.4, markersize=5, markeredgewidth=0, err_kws={"linewidth": 1.1},
    )  # fmt: skip
    axes.set_xscale("log", base=2)
    clients = sorted(runs["clients"].unique())
    axes.xaxis.set_major_locator(FixedLocator(clients))
    axes.xaxis.set_major_formatter(FixedFormatter([str(int(number)) for number in clients]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("clients")
    handles = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    axes.legend([handles[name] for name in variants], variants, frameon=False, fontsize=8.5, handlelength=1.4)


def forest_chart(cells: pd.DataFrame, metric: Metric, look: Look, name: str) -> str:
    """Return the chart of ratios: one row a cell and variant, t interval, and the noise floor as a band around 1.

    `cells` holds the rows of cells.csv of one metric, in the order to show.
    """
    shown = cells[cells["ratio"].notna()].reset_index(drop=True)
    with mpl.rc_context({**STYLE, "svg.hashsalt": name}):
        rows = max(len(shown) + shown["workload"].nunique(), 1)
        figure = Figure(figsize=(4.7, 0.75 + 0.2 * rows), layout="constrained")
        axes = figure.subplots()
        floor = shown["floor_log_ratio"].max() if len(shown) else np.nan
        if np.isfinite(floor):
            axes.axvspan(np.exp(-floor), np.exp(floor), color=INK, alpha=0.08, linewidth=0)
        axes.axvline(1, color=INK, linewidth=0.8)
        _forest_rows(axes, shown, look)
        _ratio_axis(axes, shown)
        axes.set_title(f"{metric.label}, ratio to {look.reference}", loc="left", fontsize=10)
        return svg(figure, name)


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
    _grid(axes, "x")


def ratio_ticks(low: float, high: float) -> list[float]:
    """Return three to eight round ratios within the bounds, 1 among them when it lies within."""
    for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0):
        first, last = int(np.ceil(round((low - 1) / step, 6))), int(np.floor(round((high - 1) / step, 6)))
        if last - first < 8:
            return [round(1 + place * step, 6) for place in range(first, last + 1)]
    return [1.0]
