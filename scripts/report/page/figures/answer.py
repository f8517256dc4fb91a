"""The figure of the first screen: the ratio of every arm with its interval, and columns of figures on the same rows."""

from collections.abc import Iterator
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from scripts.lib.vocabulary import RELINKED, Verdict
from scripts.lib.wording import shortened
from scripts.report.analysis.metrics import Metric
from scripts.report.page.figures.drawing import INK_COLOUR, STYLE, grid, svg
from scripts.report.page.figures.naming import Palette
from scripts.report.page.figures.ratios import RatioLocator, direction
from scripts.report.page.results import AGAIN, ResultRow, Results, Span
from scripts.report.page.study_answer import BAD, GOOD, QUIET, ShownRatio

MOST_LINES, MOST_IN_ALL = 6, 30  # cells of an arm, and of all, with a line each; more are marks on one line per arm
CELL_SIZE = 8.5
WIDTH, BOLD_WIDTH = 0.62, 0.68  # of a letter, of the size of its font
PITCH_IN, CELL_IN, BETWEEN_IN = 0.24, 0.127, 0.09
BEYOND = 1.3  # how far intervals may reach beyond the outermost ratio before they are cut


@dataclass(frozen=True)
class Layout:
    """Sizes of a figure: inches, letters of a label, font sizes in points; `columns` is where the first one begins."""

    width_in: float
    label_in: float
    plot_in: float
    letters: int
    size: float
    small: float
    stacked: bool


WIDE = Layout(width_in=12.2, label_in=2.2, plot_in=4.7, letters=30, size=12, small=10, stacked=False)
NARROW = Layout(width_in=4.7, label_in=1.35, plot_in=3.2, letters=40, size=10.5, small=9, stacked=True)


@dataclass(frozen=True)
class Placed:
    """A row with the places of its mean and of its cells, in inches below the top of the plot."""

    row: ResultRow
    top_in: float
    mean_in: float
    cells_in: tuple[float, ...]
    end_in: float

    @property
    def apart(self) -> bool:
        """Whether each cell has a line of its own."""
        return len(set(self.cells_in)) == len(self.cells_in)


def answer_chart(results: Results, look: Palette, layout: Layout, name: str) -> str:
    """Return the figure of all rows as an <svg> element; a narrow one has the columns below the names."""
    placed = list(_placed(results, layout))
    plot_in = placed[-1].end_in if placed else PITCH_IN
    top_in, below_in = (0.3 if layout.stacked else 0.46), 0.58
    height_in = top_in + plot_in + below_in
    with mpl.rc_context({**STYLE, "font.size": layout.small, "svg.hashsalt": name}):
        figure = Figure(figsize=(layout.width_in, height_in))
        left_edge, width = layout.label_in / layout.width_in, layout.plot_in / layout.width_in
        axes = figure.add_axes((left_edge, below_in / height_in, width, plot_in / height_in))
        axes.set_ylim(plot_in, 0)
        _scale(axes, results)
        _lines(axes, placed, layout)
        _marks(axes, placed, look)
        _names(axes, placed, layout)
        _direction(axes, results, layout)
        _columns(axes, results, placed, layout)
        return svg(figure, name)


def _placed(results: Results, layout: Layout) -> Iterator[Placed]:
    at, most = 0.0, MOST_LINES if sum(len(row.cells) for row in results.rows) <= MOST_IN_ALL else 1
    for row in results.rows:
        head = PITCH_IN * 1.9 if layout.stacked else 0.0
        mean = at + head + PITCH_IN / 2
        several = len(row.cells) > 1 or row.variant == RELINKED
        lines = (len(row.cells) if len(row.cells) <= most else 1) if several else 0
        cells = tuple(mean + PITCH_IN / 2 + CELL_IN * (min(line, lines - 1) + 0.5) for line in range(len(row.cells)))
        end = mean + PITCH_IN / 2 + CELL_IN * lines + BETWEEN_IN
        yield Placed(row, at, mean, cells if several else (), end)
        at = end


def _spans(results: Results) -> list[Span]:
    return [span for row in results.rows for span in (row.mean, *row.cells) if span]


