"""The style and the names of figures, and their common parts: colours and markers, dots, axes, notes."""

import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from scripts.analysis.metrics import SCRIPT, of_study
from scripts.vocabulary import AA
from scripts.wording import number, shortened

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
    tag = COORDINATES.sub(lambda found: MANY_DIGITS.sub(_rounded, found[0]).replace(" \n", " "), tag)
    tag = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}.\1"', tag)
    return re.sub(r'(url\(#|xlink:href="#)', rf"\g<1>{prefix}.", tag)


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


REFERENCE_COLOUR = "#6e747c"
AA_COLOUR = "#a3a9b1"
PUBLISHED = {"color": "#7d848d", "linewidth": 1.0, "linestyle": "--", "zorder": 1}
DRAWN = ("tps", "p95_ms", "cpu_us_per_tx")
CURVES = ("tps", "p95_ms", "p99_ms", "cpu_us_per_tx")
WIDTH_IN = 4.7
MOST_DOTS = 2000  # in one figure
MOST_LABEL_LETTERS = 26
CLOSEST = 0.055  # of the axis, between the numbers of two ticks
# Okabe and Ito 2008, without the black and the yellow that one of the two backgrounds swallows; then two that stay
# apart from these to protanopes and deuteranopes too
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#9c6b3f", "#8f7ee0")
MARKERS = ("D", "s", "^", "v", "P", "X", "<", ">")
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


@dataclass(frozen=True)
class Look:
    """One colour and one marker per variant, the same in every figure and on the page."""

    variants: tuple[str, ...]
    reference: str
    colours: dict[str, str]
    markers: dict[str, str]


def look_of(variants: Sequence[str], reference: str) -> Look:
    """Return grey discs for reference and A/A; colours and other markers, in the study's order, for the rest.

    After eight variants the colours repeat with shifted markers, so that up to 64 variants differ in one of the two.
    """
    others = [name for name in variants if name not in (reference, AA)]
    greys = {name: AA_COLOUR if name == AA else REFERENCE_COLOUR for name in variants}
    colours = {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(others)}
    markers = {name: MARKERS[(place + place // len(COLOURS)) % len(MARKERS)] for place, name in enumerate(others)}
    return Look(tuple(variants), reference, greys | colours, dict.fromkeys(variants, "o") | markers)


def drawn_metrics(study: dict[str, Any]) -> list[str]:
    """Return the metrics whose ratios are drawn, of sysbench's loads, of timed SQL, or of both."""
    return [name for name in of_study(study) if name in DRAWN or name in SCRIPT]


def statements_name(study: dict[str, Any], workload: str) -> str | None:
    """Return the name of a workload's figure of its statements, None unless it is timed SQL."""
    return f"statements-{workload}" if "sql" in study["workloads"][workload] else None


def value_metrics(study: dict[str, Any], workload: str) -> tuple[str, ...]:
    """Return the metrics with a figure {metric}-{workload}: curves need several client counts.

    Timed SQL has one figure of its statements instead.
    """
    if statements_name(study, workload):
        return ()
    return CURVES if len(study["clients"]) > 1 else DRAWN


def heat_names(study: dict[str, Any], metric: str) -> list[str]:
    """Return the names of a metric's heat maps, their key first; none without a variant besides the reference.

    With several client counts there is one map per variant, workloads by clients; else one map, workloads by variants.
    """
    others = [name for name in study["variants"] if name not in (study["reference"], AA)]
    names = [f"heat-{metric}-{name}" for name in others] if len(study["clients"]) > 1 else [f"heat-{metric}"]
    return [f"scale-{metric}", *names] if others else []


def seconds_names(study: dict[str, Any], workload: str) -> dict[int, str]:
    """Return client count -> name of a workload's figure by second; none unless the study samples counters."""
    return {clients: f"seconds-{workload}-{clients}" for clients in study["clients"] if study.get("series")}


def figure_names(study: dict[str, Any], factors: bool) -> list[str]:
    """Return the names of the figures of a study; `factors` is whether its table of factors has a row."""
    loads, drawn = study["workloads"], drawn_metrics(study)
    names = [f"{metric}-{workload}" for workload in loads for metric in value_metrics(study, workload)]
    names += [name for workload in loads if (name := statements_name(study, workload))]
    names += [f"{kind}-{metric}" for kind in ("forest", *(["factors"] if factors else [])) for metric in drawn]
    names += [f"effects-{metric}" for metric in drawn if study.get("matrix")]
    names += [name for metric in drawn for name in heat_names(study, metric)]
    names += [name for workload in study["workloads"] for name in seconds_names(study, workload).values()]
    return names + [f"ratio-{workload}" for workload in study["workloads"] if beside_published(study, workload)]


def beside_published(study: dict[str, Any], workload: str) -> bool:
    """Return whether a workload has a figure of its ratios beside published ones: it needs several client counts."""
    rows = (study.get("published") or {}).get("rows") or []
    return len(study["clients"]) > 1 and any(row["workload"] == workload and row["metric"] == "tps" for row in rows)


def grid(axes: Axes, axis: str) -> None:
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


def dots(axes: Axes, x: np.ndarray, y: np.ndarray, colour: str, size: float = 3.2) -> None:
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
    return shortened(name, MOST_LABEL_LETTERS)


def note(axes: Axes, notes: Sequence[str]) -> None:
    """Write below the horizontal axis what a figure leaves out."""
    if notes:
        axes.set_xlabel("\n".join(filter(None, [axes.get_xlabel(), *notes])), fontsize=8.5)


def svg(figure: Figure, name: str) -> str:
    """Return a figure as an <svg> element: text as text, the reader's text colour, ids that no other figure has."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return compact(stream.getvalue(), name)
