"""Each workload for the page, its figures and tables; and the figures over all workloads."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from scripts.analysis import held_out, stats
from scripts.loadgen.sysbench import option_text
from scripts.report.figures.drawing import drawn_metrics, heat_names, seconds_names, value_metrics
from scripts.report.value_tables import Cell, Lookup, measured_metrics, workload_tables
from scripts.vocabulary import AA, BLOCK
from scripts.wording import NOTHING, count, interval, listing, missing, percent, plural, times

SHOWN_OPERATIONS = {"mean_ms": "mean latency", "p95_ms": "p95 latency", "p99_ms": "p99 latency"}


@dataclass(frozen=True)
class OperationTable:
    """One quantity of one cell: a row an operation with its share of all calls, a field a variant."""

    title: str
    rows: tuple[tuple[str, str, tuple[Cell, ...]], ...]


def operation_tables(
    study: dict[str, Any], operations: pd.DataFrame, comparisons: pd.DataFrame
) -> dict[str, list[OperationTable]]:
    """Return workload -> its tables, of the workloads whose operations are told apart."""
    paired = comparisons[(comparisons["status"] == "paired") & (comparisons["metric"] == "tps")]
    blocks = {(row.variant, row.workload, row.clients, row.repetition) for row in paired.itertuples()}
    found: dict[str, list[OperationTable]] = {}
    for (workload, clients), cell in operations.groupby(["workload", "clients"], sort=False):
        where = f", {clients} clients" if len(study["clients"]) > 1 else ""
        for name, label in SHOWN_OPERATIONS.items():
            rows = tuple(_operation_rows(study, cell, name, blocks))
            found.setdefault(workload, []).append(OperationTable(f"{label}, ms{where}", rows))
    return found


def _operation_rows(study: dict[str, Any], cell: pd.DataFrame, metric: str, blocks: set[tuple]) -> Iterator[tuple]:
    total = cell["calls"].sum()
    for operation, calls in cell.groupby("operation", sort=False):
        wide = calls.pivot(index=list(BLOCK), columns="variant", values=metric).reindex(columns=list(study["variants"]))
        fields = tuple(_operation_field(wide, name, study["reference"], blocks) for name in study["variants"])
        yield operation, percent(calls["calls"].sum() / total), fields


def _operation_field(wide: pd.DataFrame, variant: str, reference: str, blocks: set[tuple]) -> Cell:
    """Return the value of a variant, under it the ratio to the reference over the blocks whose pair counts."""
    if missing(value := stats.geometric_mean(wide[variant])):
        return Cell(NOTHING, (), "hole", "not measured")
    counted = [(variant, *block) in blocks for block in wide.index]
    logs = np.log(wide[variant] / wide[reference])[counted].dropna()
    if variant == reference or logs.empty:
        return Cell(count(value), () if variant == reference else ("no whole block",))
    mean, low, high = (float(np.exp(part)) for part in stats.t_interval(logs))
    span = "" if missing(low) else f" ({interval(low, high)})"
    return Cell(count(value), (f"{times(mean)}{span}, n {len(logs)}",))


LITERAL = re.compile(r"'(?:[^']|'')*'|\d+")
LONGEST = 240


@dataclass(frozen=True)
class SentView:
    """The statements of one event of a workload, as (text, times) of each group; `note` says which server logged it."""

    summary: str
    note: str
    rows: tuple[tuple[str, str], ...]


def sent_views(study: dict[str, Any], records: Sequence[tuple[str, dict[str, Any]]]) -> dict[str, list[SentView]]:
    """Return workload -> what its event sends: once for all variants, or for each group that is sent the same."""
    told = {(facts["workload"], facts["variant"]): facts["statements"] for _, facts in records if "statements" in facts}
    found: dict[str, list[SentView]] = {}
    for workload in study["workloads"]:
        kinds: dict[tuple, dict[str, dict]] = {}
        for variant in (name for name in study["variants"] if name != AA):
            if logged := told.get((workload, variant)):
                kind = (logged["total"], *(statement_form(text) for text in logged["sent"]))
                kinds.setdefault(kind, {})[variant] = logged
        found[workload] = [_sent_view(alike, len(kinds)) for alike in kinds.values()]
    return found


def statement_form(statement: str) -> str:
    """Return a statement without its values and the numbers of its tables: statements of one form are alike."""
    return LITERAL.sub("?", " ".join(statement.split()))


def _sent_view(alike: dict[str, dict], kinds: int) -> SentView:
    variant, logged = next(iter(alike.items()))
    rest = logged["total"] - len(logged["sent"])
    rows = [(_short(text), times) for text, times in grouped_statements(logged["sent"])]
    left = [(f"and {plural(rest, 'statement')} more", "")] if rest else []
    who = f" ({listing(list(alike))})" if kinds > 1 else ""
    note = f"Taken from the log of the server of {variant}; statements that differ only in values are shown once."
    summary = f"{plural(logged['total'], 'statement')} in one event{who}"
    return SentView(summary, note, (*((text, str(times)) for text, times in rows), *left))


def grouped_statements(statements: Sequence[str]) -> list[tuple[str, int]]:
    """Return (first of them, how many) of every group of statements of one form that follow each other."""
    groups = (list(group) for _, group in groupby(statements, key=statement_form))
    return [(group[0], len(group)) for group in groups]


def _short(statement: str) -> str:
    text = " ".join(statement.split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"


def workload_rows(
    study: dict[str, Any], tables: dict[str, pd.DataFrame], figures: dict[str, str]
) -> list[dict[str, Any]]:
    """Return what the page shows of every workload; metrics without any value are left out."""
    lookup = Lookup(tables["cells"], tables["runs"])

    def known(name: str) -> list[str]:
        return [metric for metric in value_metrics(study, name) if metric in lookup.metrics]

    return [
        {
            "name": name,
            "script": _command(load),
            "dataset": load.get("dataset"),
            "training": held_out.label(study, name),
            "tables": workload_tables(name, study, lookup),
            "figures": _markup(figures, [*(f"{metric}-{name}" for metric in known(name)), f"ratio-{name}"]),
            "seconds": _markup(figures, seconds_names(study, name).values()),
        }
        for name, load in study["workloads"].items()
    ]


def _command(load: dict[str, Any]) -> str:
    options = (f"{name}={option_text(value)}" for name, value in (load.get("options") or {}).items())
    return " ".join([str(load.get("script") or load.get("sql") or ""), *options]).strip()


def overviews(study: dict[str, Any], tables: dict[str, pd.DataFrame], figures: dict[str, str]) -> dict[str, Any]:
    """Return the heat maps, key and maps a metric, the figures of all ratios, and those of factors and effects."""
    known = measured_metrics(tables["cells"])
    drawn = [metric for metric in drawn_metrics(study) if metric in known]
    heat = {metric: _markup(figures, heat_names(study, metric)) for metric in drawn}
    return {
        "heat": [{"scale": charts[0], "maps": charts[1:]} for charts in heat.values() if len(charts) > 1],
        "forests": _markup(figures, [f"forest-{metric}" for metric in drawn]),
        "factor_figures": _markup(figures, [f"factors-{metric}" for metric in drawn]),
        "effect_figures": _markup(figures, [f"effects-{metric}" for metric in drawn]),
    }


def _markup(figures: dict[str, str], names: Iterable[str]) -> list[Markup]:
    return [Markup(figures[name]) for name in names if name in figures]