def _scale(axes: Axes, results: Results) -> None:
    """Set a logarithmic axis that shows every ratio, 1, and the intervals as far as BEYOND from the outermost ratio."""
    spans = _spans(results)
    ratios = [1.0, *(span.ratio for span in spans if span.ratio)]
    bounds = [edge for span in spans for edge in (span.low, span.high) if np.isfinite(edge)]
    low, high = max(min([*ratios, *bounds]), min(ratios) / BEYOND), min(max([*ratios, *bounds]), max(ratios) * BEYOND)
    axes.set_xscale("log")
    axes.set_xlim(min(low, 0.97) / 1.02, max(high, 1.03) * 1.02)
    axes.xaxis.set_major_locator(RatioLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.tick_params(length=0)


def _lines(axes: Axes, placed: list[Placed], layout: Layout) -> None:
    """Draw the line at 1 and faint ones at the ticks, in a narrow figure only beside the marks."""
    if not layout.stacked:
        grid(axes, "x")
        axes.axvline(1, color=INK_COLOUR, linewidth=0.9)
        return
    for arm in placed:
        ends = (arm.mean_in - PITCH_IN / 2, arm.end_in - BETWEEN_IN / 2)
        axes.vlines(axes.get_xticks(), *ends, color=INK_COLOUR, alpha=0.13, linewidth=0.6, zorder=0)
        axes.vlines(1, *ends, color=INK_COLOUR, linewidth=0.9, zorder=0)


def _marks(axes: Axes, placed: list[Placed], look: Palette) -> None:
    points = []
    for arm in placed:
        colour = look.colours.get(arm.row.variant, INK_COLOUR)
        shown = [(arm.row.mean, arm.mean_in, "mean")] if arm.row.mean else []
        shown += [(cell, y, "cell") for cell, y in zip(arm.row.cells, arm.cells_in, strict=False)]
        for span, y, kind in shown:
            if np.isfinite([span.low, span.high]).all() and (kind == "mean" or arm.apart):
                width = 3.6 if kind == "mean" else 1.1
                axes.plot((span.low, span.high), (y, y), color=colour, linewidth=width, solid_capstyle="butt")
            if span.ratio:
                points.append((span.ratio, y, arm.row.variant, kind))
    if points:
        table = pd.DataFrame(points, columns=["ratio", "place", "variant", "kind"])
        sns.scatterplot(
            table, x="ratio", y="place", hue="variant", palette=look.colours, style="kind", size="kind",
            sizes={"mean": 62, "cell": 17}, markers={"mean": "D", "cell": "o"}, legend=False, linewidth=0, ax=axes,
            zorder=3,
        )  # fmt: skip
    axes.set(xlabel="", ylabel="", yticks=[])


def _names(axes: Axes, placed: list[Placed], layout: Layout) -> None:
    """Write the name of every arm, and small the names of its cells, left of the plot."""
    right_edge, margin = -0.1 / layout.plot_in, -layout.label_in / layout.plot_in
    letters = int((layout.label_in - 0.1) * 72 / (WIDTH * CELL_SIZE))
    for arm in placed:
        text = _arm_label(arm.row.label, layout.letters)
        if layout.stacked:
            _write(axes, margin, arm.top_in + PITCH_IN * 0.6, text, layout.size, weight="bold")
        else:
            fitting = (layout.label_in - 0.1) * 72 / (BOLD_WIDTH * len(text))
            _write(axes, right_edge, arm.mean_in, text, min(layout.size, fitting), ha="right", weight="bold")
        for y, label in _cell_names(arm):
            _write(axes, right_edge, y, shortened(label, letters), CELL_SIZE, QUIET, ha="right")


def _arm_label(label: str, letters: int) -> str:
    """Return a label of at most so many letters, of A/A with the reference's name cut and the rest whole."""
    end = AGAIN if label.endswith(AGAIN) else ""
    return shortened(label.removesuffix(end), letters - len(end)) + end


def _cell_names(arm: Placed) -> list[tuple[float, str]]:
    if not arm.apart:
        return [(arm.cells_in[0], f"{len(arm.row.cells)} cells")]
    return [(y, cell.label) for y, cell in zip(arm.cells_in, arm.row.cells, strict=False)]


def _write(
    axes: Axes, x: float, y: float, text: str, size: float, state: str = "", ha: str = "left", weight: str = "normal"
) -> None:
    """Write at a share of the plot's width and inches below its top; a state other than plain becomes an id."""
    gid = f"{state}-{len(axes.texts)}" if state in (GOOD, BAD, QUIET) else None
    axes.text(
        x, y, text, transform=axes.get_yaxis_transform(), ha=ha, va="center_baseline", fontsize=size,
        fontweight=weight, gid=gid, clip_on=False,
    )  # fmt: skip


def _direction(axes: Axes, results: Results, layout: Layout) -> None:
    """Write the reference's name at 1 with the words for both sides, and what the axis shows."""
    metric, name = results.metrics[0], shortened(results.reference, 24)
    axes.annotate(
        direction(metric, name), (1, 0), xytext=(0, -25), xycoords=axes.get_xaxis_transform(), weight="bold",
        textcoords="offset points", ha="center", fontsize=layout.small, annotation_clip=False,
    )  # fmt: skip
    axes.annotate(
        f"{metric.label}, ratio to {name} (log scale)", (0.5, 0), xytext=(0, -39), xycoords="axes fraction",
        gid=f"{QUIET}-axis", textcoords="offset points", ha="center", fontsize=layout.small, annotation_clip=False,
    )  # fmt: skip


def _columns(axes: Axes, results: Results, placed: list[Placed], layout: Layout) -> None:
    """Write the figures of all metrics: right of the plot, in a narrow figure above the marks of each arm."""
    first = -layout.label_in if layout.stacked else layout.plot_in + 0.3
    step = (layout.width_in - layout.label_in - first) / max(len(results.metrics), 1)
    for column, (metric, head) in enumerate(zip(results.metrics, results.heads, strict=True)):
        x = (first + column * step) / layout.plot_in
        _write(axes, x, -0.16 if layout.stacked else -0.33, head, layout.small + 0.5, weight="bold")
        if not layout.stacked:
            _write(axes, x, -0.14, _better(metric), CELL_SIZE, QUIET)
        for arm in placed:
            y, field = arm.top_in + PITCH_IN * 1.45 if layout.stacked else arm.mean_in, arm.row.fields[column]
            _field(axes, x, y, field, layout)


def _field(axes: Axes, x: float, y: float, field: ShownRatio, layout: Layout) -> None:
    bold = field.state in (GOOD, BAD)
    apart_in = 0.03 + (BOLD_WIDTH if bold else WIDTH) * layout.size / 72 * min(len(field.text), 8)
    _write(axes, x, y, field.text, layout.size, field.state, weight="bold" if bold else "normal")
    _write(axes, x + apart_in / layout.plot_in, y, field.interval, layout.small, QUIET)


def _better(metric: Metric) -> str:
    return "more is better" if metric.worse is Verdict.BELOW else "less is better"
