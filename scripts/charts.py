"""Figures of values as SVG text: one workload's runs against clients or by variant."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from scripts.comparison import AA
from scripts.drawing import PUBLISHED, STYLE, Look, client_axis, grid, svg
from scripts.metrics import Metric
from scripts.stats import geometric_mean, value_interval
from scripts.wording import NARROW

MOST_SCALE = 4  # of published values to ours on one axis
MOST_LETTERS = 40  # in one line under a figure


def _plain(value: float, _: int = 0) -> str:
    return f"{value:,g}".replace(",", NARROW)


def values_chart(
    runs: pd.DataFrame, metric: Metric, look: Look, name: str, published: pd.DataFrame | None = None
) -> str:
    """Return the chart of one workload: every ok run a dot, geometric means with their t intervals.

    `runs` holds the workload's rows of runs.csv. With one client count the variants stand side by side; with several,
    published values (variant, clients, value) of a machine of like speed are drawn as grey lines.
    """
    measured = runs[(runs["outcome"] == "ok") & runs[metric.name].notna()]
    present = [variant for variant in look.variants if variant in set(measured["variant"])]
    with mpl.rc_context({**STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=(4.7, 2.9), layout="constrained")
        axes = figure.subplots()
        draw = _by_variant if runs["clients"].nunique() < 2 else _by_clients
        if present:
            if draw is _by_clients and published is not None:
                _beside(axes, measured, metric, published)
            draw(axes, measured, metric, present, look)
        axes.set_ylim(0, axes.get_ylim()[1] * 1.04)
        axes.yaxis.set_major_locator(MaxNLocator(5))
        axes.yaxis.set_major_formatter(FuncFormatter(_plain))
        axes.set_ylabel("")
        axes.set_title(metric.heading, loc="left", fontsize=10)
        grid(axes, "y")
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
    if sum(map(len, variants)) > MOST_LETTERS:
        axes.tick_params("x", labelrotation=35)
        for label in axes.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")
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
    client_axis(axes, runs["clients"].unique())
    handles = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    told = [*variants, *(name for name in handles if name.startswith("published "))]
    axes.legend([handles[name] for name in told], told, frameon=False, fontsize=8.5, handlelength=1.4)


def _beside(axes: Axes, runs: pd.DataFrame, metric: Metric, published: pd.DataFrame) -> None:
    """Draw published values within our client counts, unless another machine's scale would flatten theirs or ours."""
    shown = published[published["clients"].between(runs["clients"].min(), runs["clients"].max())]
    scale = shown["value"].max() / runs[metric.name].max()
    if not 1 / MOST_SCALE <= scale <= MOST_SCALE:
        return
    for place, (variant, rows) in enumerate(shown.groupby("variant", sort=False)):
        style = {"dashes": (4, 1 + 2 * place), "label": f"published {variant}"}
        axes.plot(rows["clients"], rows["value"], **PUBLISHED, **style)
