"""Figures of ratios as SVG text: cells, factors, and published ratios beside ours, with intervals."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import FuncFormatter, Locator, NullLocator

from scripts.lib.vocabulary import AA, MIN_BLOCKS, Verdict
from scripts.lib.wording import missing, number, plural
from scripts.report.analysis.metrics import Metric
from scripts.report.analysis.table_rows import CellRow
from scripts.report.page.figures.drawing import (
    INK_COLOUR,
    LEGEND_LINE_IN,
    PUBLISHED_BY,
    STYLE,
    WIDTH_IN,
    client_axis,
    grid,
    label_text,
    legend,
    legend_lines,
    line_label,
    note,
    published_line,
    svg,
    title,
)
from scripts.report.page.figures.naming import Palette
from scripts.report.page.words import UNDECIDED_WORDS, side

BETTER, WORSE, FAINT = "#0f9d94", "#c46a1b", "#8a8f98"
MOST_OPAQUE = 0.62  # over a light or dark page: the reader's text colour stays legible on it
SHADE_STEPS = 24
FULL = float(np.log(2.0))  # |log ratio| of full colour, the same in all studies
ROW_IN = 0.25
HALF_NUMBER_IN = 0.15
LEAST_COLUMNS = 7  # fewer do not grow wider
MOST_LARGE = 10  # columns with figures of full size
PLAIN, FRAMED, HATCHED, CROSSED = "plain", "framed", "hatched", "crossed"


@dataclass(frozen=True)
class HeatGrid:
    """Rows and columns of a heat map; the columns are client counts of `variant`, or variants when that is None."""

    workloads: Sequence[str]
    columns: Sequence[str] | Sequence[int]
    variant: str | None = None

    @property
    def by(self) -> str:
        """The column of cells.csv that the columns of the heat map hold."""
        return "clients" if self.variant else "variant"


@dataclass(frozen=True)
class HeatCell:
    """One field of a heat map; `ratio` is None where there is none."""

    x: float
    y: float
    ratio: float | None
    mark: str


def mark_of(row: CellRow | None) -> str:
    """Return how a row of cells.csv is marked: framed with a difference, hatched with too few blocks, else plain.

    Without a ratio, or a row, it is crossed.
    """
    if row is None or missing(row.ratio):
        return CROSSED
    if row.verdict == Verdict.UNPAIRED or row.n_blocks < MIN_BLOCKS:
        return HATCHED
    return FRAMED if side(row) else PLAIN


def heat_chart(cells: pd.DataFrame, grid: HeatGrid, metric: Metric, full: float, look: Palette, name: str) -> str:
    """Return the heat map of one metric: of one variant by clients, or of all variants at one client count.

    `cells` holds the rows of cells.csv to show, at most one per field; `full` is the |log ratio| of full colour.
    """
    with mpl.rc_context({**STYLE, "hatch.linewidth": 0.6, "svg.hashsalt": name}):
        heads = 0 if grid.variant else max(len(str(column)) for column in grid.columns)
        height = 0.75 + ROW_IN * len(grid.workloads) + 0.045 * heads
        figure = Figure(figsize=(WIDTH_IN, height), layout="constrained")
        axes = figure.subplots()
        _fill(axes, list(_placed(cells, grid)), metric, full, 8 if len(grid.columns) <= MOST_LARGE else 7)
        _label(axes, grid)
        text = f"{metric.label}, ratio to {look.reference}"
        if grid.variant:
            _variant_title(figure, look, grid.variant, text)
        else:
            title(figure, text)
        return svg(figure, name)


def scale_chart(metric: Metric, full: float, look: Palette, name: str) -> str:
    """Return the key of a metric's heat maps: its colours from lowest to highest ratio, and the four marks."""
    with mpl.rc_context({**STYLE, "hatch.linewidth": 0.6, "svg.hashsalt": name}):
        figure = Figure(figsize=(WIDTH_IN, 0.3 + 3.4 * ROW_IN))
        axes = figure.add_axes((0, 0, 1, 3.4 * ROW_IN / figure.get_figheight()))
        axes.set(xlim=(-1.7, 9.3), ylim=(2.9, -0.5))
        axes.axis("off")
        ratios = np.exp(np.linspace(-full, full, 7))
        shown = [HeatCell(x, 0, ratio, PLAIN) for x, ratio in enumerate(ratios)]
        samples = {FRAMED: f"{metric.above} or {metric.below}", PLAIN: "the same, or open",
                   HATCHED: UNDECIDED_WORDS[Verdict.TOO_FEW_BLOCKS], CROSSED: "no ratio"}  # fmt: skip
        for (number, (mark, text)), ratio in zip(enumerate(samples.items()), (*ratios[[5, 3, 3]], None), strict=True):
            x, y = (-1.15, 4.1)[number % 2], 1.15 + number // 2 * 1.1
            shown.append(HeatCell(x, y, ratio, mark))
            axes.text(x + 0.65, y, text, va="center", fontsize=8.5)
        _fill(axes, shown, metric, full, 8)
        ends = ("worse", "better") if metric.worse == Verdict.BELOW else ("better", "worse")
        axes.text(-0.6, 0, ends[0], va="center", ha="right", fontsize=8.5)
        axes.text(6.6, 0, ends[1], va="center", fontsize=8.5)
        title(figure, f"{metric.label}, ratio to {look.reference}")
        return svg(figure, name)


