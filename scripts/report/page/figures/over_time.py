"""The machine over time: the throughput of every run beside the mean of its cell, disturbed runs hollow."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from scripts.lib.wording import number
from scripts.report.analysis.comparison import warning_set
from scripts.report.analysis.metrics import Metric
from scripts.report.page.figures.drawing import INK_COLOUR, MOST_DOTS, STYLE, grid, note, svg, title
from scripts.report.page.figures.naming import COLOURS
from scripts.report.page.figures.ratios import RatioLocator

SIZE_IN = (8.6, 2.5)
MOST_WORKLOADS = 8  # with a colour and an entry of the legend each


def runs_over_time(runs: pd.DataFrame, metric: Metric) -> pd.DataFrame:
    """Return one row per ok run: workload, minutes since the first start, level and whether it has a warning.

    The level is the run's value over the geometric mean of its variant's runs of the same workload and clients.
    """
    ok = runs[(runs["outcome"] == "ok") & (runs[metric.name] > 0) & runs["started_at"].notna()]
    logs = np.log(ok[metric.name].astype(float))
    means = logs.groupby([ok["variant"], ok["workload"], ok["clients"]]).transform("mean")
    codes = ok["warning_codes"].astype(object).fillna("").map(warning_set)
    minutes = (ok["started_at"] - ok["started_at"].min()) / 60
    levels = ok[["workload"]].assign(minutes=minutes, level=np.exp(logs - means), disturbed=codes.map(bool))
    return levels.sort_values("minutes", kind="stable")


def machine_chart(runs: pd.DataFrame, metric: Metric, name: str) -> str:
    """Return the chart of a study's runs over time; of too many some are drawn, which a note says."""
    shown, notes = runs_over_time(runs, metric), []
    if len(shown) > MOST_DOTS:
        notes.append(f"{number(MOST_DOTS)} of {number(len(shown))} runs are drawn")
        shown = shown.iloc[np.linspace(0, len(shown) - 1, MOST_DOTS).round().astype(int)]
    with mpl.rc_context({**STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=SIZE_IN, layout="constrained")
        axes = figure.subplots()
        _dots(figure, axes, shown)
        _axes(axes, shown)
        title(figure, f"{metric.label} of every run to its cell's mean; hollow: with a warning")
        note(axes, notes)
        return svg(figure, name)


def _dots(figure: Figure, axes: Axes, shown: pd.DataFrame) -> None:
    names = list(dict.fromkeys(shown["workload"]))
    several = 1 < len(names) <= MOST_WORKLOADS
    colours = dict(zip(names, COLOURS, strict=False)) if several else dict.fromkeys(names, COLOURS[0])
    for disturbed, rows in shown.groupby("disturbed"):
        for workload, part in rows.groupby("workload", sort=False):
            style = {"facecolors": "none", "linewidth": 1.1, "edgecolors": colours[workload]} if disturbed else {}
            sns.scatterplot(
                part, x="minutes", y="level", color=colours[workload], s=26, legend=False, ax=axes,
                **(style or {"linewidth": 0}),
            )  # fmt: skip
    if several:
        handles = [mpl.lines.Line2D([], [], color=colours[name], marker="o", lw=0, ms=4.5) for name in names]
        figure.legend(handles, names, frameon=False, fontsize=8.5, loc="outside right upper", handletextpad=0.2)


def _axes(axes: Axes, shown: pd.DataFrame) -> None:
    axes.axhline(1, color=INK_COLOUR, linewidth=0.8)
    axes.set(xlabel="minutes since the first run began", ylabel="")
    axes.set_yscale("log")
    low, high = (float(edge) for edge in (shown["level"].min(), shown["level"].max())) if len(shown) else (1.0, 1.0)
    axes.set_ylim(min(low, 0.97) / 1.04, max(high, 1.03) * 1.04)
    axes.yaxis.set_major_locator(RatioLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    grid(axes, "y")
