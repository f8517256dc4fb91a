"""The chart of fsync times: the share of calls done by a time, per variant."""

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from scripts.report.figures.drawing import STYLE, WIDTH_IN, grid, svg, title
from scripts.report.figures.naming import Look


def draw_sync_chart(durations: dict[str, dict[str, list[int]]], look: Look, name: str) -> str:
    """Return the chart of the share of calls done by a time; `durations` has `duration_us` and `count` by variant."""
    with mpl.rc_context({**STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=(WIDTH_IN, 2.7), layout="constrained")
        axes = figure.subplots()
        for variant, found in durations.items():
            shares = np.cumsum(found["count"]) / sum(found["count"])
            values_ms = np.array(found["duration_us"]) / 1000
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
