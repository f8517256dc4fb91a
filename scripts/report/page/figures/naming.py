"""The names of a study's figures, and the colour and marker of each variant; matplotlib is not imported for them."""

from collections.abc import Sequence
from dataclasses import dataclass

from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.vocabulary import CONTROLS
from scripts.report.analysis.metrics import SCRIPT, latency_of, of_study

REFERENCE_COLOUR = "#6e747c"
AA_COLOUR = "#a3a9b1"
DRAWN = ("tps", "p95_ms", "cpu_us_per_tx", "slow_stop_s")
LEAST_HEAT = 20  # workloads times client counts
CURVES = ("tps", "p95_ms", "p99_ms", "cpu_us_per_tx")
# Drawing takes 0.2 s of CPU time a figure, and nobody looks through more.
MOST_CURVES = 60
# Okabe and Ito 2008, without the black and the yellow that one of the two backgrounds swallows; then two that stay
# apart from these to protanopes and deuteranopes too
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#9c6b3f", "#8f7ee0")
MARKERS = ("D", "s", "^", "v", "P", "X", "<", ">")


@dataclass(frozen=True)
class Palette:
    """One colour and one marker per variant, the same in every figure and on the page."""

    variants: tuple[str, ...]
    reference: str
    colours: dict[str, str]
    markers: dict[str, str]


def look_of(variants: Sequence[str], reference: str) -> Palette:
    """Return grey discs for reference, A/A and relinks; colours and other markers, in the study's order, for the rest.

    After eight variants the colours repeat with shifted markers, so that up to 64 variants differ in one of the two.
    """
    others = [name for name in variants if name not in (reference, *CONTROLS)]
    greys = {name: AA_COLOUR if name in CONTROLS else REFERENCE_COLOUR for name in variants}
    colours = {name: COLOURS[number % len(COLOURS)] for number, name in enumerate(others)}
    markers = {name: MARKERS[(number + number // len(COLOURS)) % len(MARKERS)] for number, name in enumerate(others)}
    return Palette(tuple(variants), reference, greys | colours, dict.fromkeys(variants, "o") | markers)


def drawn_metrics(study: ResolvedStudy) -> list[str]:
    """Return the metrics whose ratios are drawn, of sysbench's loads, of timed SQL, or of both."""
    latency = latency_of(study).name
    return [name for name in of_study(study) if name in DRAWN or name in SCRIPT or name == latency]


def answer_names(study: ResolvedStudy) -> list[str]:
    """Return the names of the first screen's figure, wide and narrow; none for a study of one variant without A/A."""
    return ["answer", "answer-narrow"] if len(study.variants) > 1 else []


def statements_name(study: ResolvedStudy, workload: str) -> str | None:
    """Return the name of a workload's figure of its statements, None unless it is timed SQL."""
    return f"statements-{workload}" if study.workloads[workload].sql else None


def value_metrics(study: ResolvedStudy, workload: str) -> tuple[str, ...]:
    """Return the metrics with a figure {metric}-{workload}: curves need several client counts.

    Timed SQL has one figure of its statements instead. Of more than MOST_CURVES only the first metric's are drawn.
    """
    if len(study.clients) < 2 or statements_name(study, workload):
        return ()
    metrics = tuple(name for name in CURVES if name in of_study(study))
    return metrics[:1] if len(metrics) * len(study.workloads) > MOST_CURVES else metrics


def heat_names(study: ResolvedStudy, metric: str) -> list[str]:
    """Return the names of a metric's heat maps, their key first; none for fewer than LEAST_HEAT places.

    With several client counts there is one map per variant, workloads by clients; else one map, workloads by variants.
    """
    others = [name for name in study.variants if name not in (study.reference, *CONTROLS)]
    names = [f"heat-{metric}-{name}" for name in others] if len(study.clients) > 1 else [f"heat-{metric}"]
    places = len(study.workloads) * len(study.clients)
    return [f"scale-{metric}", *names] if others and places >= LEAST_HEAT else []


def machine_name(study: ResolvedStudy) -> str | None:
    """Return the name of the figure of a study's blocks over time; None without transactions or measured elsewhere."""
    return None if study.is_imported or "tps" not in of_study(study) else "machine"


def seconds_names(study: ResolvedStudy, workload: str) -> dict[int, str]:
    """Return client count -> name of a workload's figure by second; none unless the study samples counters."""
    return {clients: f"seconds-{workload}-{clients}" for clients in study.clients if study.series}


def figure_names(study: ResolvedStudy, factors: bool) -> list[str]:
    """Return the names of the figures of a study; `factors` is whether its table of factors has a row."""
    loads, drawn = study.workloads, drawn_metrics(study)
    names = [*answer_names(study), *([name] if (name := machine_name(study)) else [])]
    names += [f"{metric}-{workload}" for workload in loads for metric in value_metrics(study, workload)]
    names += [name for workload in loads if (name := statements_name(study, workload))]
    names += [f"{kind}-{metric}" for kind in ("forest", *(["factors"] if factors else [])) for metric in drawn]
    names += [f"effects-{metric}" for metric in drawn if study.matrix]
    names += [name for metric in drawn for name in heat_names(study, metric)]
    names += [name for workload in study.workloads for name in seconds_names(study, workload).values()]
    return names + [f"ratio-{workload}" for workload in study.workloads if beside_published(study, workload)]


def beside_published(study: ResolvedStudy, workload: str) -> bool:
    """Return whether a workload has a figure of its ratios beside published ones: it needs several client counts."""
    rows = study.published.rows
    return len(study.clients) > 1 and any(row.workload == workload and row.metric == "tps" for row in rows)
