"""The description of an imported study, as a measured one has it, from its logs and the pattern file."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from scripts.commands.import_logs.calls import Note
from scripts.commands.import_logs.logs import Log, Tree
from scripts.commands.import_logs.pattern import WRITTEN, Pattern, SortKey, natural_key
from scripts.lib.resolved_study import (
    AxisLevels,
    ImportedCell,
    ImportedLogs,
    LogNote,
    OrderedBlock,
    ResolvedStudy,
    ResolvedVariant,
    ResolvedWorkload,
)
from scripts.lib.vocabulary import CONTROLS, OPERATION_SHARES
from scripts.lib.wording import listing
from scripts.measure.engine.run_parts import WindowFacts
from scripts.measure.engine.run_record import Run
from scripts.measure.engine.warnings import drift_is_judged
from scripts.report.analysis.metrics import METRICS, OF_LOGS

DEFAULT_REFERENCE = "baseline"
IN_WINDOW = {"qps": "queries"}


def numbered(logs: list[Log]) -> list[Log]:
    """Return the logs with repetitions counted from 1 inside each cell, in the order of their numbers in the paths.

    The number in a path can be a date, which counts nothing.
    """
    used: dict[tuple[str, str, int], list[int]] = {}
    for log in logs:
        used.setdefault(log.run.cell, []).append(log.run.key[-1])
    ranks = {cell: {number: rank for rank, number in enumerate(sorted(numbers), 1)} for cell, numbers in used.items()}
    if all(number <= max(map(len, ranks.values())) and number > 0 for numbers in ranks.values() for number in numbers):
        return logs
    return [replace(log, facts={**log.facts, "repetition": ranks[log.run.cell][log.run.key[-1]]}) for log in logs]


def study_description(study: str, folder: Path, rules: Pattern, tree: Tree) -> ResolvedStudy:
    """Return the description of the study; keys that logs cannot fill are empty or None.

    A cell that another variant has is planned, so that it is shown as a hole. Raises ValueError if the reference has
    no log, or if a variant has a reserved name.
    """
    runs = [log.run for log in tree.logs]
    variants, workloads = _variants(runs, rules), _workloads(tree.logs, rules)
    clients = sorted({run.cell[-1] for run in runs})
    _demand_clients(clients, rules)
    return ResolvedStudy(
        study=study,
        title=rules.title or f"Imported logs: {study}",
        question=rules.question or _question(variants),
        reference=variants[0],
        clients=clients,
        repetitions=max(run.key[-1] for run in runs),
        variants={name: ResolvedVariant() for name in variants},
        workloads={name: ResolvedWorkload() for name in workloads},
        config_text=rules.text,
        order=list(_holes(runs, variants, workloads)),
        imported=_imported(folder, rules, tree, workloads),
    )


def _imported(folder: Path, rules: Pattern, tree: Tree, workloads: list[str]) -> ImportedLogs:
    """Return how the logs were read, and what they contain; a cell is one that some variant has."""
    logs = tree.logs
    ok = [log for log in logs if log.run.outcome == "ok"]
    windows = [log.run.window for log in ok]
    notes = {code: [LogNote(log.file, log.notes[code]) for log in logs if code in log.notes] for code in Note}
    cells = {ImportedCell(*log.run.cell[1:]) for log in logs}
    return ImportedLogs(
        folder=folder.name,
        files=len(logs),
        pattern=rules.written,
        dates=rules.date,
        unread=[LogNote(*refusal) for refusal in tree.unread],
        left_out=[LogNote(*refusal) for refusal in tree.left_out],
        axes=_axes(logs, rules),
        means=rules.means,
        skip_s=rules.skip_s,
        cells=sorted(cells, key=lambda cell: (workloads.index(cell.workload), cell.clients)),
        metrics=[name for name in (*METRICS, *OF_LOGS) if _count_with(windows, IN_WINDOW.get(name, name))],
        notes={str(code): files for code, files in notes.items() if files},
        drift_judged=sum(drift_is_judged(log.run.series.tps or []) for log in ok),
        rates=sum(Note.TARGET_RATE in log.notes for log in ok),
        measured=len(ok),
        latency=max(OPERATION_SHARES, key=lambda name: (_count_with(windows, name), name == "p95_ms", name)),
    )


def _demand_clients(clients: list[int], rules: Pattern) -> None:
    """Raise ValueError naming a client count of `means` that no log has."""
    for name, counts in rules.means.items():
        for number in (number for number in counts if number not in clients):
            raise ValueError(
                f"means: {name}: {number} clients match no log; there are {listing(list(map(str, clients)))}"
            )


def _count_with(windows: list[WindowFacts], metric: str) -> int:
    return sum(getattr(window, metric, None) is not None for window in windows)


def _question(variants: list[str]) -> str:
    reference, *others = variants
    if not others:
        return f"What do the logs of {reference} show?"
    return f"How {'does' if len(others) == 1 else 'do'} {listing(others)} compare with {reference}?"


def _variants(runs: list[Run], rules: Pattern) -> list[str]:
    """Return the variants, the reference first: the pattern file's, the only one, or `baseline`."""
    names = {run.cell[0] for run in runs}
    written = next(iter(names)) if rules.reference is None and len(names) == 1 else rules.reference or DEFAULT_REFERENCE
    reference = written if written in names else rules.renamed("variant", written)
    variants = sorted(names, key=lambda name: (name != reference, rules.rank("variant", name)))
    if reference not in names:
        raise ValueError(f"reference: {written!r} has no log, expected one of {', '.join(variants)}")
    if reserved := sorted(names.intersection(CONTROLS)):
        raise ValueError(
            f"variant {reserved[0]!r}: this name is reserved for the reference measured a second time; "
            "give it another one with `rename:` of the pattern file"
        )
    return variants


