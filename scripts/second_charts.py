"""Figures of runs second by second, as SVG text: transactions, and on the same axis what the server counted."""

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from scripts.charts import legend
from scripts.counters import PANELS, Panel
from scripts.drawing import STYLE, WIDTH_IN, Look, grid, note, svg, title
from scripts.wording import NARROW, plural

MOST_POINTS = 150  # of one line; more are drawn as means of as many stretches
MOST_RUNS = 3  # of one variant
TALL_IN, PANEL_IN = 1.2, 0.95


def seconds_chart(series: pd.DataFrame, samples: pd.DataFrame, look: Look, name: str) -> str:
    """Return the figure of one workload at one client count, a line a run: TPS, then each counter that ever moved.

    `series` and `samples` hold the rows of series.csv and counters.csv. Of a variant's runs the first three are drawn.
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
        legend(figure, panels[0], [variant for variant in look.variants if variant in drawn])
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
    found = [panel.of(own).assign(variant=key[0], repetition=key[1]) for key, own in runs]
    return pd.concat(found) if found else pd.DataFrame(columns=["variant", "repetition", "second", "value"])


def _lines(axes: Axes, values: pd.DataFrame, look: Look) -> None:
    for variant, own in values.groupby("variant", sort=False):
        first = sorted(own["repetition"].unique())[:MOST_RUNS]
        for place, repetition in enumerate(first):
            line = thinned(own[own["repetition"] == repetition])
            style = {"color": look.colours[variant], "linewidth": 1.0, "alpha": 0.85}
            axes.plot(line["second"], line["value"], **style, label=variant if place == 0 else "_")
    axes.set_ylim(0, 1.1 * max(line.get_ydata().max() for line in axes.lines))
    axes.yaxis.set_major_locator(MaxNLocator(3))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}".replace(",", NARROW)))
    axes.tick_params(labelsize=8.5)
    grid(axes, "y")


def thinned(line: pd.DataFrame) -> pd.DataFrame:
    """Return `second` and `value` of a line, of more than MOST_POINTS points the means of as many stretches."""
    if len(line) <= MOST_POINTS:
        return line[["second", "value"]].sort_values("second")
    stretch = pd.cut(line["second"], MOST_POINTS, labels=False)
    return line.groupby(stretch)[["second", "value"]].mean()


def _left_out(series: pd.DataFrame) -> list[str]:
    runs = series.groupby("variant")["repetition"].nunique().max()
    return [f"The first {MOST_RUNS} of up to {plural(int(runs), 'repetition')} are drawn"] if runs > MOST_RUNS else []