def shade(ratio: float, metric: Metric, full: float) -> tuple[str, float]:
    """Return hue and opacity of a ratio: linear in its logarithm, transparent at 1, strongest at `full`."""
    hue = BETTER if (ratio > 1) == (metric.worse == Verdict.BELOW) else WORSE
    share = min(abs(np.log(ratio)) / full, 1.0) if ratio > 0 else 1.0
    return hue, MOST_OPAQUE * round(share * SHADE_STEPS) / SHADE_STEPS


def _placed(cells: pd.DataFrame, grid: HeatGrid) -> Iterable[HeatCell]:
    rows = {(row.workload, getattr(row, grid.by)): row for row in cells.itertuples()}
    for y, workload in enumerate(grid.workloads):
        for x, column in enumerate(grid.columns):
            row = rows.get((workload, column))
            ratio = None if row is None or missing(row.ratio) else row.ratio
            yield HeatCell(x, y, ratio, mark_of(row))


def _fill(axes: Axes, cells: list[HeatCell], metric: Metric, full: float, size: float) -> None:
    shades, marked = defaultdict(list), defaultdict(list)
    for cell in cells:
        marked[cell.mark].append(cell)
        if cell.mark in (PLAIN, FRAMED) and cell.ratio is not None:
            shades[shade(cell.ratio, metric, full)].append(cell)
    for (hue, opacity), alike in sorted(shades.items()):
        _boxes(axes, alike, facecolor=hue, alpha=opacity, linewidth=0, gid=f"shade-{hue[1:]}-{opacity:.3f}")
    _boxes(axes, marked[HATCHED], facecolor="none", edgecolor=FAINT, hatch="////", linewidth=0, gid=HATCHED)
    _boxes(axes, marked[FRAMED], facecolor="none", edgecolor=INK_COLOUR, linewidth=1.0, gid=FRAMED)
    _boxes(axes, marked[CROSSED], True, facecolor="none", edgecolor=FAINT, linewidth=0.7, gid=CROSSED)
    for cell in cells:
        if cell.ratio is not None:
            axes.text(
                cell.x, cell.y, _digits(cell.ratio), fontsize=size, ha="center", va="center_baseline", in_layout=False,
                fontweight="bold" if cell.mark == FRAMED else "normal",
            )  # fmt: skip


def _digits(ratio: float) -> str:
    return f"{ratio:.{2 if ratio < 9.995 else 1 if ratio < 99.95 else 0}f}"


def _boxes(axes: Axes, cells: list[HeatCell], cross: bool = False, **style: str | float) -> None:
    """Draw all boxes that look the same as one path."""
    if not cells:
        return
    corners = np.array([(-0.47, -0.45), (0.47, -0.45), (0.47, 0.45), (-0.47, 0.45), (-0.47, -0.45)])
    parts = [Path(corners, closed=True)]
    if cross:
        parts += [Path(corners[[0, 2]]), Path(corners[[1, 3]])]
    moved = [Path(np.add(part.vertices, (cell.x, cell.y)), part.codes) for cell in cells for part in parts]
    axes.add_patch(PathPatch(Path.make_compound_path(*moved), in_layout=False, **style))


def _label(axes: Axes, grid: HeatGrid) -> None:
    axes.set_xlim(-0.5, max(len(grid.columns), LEAST_COLUMNS) - 0.5)
    axes.set_ylim(len(grid.workloads) - 0.5, -0.5)
    axes.set_yticks(range(len(grid.workloads)), [label_text(name) for name in grid.workloads], fontsize=8.5)
    size = 8.5 if len(grid.columns) <= MOST_LARGE else 7
    axes.set_xticks(range(len(grid.columns)), [label_text(str(column)) for column in grid.columns], fontsize=size)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    if grid.variant:
        axes.annotate(
            "clients", (0, 0), xycoords="axes fraction", xytext=(-5, -3.5), textcoords="offset points", fontsize=8.5,
            alpha=0.75, ha="right", va="top",
        )  # fmt: skip
        return
    axes.xaxis.tick_top()
    for label in axes.get_xticklabels():
        label.set(rotation=35, ha="left", rotation_mode="anchor")