def _workloads(logs: Iterable[Log], rules: Pattern) -> list[str]:
    keys: dict[str, list[SortKey]] = {}
    for log in logs:
        _, workload, _ = log.run.cell
        key = [rules.rank("workload", workload), *(rules.rank(axis, level) for axis, level in log.axes.items())]
        keys[workload] = min(keys.get(workload, key), key)

    # The whole name decides only where the pattern file writes it, or where nothing else does.
    def sort_key(name: str) -> tuple[SortKey, list[SortKey], SortKey]:
        of_workload, *of_levels = keys[name]
        is_written = of_workload[0][0] == WRITTEN
        return of_workload if is_written else ((WRITTEN + 1, 0, ""),), of_levels, natural_key(name)

    return sorted(keys, key=sort_key)


def _axes(logs: Iterable[Log], rules: Pattern) -> dict[str, AxisLevels]:
    """Return axis -> its levels and the level of each workload, of axes that divide the workloads."""
    workload_levels: dict[str, dict[str, set[str]]] = {}
    for log in logs:
        for axis, level in log.axes.items():
            workload_levels.setdefault(axis, {}).setdefault(log.run.cell[1], set()).add(level)
    axes: dict[str, AxisLevels] = {}
    for axis, of in workload_levels.items():
        levels = sorted(set.union(*of.values()), key=lambda level: rules.rank(axis, level))
        if len(levels) > 1 and all(len(of_workload) == 1 for of_workload in of.values()):
            axes[axis] = {
                "levels": levels,
                "of": {workload: next(iter(of_workload)) for workload, of_workload in of.items()},
            }
    return axes


def _holes(runs: list[Run], variants: list[str], workloads: list[str]) -> Iterable[OrderedBlock]:
    """Yield the cells in which some variants have no log, as blocks of these variants."""
    variants_of: dict[tuple[str, int], set[str]] = {}
    for run in runs:
        variants_of.setdefault(run.cell[1:], set()).add(run.cell[0])
    for workload, clients in sorted(variants_of, key=lambda cell: (workloads.index(cell[0]), cell[1])):
        present = variants_of[workload, clients]
        if absent := [name for name in variants if name not in present]:
            yield OrderedBlock(workload, clients, 1, absent)


def in_order(logs: list[Log], study: ResolvedStudy) -> list[Log]:
    """Return the logs by workload, clients, variant and repetition, as the study declares them."""
    workloads, variants = list(study.workloads), list(study.variants)

    def key(log: Log) -> tuple[int, int, int, int, SortKey]:
        variant, workload, clients, repetition = log.run.key
        return workloads.index(workload), clients, variants.index(variant), repetition, natural_key(log.file)

    return sorted(logs, key=key)
