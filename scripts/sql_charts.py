"""Figures of timed SQL as SVG text: a bar for each variant, cold and warm, in pieces for the statements."""

from collections.abc import Sequence

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from scripts.drawing import COLOURS, STYLE, brief, grid, svg, title
from scripts.sql_times import COLD, WARM
from scripts.wording import NARROW

WIDTH_IN = 7.4
# Statements beyond the colours get them again, hatched.
HATCHES = ("", "////", "....", "xxxx")
BAR, GROUP_GAP = 0.74, 0.9


def statements_chart(rows: pd.DataFrame, variants: Sequence[str], name: str) -> str:
    """Return the chart of one workload; `rows` are its rows of statements.csv. What was not measured has no bar."""
    bars = [(cache, variant) for cache in (COLD, WARM) for variant in variants]
    table = rows.set_index(["cache", "variant", "statement"])["value_s"]
    bars = [bar for bar in bars if bar in table.index.droplevel("statement")]
    with mpl.rc_context({**STYLE, "svg.hashsalt": name, "hatch.linewidth": 0.5}):
        figure = Figure(figsize=(WIDTH_IN, 1.5 + 0.27 * len(bars)), layout="constrained")
        axes = figure.subplots()
        places = [place + (GROUP_GAP if cache == WARM else 0) for place, (cache, _) in enumerate(bars)]
        for number, statement in enumerate(dict.fromkeys(rows["statement"])):
            _pieces(axes, table, bars, places, number, statement)
        _labels(axes, bars, places)
        title(figure, "Seconds of the statements", next(iter(rows["workload"]), ""))
        if bars:
            style = {"frameon": False, "fontsize": 8.5, "handlelength": 1.1, "columnspacing": 1.3}
            figure.legend(loc="outside lower center", ncols=3, **style)
        return svg(figure, name)


def _pieces(
    axes: Axes, table: pd.Series, bars: list[tuple[str, str]], places: list[float], number: int, statement: str
) -> None:
    """Draw a statement's piece of every bar, behind the pieces of those before it."""
    widths = [table.get((*bar, statement), 0.0) for bar in bars]
    starts = [patch.get_x() + patch.get_width() for patch in axes.containers[-1]] if axes.containers else 0.0
    hatch = HATCHES[number // len(COLOURS) % len(HATCHES)]
    style = {"color": COLOURS[number % len(COLOURS)], "linewidth": 0, "height": BAR, "hatch": hatch}
    axes.barh(places, widths, left=starts, label=brief(statement), **style)


def _labels(axes: Axes, bars: list[tuple[str, str]], places: list[float]) -> None:
    axes.set_yticks(places, [f"{brief(variant)}, {cache}" for cache, variant in bars], fontsize=8.5)
    axes.set_ylim(max(places, default=0) + 0.6, -0.6)
    axes.xaxis.set_major_locator(MaxNLocator(8))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}".replace(",", NARROW)))
    axes.set_xlabel("s")
    grid(axes, "x")
