"""Draw the figures of a study from its tables: figures/{name}.svg for each name of `figure_names`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from scripts.lib.host import entry
from scripts.lib.host.parallel import in_batches
from scripts.lib.json_record import write_text
from scripts.lib.resolved_study import ResolvedStudy, read_study
from scripts.lib.vocabulary import CONTROLS
from scripts.report.analysis import published
from scripts.report.analysis.effects import effect_label
from scripts.report.analysis.metrics import EVERY, METRICS, TPS, Metric
from scripts.report.analysis.run_tables import read_csv
from scripts.report.page.figures import ratios as figures_ratios
from scripts.report.page.figures.answer import NARROW, WIDE, answer_chart
from scripts.report.page.figures.naming import (
    Palette,
    answer_names,
    beside_published,
    drawn_metrics,
    heat_names,
    look_of,
    machine_name,
    seconds_names,
    statements_name,
    value_metrics,
)
from scripts.report.page.figures.over_time import machine_chart
from scripts.report.page.figures.ratios import factor_chart, forest_chart, published_chart
from scripts.report.page.figures.values import seconds_chart, statements_chart, values_chart
from scripts.report.page.results import results

TABLES = ("runs", "cells", "overall", "relinked", "factors", "effects")


def in_order(cells: pd.DataFrame, study: ResolvedStudy) -> pd.DataFrame:
    """Return cells in the order the study declares workloads, clients and variants."""
    ranks = {
        "workload": {name: rank for rank, name in enumerate(study.workloads)},
        "variant": {name: rank for rank, name in enumerate(study.variants)},
    }
    keys = pd.DataFrame({name: cells[name].map(rank) for name, rank in ranks.items()}).assign(clients=cells["clients"])
    return cells.loc[keys.sort_values(["workload", "clients", "variant"], kind="stable").index]


def main(study: Path, tables: Mapping[str, Path], figures: Path, processes: int = 1) -> None:
    """Inputs: `study`, the resolved study.json, and `tables`, the CSV files of the tables that are drawn.

    Output: the folder `figures` with one SVG file per figure. `processes` share the figures.
    """
    work = partial(_draw, study, tables, figures, processes)
    list(in_batches(work, range(processes), size=1, least=2))


def _draw(study: Path, tables: Mapping[str, Path], figures: Path, shares: int, parts: Sequence[int]) -> list[str]:
    """Draw the figures of some of the equal shares; returns their names."""
    tasks = charts(read_study(study), tables)
    names = []
    for task in (task for part in parts for task in tasks[part::shares]):
        for name, chart in task():
            write_text(figures / f"{name}.svg", chart)
            names.append(name)
    return names


def charts(declared: ResolvedStudy, tables: Mapping[str, Path]) -> list[Callable[[], Iterable[tuple[str, str]]]]:
    """Return functions that yield name and text of all figures of a study."""
    frames = {name: read_csv(tables[name]) for name in TABLES}
    frames["cells"] = in_order(frames["cells"], declared)
    look = look_of(list(declared.variants), declared.reference)
    metrics = [EVERY[name] for name in drawn_metrics(declared)]
    return [
        partial(answer, declared, frames, look),
        partial(over_time, declared, frames["runs"]),
        *(partial(values, declared, frames["runs"], look, workload) for workload in declared.workloads),
        *(partial(ratios, frames, metric, look) for metric in metrics),
        *(partial(heat, declared, frames["cells"], metric, look) for metric in metrics),
        partial(beside, declared, frames["cells"], look),
        partial(by_second, declared, tables, look),
        partial(by_statement, declared, tables),
    ]


def answer(study: ResolvedStudy, tables: dict[str, pd.DataFrame], look: Palette) -> Iterator[tuple[str, str]]:
    """Yield name and text of the figure of the first screen, once for a wide and once for a narrow one."""
    rows = results(study, tables)
    for name, layout in zip(answer_names(study), (WIDE, NARROW), strict=False):
        yield name, answer_chart(rows, look, layout, name)


def over_time(study: ResolvedStudy, runs: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """Yield name and text of the figure of the machine over time."""
    if name := machine_name(study):
        yield name, machine_chart(runs, TPS, name)


def values(study: ResolvedStudy, runs: pd.DataFrame, look: Palette, workload: str) -> Iterator[tuple[str, str]]:
    """Yield name and text of the figures of a workload's values, one per metric."""
    shown = published.frame(study)
    for metric in value_metrics(study, workload):
        name = f"{metric}-{workload}"
        rows = shown[(shown["workload"] == workload) & (shown["metric"] == metric)]
        measured = runs[runs["workload"] == workload]
        yield name, values_chart(measured, METRICS[metric], look, name, rows if len(rows) else None)