def _variant_title(figure: Figure, look: Palette, variant: str, text: str) -> None:
    handle = Line2D([], [], color=look.colours[variant], marker=look.markers[variant], linewidth=0, markersize=6, mew=0)
    figure.legend(
        [handle], [f"{label_text(variant)}: {text}"], loc="outside upper left", borderaxespad=0.2, frameon=False,
        fontsize=10, handlelength=0.8, handletextpad=0.5, borderpad=0,
    )  # fmt: skip


INTERACTION_COLOUR = "#8a8f98"
MOST_ROWS = 60


def forest_chart(cells: pd.DataFrame, metric: Metric, look: Palette, name: str) -> str:
    """Return the chart of ratios: one row per cell and variant, with 95 % intervals.

    `cells` holds the rows of cells.csv of one metric, in the order to show. Of more than MOST_ROWS ratios, only the
    lowest and the highest get a row, and the figure says so.
    """
    with_ratio = cells[cells["ratio"].notna()]
    shown = with_ratio if len(with_ratio) <= MOST_ROWS else _extremes(with_ratio)
    with mpl.rc_context({**STYLE, "svg.hashsalt": name}):
        rows = max(len(shown) + shown["workload"].nunique(), 1)
        figure = _figure(0.9 + 0.2 * rows)
        axes = figure.subplots()
        axes.axvline(1, color=INK_COLOUR, linewidth=0.8)
        _forest_rows(axes, shown, look)
        _ratio_axis(axes, shown)
        _direction_label(axes, direction(metric, look.reference))
        title(figure, f"{metric.label}, ratio to {look.reference}")
        if shown is not with_ratio:
            half = number(MOST_ROWS // 2)
            note(axes, [f"The {half} lowest and the {half} highest of {number(len(with_ratio))} ratios"])
        return svg(figure, name)


def _figure(height_in: float) -> Figure:
    """Return a figure with room right of its axis for half a number.

    The number of ticks follows from the axis' length and so from the layout: a last number may come after it.
    """
    layout = ConstrainedLayoutEngine(rect=(0, 0, 1 - HALF_NUMBER_IN / WIDTH_IN, 1))
    return Figure(figsize=(WIDTH_IN, height_in), layout=layout)


def _extremes(cells: pd.DataFrame) -> pd.DataFrame:
    ranks = cells["ratio"].rank(method="first")
    return cells[(ranks <= MOST_ROWS // 2) | (ranks > len(cells) - MOST_ROWS // 2)]


def _forest_rows(axes: Axes, shown: pd.DataFrame, look: Palette) -> None:
    several = shown["clients"].nunique() > 1
    y, labels, before = -1, [], (None, None)
    for cell in shown.itertuples():
        if cell.workload != before[0]:
            y += 1
            labels.append((y, cell.workload, "bold"))
        y += 1
        colour = look.colours[cell.variant]
        if np.isfinite([cell.ratio_low, cell.ratio_high]).all():
            axes.plot((cell.ratio_low, cell.ratio_high), (y, y), color=colour, linewidth=1.4)
        axes.plot(cell.ratio, y, look.markers[cell.variant], color=colour, markersize=5)
        first = several and (cell.workload, cell.clients) != before
        labels.append(
            (y, f"{plural(int(cell.clients), 'client')}   {cell.variant}" if first else cell.variant, "normal")
        )
        before = (cell.workload, cell.clients)
    axes.set_yticks([y for y, _, _ in labels], [text for _, text, _ in labels], fontsize=8.5)
    for tick, (_, _, weight) in zip(axes.get_yticklabels(), labels, strict=True):
        tick.set_fontweight(weight)
    axes.set_ylim(y + 0.6, -0.6)


def _ratio_axis(axes: Axes, shown: pd.DataFrame) -> None:
    axes.set_xscale("log")
    low, high = shown[["ratio_low", "ratio"]].min(axis=None), shown[["ratio_high", "ratio"]].max(axis=None)
    if np.isfinite([low, high]).all():
        axes.set_xlim(min(low, 0.97) / 1.02, max(high, 1.03) * 1.02)
    axes.xaxis.set_major_locator(RatioLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    grid(axes, "x")


def direction(metric: Metric, middle: str) -> str:
    """Return on which side of a ratio's `middle` what lies: `slower ← baseline → faster`, `better ← 1 → worse`."""
    if {metric.below, metric.above} == {"slower", "faster"}:
        return f"{metric.below} ← {middle} → {metric.above}"
    return f"worse ← {middle} → better" if metric.worse is Verdict.BELOW else f"better ← {middle} → worse"


def _direction_label(axes: Axes, text: str) -> None:
    """Write below the axis which side is which, its middle below 1 where there is room."""
    low, high = np.log(axes.get_xlim())
    axes.set_xlabel(text, fontsize=8.5, x=float(np.clip(-low / (high - low), 0.2, 0.8)))


class RatioLocator(Locator):
    """Ticks at round ratios, as many as the axis has room for: long labels beside it leave it short."""

    def __call__(self) -> list[float]:
        """Return the ratios that get a tick, at most eight."""
        assert self.axis is not None  # matplotlib calls a locator of an axis
        low, high = self.axis.get_view_interval()
        return ratio_ticks(low, high, min(self.axis.get_tick_space(), 8))


def ratio_ticks(low: float, high: float, most: int = 8) -> list[float]:
    """Return at most so many round ratios within the bounds, of eight at least three; 1 when it lies within."""
    for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0):
        first, last = int(np.ceil(round((low - 1) / step, 6))), int(np.floor(round((high - 1) / step, 6)))
        if last - first < most:
            return [round(1 + number * step, 6) for number in range(first, last + 1)]
    return [1.0]


def factor_chart(factors: pd.DataFrame, metric: Metric, name: str) -> str:
    """Return the chart of factors: one row per factor, with 95 % intervals.

    `factors` holds the rows of factors.csv, or of effects.csv, of one metric, in the order to show, with the
    column `interaction`.
    """
    shown = factors[factors["ratio"].notna()].reset_index(drop=True)
    with mpl.rc_context({**STYLE, "svg.hashsalt": name}):
        figure = _figure(0.9 + 0.26 * max(len(shown), 1))
        axes = figure.subplots()
        axes.axvline(1, color=INK_COLOUR, linewidth=0.8)
        for y, row in enumerate(shown.itertuples()):
            colour = INTERACTION_COLOUR if row.interaction else INK_COLOUR
            if np.isfinite([row.ratio_low, row.ratio_high]).all():
                axes.plot((row.ratio_low, row.ratio_high), (y, y), color=colour, linewidth=1.4)
            axes.plot(row.ratio, y, "o", color=colour, markersize=5)
        axes.set_yticks(range(len(shown)), shown["factor"], fontsize=8.5)
        axes.set_ylim(len(shown) - 0.4, -0.6)
        _ratio_axis(axes, shown)
        _direction_label(axes, direction(metric, "1"))
        title(figure, f"{metric.label}, ratio")
        return svg(figure, name)


def published_chart(cells: pd.DataFrame, published: pd.DataFrame, metric: Metric, look: Palette, name: str) -> str:
    """Return the chart of one workload's ratios by clients: ours with 95 % intervals, published ones dashed.

    `cells` holds the workload's rows of cells.csv of one metric, `published` variant, clients and ratio.
    """
    shown = cells[cells["ratio"].notna() & (cells["variant"] != AA)]
    within = published[published["clients"].between(shown["clients"].min(), shown["clients"].max())]
    with mpl.rc_context({**STYLE, "svg.hashsalt": name}):
        present = [name for name in look.variants if name in set(shown["variant"])]
        published_names = [f"{PUBLISHED_BY}{name}" for name in within["variant"].unique()]
        height = 2.4 + LEGEND_LINE_IN * legend_lines([*present, *published_names, ""])
        figure = Figure(figsize=(WIDTH_IN, height), layout="constrained")
        axes = figure.subplots()
        axes.axhline(1, color=INK_COLOUR, linewidth=0.8)
        for number, (variant, rows) in enumerate(within.groupby("variant", sort=False)):
            published_line(axes, variant, number, rows["clients"], rows["ratio"], look.colours)
        for variant in present:
            rows = shown[shown["variant"] == variant].sort_values("clients")
            half = np.abs(rows[["ratio_low", "ratio_high"]].to_numpy().T - rows["ratio"].to_numpy())
            axes.errorbar(
                rows["clients"], rows["ratio"], half, color=look.colours[variant], marker=look.markers[variant], ms=5,
                lw=1.4, elinewidth=1.1, mew=0, label=line_label(variant),
            )  # fmt: skip
        title(figure, f"{metric.label}, ratio to {look.reference}", next(iter(cells["workload"]), ""))
        grid(axes, "y")
        if len(shown):
            client_axis(axes, shown["clients"].unique())
            legend(figure, axes, present)
        return svg(figure, name)
