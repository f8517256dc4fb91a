"""The style of figures and their common parts: dots, axes, notes."""

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from scripts.lib.visible import visible
from scripts.lib.wording import number, shortened
from scripts.report.analysis.stats import Array

INK_COLOUR = "#010203"  # stands for the reader's text colour until the SVG is written
SVG_TAG = re.compile(r"<[^>]+>")
# matplotlib's own numbering of its groups, which nothing refers to
UNUSED_ID = re.compile(r' id="(?:figure|axes|patch|text|line2d|legend|matplotlib\.axis|[xy]tick|\w*Collection)_\d+"')
COORDINATES = re.compile(r' (?:d|x|y|transform)="[^"]*"')
MANY_DIGITS = re.compile(r"\d+\.\d{3,}")
FONTS = re.compile(r"'DejaVu Sans'[^;\"]*sans-serif")
UNTURNED = re.compile(r' transform="rotate\(-0 [^"]*"')


def compact(text: str, name: str) -> str:
    """Return the <svg> element of matplotlib's document: ids begin with `name` and differ from those of other names.

    Coordinates have two decimals.
    """
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text[text.index("<svg") :], flags=re.DOTALL)
    prefix = re.sub(r"[^\w.-]", lambda odd: f"~{ord(odd[0]):x}", name)
    text = SVG_TAG.sub(lambda tag: _smaller(tag[0], prefix), text)
    return re.sub(r"(?<=>)\n\s+(?=<)", "", text)


def _smaller(tag: str, prefix: str) -> str:
    tag = FONTS.sub("sans-serif", UNUSED_ID.sub("", UNTURNED.sub("", tag))).replace(INK_COLOUR, "currentColor")
    tag = COORDINATES.sub(lambda coordinates: MANY_DIGITS.sub(_rounded, coordinates[0]).replace(" \n", " "), tag)
    tag = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}.\1"', tag)
    return re.sub(r'(url\(#|xlink:href="#)', rf"\g<1>{prefix}.", tag)


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


PUBLISHED_COLOUR = "#7d848d"  # of a published variant that the study does not name
PUBLISHED_BY = "published "  # before the name of a published variant
WIDTH_IN = 4.7
LEGEND_LETTERS = 58  # in one line of a legend, each entry's line and marker counted as six
LEGEND_LINE_IN = 0.19
MOST_DOTS = 2000  # in one figure
MOST_LABEL_LETTERS = 26
CLOSEST = 0.055  # of the axis, between the numbers of two ticks
STYLE = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.size": 9.5,
    "axes.edgecolor": INK_COLOUR,
    "axes.labelcolor": INK_COLOUR,
    "text.color": INK_COLOUR,
    "xtick.color": INK_COLOUR,
    "ytick.color": INK_COLOUR,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "ytick.major.size": 0,
    "axes.axisbelow": True,
}


def grid(axes: Axes, axis: Literal["x", "y"]) -> None:
    """Draw faint lines across one axis."""
    axes.grid(axis=axis, color=INK_COLOUR, alpha=0.13, linewidth=0.6)
    axes.tick_params(length=3 if axis == "y" else 0)


def client_axis(axes: Axes, clients: Iterable[int]) -> None:
    """Make x a logarithmic axis with a tick at every client count, and its number where there is room."""
    counts = sorted(int(number) for number in clients)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(counts))
    axes.xaxis.set_major_formatter(FixedFormatter(_with_room(counts)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("clients")


def _with_room(counts: list[int]) -> list[str]:
    room, last = CLOSEST * np.log2(max(counts, default=1) / min(counts, default=1)), -np.inf
    texts = []
    for count in counts:
        texts.append(str(count) if np.log2(count) - last >= room else "")
        last = np.log2(count) if texts[-1] else last
    return texts


def thinned(runs: pd.DataFrame, metric: str, notes: list[str]) -> pd.DataFrame:
    """Return the runs to draw as dots: of more than MOST_DOTS every n-th, which is added to `notes`."""
    if len(runs) <= MOST_DOTS:
        return runs
    notes.append(f"{number(MOST_DOTS)} of {number(len(runs))} runs are drawn; means and intervals are of all")
    chosen = np.linspace(0, len(runs) - 1, MOST_DOTS).round().astype(int)
    return runs.sort_values(["variant", "clients", metric], kind="stable").iloc[chosen]


def dots(axes: Axes, x: Array, y: Array, colour: str, size: float = 3.2) -> None:
    """Draw faint dots as one path of zero-length lines with round ends: a tenth of the bytes of markers."""
    gap = np.full(len(y), np.nan)
    places = [np.column_stack([values, values, gap]).ravel() for values in (x, y)]
    axes.plot(*places, color=colour, alpha=0.4, linewidth=size, solid_capstyle="round", gid=f"dots-{len(axes.lines)}")


def title(figure: Figure, text: str, aside: str = "") -> None:
    """Write a figure's title at its left edge, and `aside` at its right edge."""
    figure.suptitle(text, x=0.01, ha="left", fontsize=10)
    figure.text(0.99, 0.98, label_text(aside), ha="right", va="top", fontsize=8.5, alpha=0.75)


def label_text(name: str) -> str:
    """Return a name, shortened to what a figure has room for."""
    return shortened(visible(name), MOST_LABEL_LETTERS)


def note(axes: Axes, notes: Sequence[str]) -> None:
    """Write below the horizontal axis what a figure leaves out."""
    if notes:
        axes.set_xlabel("\n".join(filter(None, [axes.get_xlabel(), *notes])), fontsize=8.5)


def published_line(
    axes: Axes, variant: str, number: int, clients: pd.Series, values: pd.Series, colours: Mapping[str, str]
) -> None:
    """Draw the line of a published variant: dashed, in the colour of the study's variant of its name.

    `number` counts the published variants of a figure: their dashes lie further apart from one to the next.
    """
    axes.plot(
        clients, values, color=colours.get(variant, PUBLISHED_COLOUR), dashes=(4, 1 + 2 * number), linewidth=1.0,
        zorder=1, label=f"{PUBLISHED_BY}{variant}",
    )  # fmt: skip


def line_label(variant: str) -> str:
    """Return the label of a variant's line for `legend`: matplotlib leaves out labels that begin with _."""
    return f"variant {variant}"


def legend(figure: Figure, axes: Axes, variants: Sequence[str]) -> None:
    """Draw the legend below a figure: the lines of `variants` first, labelled by `line_label`, then published ones."""
    labelled = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    handles = {name: labelled[line_label(name)] for name in variants}
    handles |= {name: line for name, line in labelled.items() if name.startswith(PUBLISHED_BY)}
    entries = list(handles)
    if entries:
        columns = -(-len(entries) // legend_lines(entries))
        figure.legend(
            list(handles.values()), entries, loc="outside lower center", ncols=columns, frameon=False, fontsize=8.5,
            handlelength=1.4, columnspacing=1.2,
        )  # fmt: skip


def legend_lines(entries: Sequence[str]) -> int:
    """Return the lines that the entries of a legend take below a figure."""
    return -(-len(entries) // max(1, LEGEND_LETTERS // (max(map(len, entries)) + 6)))


def svg(figure: Figure, name: str) -> str:
    """Return a figure as an <svg> element: text as text, the reader's text colour, ids that no other figure has."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return visible(compact(stream.getvalue(), name))