def ratios(tables: dict[str, pd.DataFrame], metric: Metric, look: Palette) -> Iterator[tuple[str, str]]:
    """Yield name and text of the figures of all ratios, factors and effects of one metric."""
    kinds = {table: tables[table][tables[table]["metric"] == metric.name] for table in ("cells", "factors", "effects")}
    yield f"forest-{metric.name}", forest_chart(kinds["cells"], metric, look, f"forest-{metric.name}")
    if len(kinds["factors"]):
        yield f"factors-{metric.name}", factor_chart(kinds["factors"], metric, f"factors-{metric.name}")
    if len(overall := kinds["effects"][kinds["effects"]["workload"].isna()]):
        labels = [effect_label(row.formula, row.n_factors) for row in overall.itertuples()]
        named = overall.assign(factor=labels, interaction=overall["n_factors"] > 1)
        yield f"effects-{metric.name}", factor_chart(named, metric, f"effects-{metric.name}")


def heat(study: ResolvedStudy, cells: pd.DataFrame, metric: Metric, look: Palette) -> Iterator[tuple[str, str]]:
    """Yield name and text of the heat maps of one metric and of their key."""
    compared = cells[(cells["metric"] == metric.name) & ~cells["variant"].isin((study.reference, *CONTROLS))]
    full, names = figures_ratios.FULL, heat_names(study, metric.name)
    workloads, clients = list(study.workloads), sorted(study.clients)
    variants = [name for name in look.variants if name not in (look.reference, *CONTROLS)]
    for name in names[:1]:
        yield name, figures_ratios.scale_chart(metric, full, look, name)
    grids = [figures_ratios.HeatGrid(workloads, variants)]
    if len(clients) > 1:
        grids = [figures_ratios.HeatGrid(workloads, clients, variant) for variant in variants]
    for name, grid in zip(names[1:], grids, strict=False):
        chosen = compared[compared["variant"] == grid.variant] if grid.variant else compared
        yield name, figures_ratios.heat_chart(chosen, grid, metric, full, look, name)


def beside(study: ResolvedStudy, cells: pd.DataFrame, look: Palette) -> Iterator[tuple[str, str]]:
    """Yield name and text of the figures that show published ratios of transactions per second beside ours."""
    shown = published.ratios(study, published.frame(study), TPS.name)
    for workload in (name for name in study.workloads if beside_published(study, name)):
        measured = cells[(cells["workload"] == workload) & (cells["metric"] == TPS.name)]
        name = f"ratio-{workload}"
        yield name, published_chart(measured, shown[shown["workload"] == workload], TPS, look, name)


def by_second(study: ResolvedStudy, tables: Mapping[str, Path], look: Palette) -> Iterator[tuple[str, str]]:
    """Yield name and text of the figures of runs second by second, of a study that samples counters."""
    if not study.series:
        return
    frames = {name: read_csv(tables[name]) for name in ("series", "counters")}
    for workload in study.workloads:
        for clients, name in seconds_names(study, workload).items():
            series, counters = (
                table[(table["workload"] == workload) & (table["clients"] == clients)] for table in frames.values()
            )
            yield name, seconds_chart(series, counters, look, name)


def by_statement(study: ResolvedStudy, tables: Mapping[str, Path]) -> Iterator[tuple[str, str]]:
    """Yield name and text of the figures of timed SQL, one per workload: the share of each statement in the time."""
    for workload in study.workloads:
        if name := statements_name(study, workload):
            statements = read_csv(tables["statements"])
            yield name, statements_chart(statements[statements["workload"] == workload], list(study.variants), name)


if __name__ == "__main__":
    entry.run(main, __doc__, "study", "figures", tables=entry.TABLES)
