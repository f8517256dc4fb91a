"""How figures look, and how they are written: colours and markers of variants, style, SVG text."""

import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from scripts.comparison import AA

INK = "#010203"  # stands for the reader's text colour until the SVG is written
REFERENCE_COLOUR = "#8a8f98"
AA_COLOUR = "#b9bdc4"
PUBLISHED = {"color": "#7d848d", "linewidth": 1.0, "linestyle": "--", "zorder": 1}
DRAWN = ("tps", "p95_ms", "cpu_us_per_tx")
# Okabe and Ito 2008, without the black and the yellow that one of the two backgrounds swallows
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
MARKERS = ("D", "s", "^", "v", "P", "X")
STYLE = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.size": 9.5,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
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
    """One colour and one marker a variant, the same in every figure and on the page."""

    variants: tuple[str, ...]
    reference: str
    colours: dict[str, str]
    markers: dict[str, str]


def look_of(variants: Sequence[str], reference: str) -> Look:
    """Return greys and a disc for the reference and A/A, palette and other markers in the study's order for the rest.

    After six variants the palette starts again with shifted markers, so that a pair of both stays unique up to 36.
    """
    others = [name for name in variants if name not in (reference, AA)]
    greys = {name: AA_COLOUR if name == AA else REFERENCE_COLOUR for name in variants}
    colours = {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(others)}
    markers = {name: MARKERS[(place + place // len(COLOURS)) % len(MARKERS)] for place, name in enumerate(others)}
    return Look(tuple(variants), reference, greys | colours, dict.fromkeys(variants, "o") | markers)


def figure_names(study: dict[str, Any], factors: bool) -> list[str]:
    """Return the names of the figures of a study; `factors` tells that its table of factors has a row."""
    names = [f"{metric}-{workload}" for metric in DRAWN for workload in study["workloads"]]
    names += [f"{kind}-{metric}" for kind in ("forest", *(["factors"] if factors else [])) for metric in DRAWN]
    return names + [f"ratio-{workload}" for workload in study["workloads"] if beside_published(study, workload)]


def beside_published(study: dict[str, Any], workload: str) -> bool:
    """Tell whether a workload has a figure of its ratios beside published ones: it needs several client counts."""
    rows = (study.get("published") or {}).get("rows") or []
    return len(study["clients"]) > 1 and any(row["workload"] == workload and row["metric"] == "tps" for row in rows)


def grid(axes: Axes, axis: str) -> None:
    """Draw faint lines across one axis."""
    axes.grid(axis=axis, color=INK, alpha=0.13, linewidth=0.6)
    axes.tick_params(length=3 if axis == "y" else 0)


def client_axis(axes: Axes, clients: Iterable[int]) -> None:
    """Make x a logarithmic axis with a tick at every client count."""
    counts = sorted(int(number) for number in clients)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(counts))
    axes.xaxis.set_major_formatter(FixedFormatter(list(map(str, counts))))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("clients")


def svg(figure: Figure, name: str) -> str:
    """Return a figure as an <svg> element: text as text, the reader's text colour, ids that no other figure has."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = stream.getvalue()
    text = text[text.index("<svg") :].replace(INK, "currentColor")
    prefix = re.sub(r"[^\w-]", "_", name)
    text = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}.\1"', text)
    return re.sub(r'(url\(#|xlink:href="#)', rf"\g<1>{prefix}.", text)
