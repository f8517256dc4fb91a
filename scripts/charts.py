"""Figures of values as SVG text: one workload's runs by variant, or curves of them against clients."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from scripts.comparison import AA
from scripts.drawing import PUBLISHED, STYLE, WIDTH_IN, Look, client_axis, dots, grid, note, svg, thinned, title
from scripts.metrics import Metric
from scripts.stats import geometric_mean, value_interval
from scripts.wording import NARROW, plural

MOST_SCALE = 4  # of published values to ours on one axis
MOST_SPAN = 20  # of latencies on a linear axis
MOST_LETTERS = 40  # in one line under a figure
LEGEND_LETTERS = 58  # in one line of a legend, each entry's line and marker counted as six
SPREAD = 0.3  # of the least step between two client counts, of one doubling at most: taken by the variants
MOST_HOLES = 3  # named in a note


def values_chart(
    runs: pd.DataFrame, metric: Metric, look: Look, name: str, published: pd.DataFrame | None = None
) -> str:
    """Return the chart of one workload: every ok run a dot, geometric means with their t intervals.

    `runs` holds the workload's rows of runs.csv; what has no value is a gap, and named. With several client counts,
    published values (variant, clients, value) of a machine of like speed are drawn as grey lines.
    """
    measured = runs[(runs["outcome"] == "ok") & runs[metric.name].notna()]
    present = [variant for variant in look.variants if variant in set(measured["variant"])]
    curves = runs["clients"].nunique() > 1
    with mpl.rc_context({**STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=(WIDTH_IN, 3.3 if curves else 2.9), layout="constrained")
        axes, notes = figure.subplots(), []
        drawn = thinned(measured, metric.name, notes)
        if curves:
            _by_clients(axes, (measured, drawn), metric, present, look)
            _beside(axes, measured, metric, published)
            client_axis(axes, runs["clients"].unique())
            legend(figure, axes, present)
        else:
            _by_variant(axes, (measured, drawn), metric, present, look)
        title(figure, _value_axis(axes, measured[metric.name], metric), next(iter(runs["workload"]), ""))
        note(axes, [*notes, *_holes(runs, measured, curves)])
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


def _by_variant(axes: Axes, runs: tuple[pd.DataFrame, ...], metric: Metric, variants: list[str], look: Look) -> None:
    measured, drawn = runs
    for place, variant in enumerate(variants):
        values = drawn.loc[drawn["variant"] == variant, metric.name].to_numpy()
        dots(axes, np.full(len(values), place - 0.14), values, look.colours[variant])
    if variants:
        shared = {"x": "variant", "y": metric.name, "hue": "variant", "order": variants, "hue_order": variants}
        sns.pointplot(
            measured, **shared, palette=look.colours, markers=[look.markers[name] for name in variants],
            estimator=geometric_mean, errorbar=value_interval, linestyle="none", markersize=5.5, markeredgewidth=0,
            err_kws={"linewidth": 1.3}, legend=False, ax=axes,
        )  # fmt: skip
    axes.set(xlabel="", ylabel="")
    if sum(map(len, variants)) > MOST_LETTERS:
        axes.tick_params("x", labelrotation=35)
        for label in axes.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")


def _by_clients(axes: Axes, runs: tuple[pd.DataFrame, ...], metric: Metric, variants: list[str], look: Look) -> None:
    measured, drawn = runs
    counts = np.array(sorted(measured["clients"].unique()))
    step = np.log2(counts[1:] / counts[:-1]).min(initial=1.0)
    below_first = sorted(variants, key=lambda name: (name != AA, name != look.reference))
    for variant in below_first:
        beside = 2 ** (step * SPREAD * ((variants.index(variant) + 0.5) / len(variants) - 0.5))
        own = drawn[drawn["variant"] == variant]
        dots(axes, own["clients"].to_numpy() * beside, own[metric.name].to_numpy(), look.colours[variant], 2.6)
        values = measured[measured["variant"] == variant]
        groups = [values.loc[values["clients"] == clients, metric.name] for clients in counts]
        middles = np.array([geometric_mean(group) for group in groups])
        half = np.abs(np.array([value_interval(group) for group in groups]).T - middles)
        style = {"color": look.colours[variant], "marker": look.markers[variant], "ms": 5, "mew": 0, "lw": 1.3}
        axes.errorbar(
            counts * beside, middles, half, **style, elinewidth=1.3, ls=":" if variant == AA else "-", label=variant
        )


def _beside(axes: Axes, runs: pd.DataFrame, metric: Metric, published: pd.DataFrame | None) -> None:
    """Draw published values within our client counts, unless another machine's scale would flatten theirs or ours."""
    if published is None or runs.empty:
        return
    shown = published[published["clients"].between(runs["clients"].min(), runs["clients"].max())]
    if not 1 / MOST_SCALE <= shown["value"].max() / runs[metric.name].max() <= MOST_SCALE:
        return
    for place, (variant, rows) in enumerate(shown.groupby("variant", sort=False)):
        style = {"dashes": (4, 1 + 2 * place), "label": f"published {variant}"}
        axes.plot(rows["clients"], rows["value"], **PUBLISHED, **style)


def legend(figure: Figure, axes: Axes, variants: list[str]) -> None:
    """Name the lines of `axes` below a figure, those of `variants` first, then published ones."""
    handles = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    told = [*variants, *(name for name in handles if name.startswith("published "))]
    if told:
        lines = -(-len(told) // max(1, LEGEND_LETTERS // (max(map(len, told)) + 6)))
        style = {"frameon": False, "fontsize": 8.5, "handlelength": 1.4, "columnspacing": 1.2}
        figure.legend(
            [handles[name] for name in told], told, loc="outside lower center", ncols=-(-len(told) // lines), **style
        )


def _holes(runs: pd.DataFrame, measured: pd.DataFrame, curves: bool) -> list[str]:
    keys = ["variant", "clients"]
    planned = runs[keys].drop_duplicates()
    empty = planned[~planned.apply(tuple, axis=1).isin(set(map(tuple, measured[keys].to_numpy())))]
    if empty.empty:
        return []
    each = [f"{name} at {plural(int(count), 'client')}" if curves else name for name, count in empty.to_numpy()]
    more = [f"{len(each) - MOST_HOLES} more"] if len(each) > MOST_HOLES else []
    return [f"No value: {', '.join([*each[:MOST_HOLES], *more])}"]
