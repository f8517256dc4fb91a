"""The table of two studies side by side, one row per cell and variant, and the sentences above it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd

from scripts.commands.compare_studies.studies import FinishedStudy, Refusals, runs_of_both
from scripts.lib.vocabulary import WORKLOAD_CLIENTS
from scripts.lib.wording import NARROW, NOTHING, before_after, count, interval, listing, missing, plural, ratio, times
from scripts.report.analysis import stats
from scripts.report.analysis.comparison import Comparison, compare, terms_of
from scripts.report.analysis.metrics import TPS, Metric
from scripts.report.analysis.unpaired import NONE, Term, WelchEstimate, estimate, log_ratios, log_values, over
from scripts.report.page.document import Cell, Head, Table, TableRow, table_row, word_heads


@dataclass(frozen=True)
class Compared:
    """One variant and metric over one or more cells: geometric means and estimates, NONE if unknown.

    `sides_a` and `sides_b` are the means of reference and variant whose quotient is the speedup, NaN without one.
    """

    value_a: float
    value_b: float
    change: WelchEstimate
    speedup_a: WelchEstimate
    speedup_b: WelchEstimate
    sides_a: tuple[float, float]
    sides_b: tuple[float, float]
    relative: WelchEstimate


def shared_cells(a: FinishedStudy, b: FinishedStudy, variant: str) -> list[tuple[str, int]]:
    """Return (workload, clients) of the cells with ok runs in both studies, in the order of the first."""
    order = [(workload, clients) for workload in a.study.workloads for clients in a.study.clients]
    both = [set(_values(study, variant, TPS.name).index) for study in (a, b)]
    return [cell for cell in order if cell in both[0] & both[1]]


@dataclass(frozen=True)
class Cells:
    """Two studies, their shared cells by variant, and the differences that rule out a speedup between them."""

    a: FinishedStudy
    b: FinishedStudy
    shared: dict[str, list[tuple[str, int]]]
    refusals: Refusals

    @property
    def one_reference(self) -> bool:
        """Whether both speedups are over a variant of one name."""
        return self.a.study.reference == self.b.study.reference

    @property
    def copied_runs(self) -> tuple[int, int]:
        """How many ok runs of A are in B too, and of how many."""
        return runs_of_both(self.a, self.b), len(self.a.records)

    def compared(self, variant: str, metric: str, cells: Sequence[tuple[str, int]]) -> Compared:
        """Return the values and ratios of a variant over some of the shared cells.

        `change` is B's value over A's, from unpaired repetitions. A speedup is that over the study's own reference, as
        its report has it, or from unpaired repetitions where it was imported. `relative` is B's speedup over A's, from
        the spread between blocks of each, given only when both references have one name.
        """
        values = [over(cells, [(1, _values(study, variant, metric))]) for study in (self.a, self.b)]
        speedups = [over(cells, _speedup(study, variant, metric)) for study in (self.a, self.b)]
        both = self.one_reference and variant != self.a.study.reference
        return Compared(
            value_a=_mean(values[0]),
            value_b=_mean(values[1]),
            change=estimate([*values[1], *_less(values[0])]),
            speedup_a=_reported(self.a, variant, metric, cells),
            speedup_b=_reported(self.b, variant, metric, cells),
            sides_a=_sides(self.a, variant, metric, cells),
            sides_b=_sides(self.b, variant, metric, cells),
            relative=estimate([*speedups[1], *_less(speedups[0])]) if both else NONE,
        )


def whole_speedup(study: FinishedStudy, variant: str, metric: str) -> WelchEstimate:
    """Return a variant's speedup over its reference in all cells of a study."""
    return _reported(study, variant, metric, list(_speedup(study, variant, metric)[0][1].index))


def _reported(study: FinishedStudy, variant: str, metric: str, cells: Sequence[tuple[str, int]]) -> WelchEstimate:
    """Return a variant's speedup over its reference in some cells, with the interval of a report of these alone."""
    if study.imported or variant == study.study.reference:
        return estimate(over(cells, _speedup(study, variant, metric)))
    if (report := _report_of(study, metric, tuple(cells))) is None:
        return NONE
    rows = report.overall[(report.overall["variant"] == variant) & (report.overall["n_cells"] > 0)]
    return _estimate(rows.iloc[0]) if len(rows) else NONE


def _sides(study: FinishedStudy, variant: str, metric: str, cells: Sequence[tuple[str, int]]) -> tuple[float, float]:
    """Return the means of the reference and of a variant over some cells whose quotient is `_reported`."""
    report = None if study.imported else _report_of(study, metric, tuple(cells))
    if variant == study.study.reference or missing(_reported(study, variant, metric, cells).log_ratio):
        return float("nan"), float("nan")
    if report is None:
        variant_term, reference_term = over(cells, _speedup(study, variant, metric))
        return _mean([reference_term]), _mean([variant_term])
    table = report.cells
    ratios = table[(table["variant"] == variant) & (table["metric"] == metric) & table["ratio"].notna()]
    return stats.geometric_mean(ratios["reference_value"]), stats.geometric_mean(ratios["value"])


@cache
def _report_of(study: FinishedStudy, metric: str, cells: tuple[tuple[str, int], ...]) -> Comparison | None:
    """Return what a report of these cells alone would compare; None where they have no run of the reference."""
    runs = study.tables["runs"]
    inside = pd.MultiIndex.from_frame(runs[list(WORKLOAD_CLIENTS)]).isin(list(cells))
    if not (runs["variant"][inside] == study.study.reference).any():
        return None
    return compare(runs[inside], terms_of(study.study, [metric]))


def _estimate(row: pd.Series) -> WelchEstimate:
    low, high = (float(np.log(row[bound])) for bound in ("ratio_low", "ratio_high"))
    return WelchEstimate(float(row["log_ratio"]), low, high, int(row["n_blocks_least"]))


def _speedup(study: FinishedStudy, variant: str, metric: str) -> list[Term]:
    if variant == study.study.reference:
        return []
    if not study.imported:
        return [(1, log_ratios(study.tables["comparisons"], variant, metric))]
    return [(1, _values(study, variant, metric)), (-1, _values(study, study.study.reference, metric))]


@cache
def _values(study: FinishedStudy, variant: str, metric: str) -> pd.DataFrame:
    return log_values(study.tables["runs"], variant, metric)


def _less(terms: list[Term]) -> list[Term]:
    return [(-sign, wide) for sign, wide in terms]


def _mean(terms: list[Term]) -> float:
    wide = terms[0][1]
    return float(np.exp(wide.mean(axis=1).mean())) if len(wide) else float("nan")


def headline(cells: Cells) -> str:
    """Return the sentence on reading B over A as an effect; without interleaving it is never a speedup."""
    copied, of = cells.copied_runs
    if copied and copied == of:
        return "A and B are copies of the same runs: every ratio of the two is 1, and says nothing."
    if not any(cells.shared.values()):
        return "A and B have no cell in common: no value of one is set against a value of the other."
    differing = cells.refusals.kinds()
    if differing:
        return f"No speedup of B over A is given: they differ in {listing(differing)}."
    return (
        "Difference, not interleaved: host, sysbench and settings are the same, but A and B were measured one after "
        "the other, so whatever changed in between is in every ratio."
    )


def sentences(cells: Cells) -> list[str]:
    """Return a sentence a variant on transactions per second: over A where that is not refused, and the speedups."""
    texts = [_change(cells, name) for name in cells.shared] + [_speedups(cells, name) for name in cells.shared]
    copied, of = cells.copied_runs
    if 0 < copied < of:
        texts.insert(0, f"{copied} of {plural(of, 'run')} of A are in B too: the two were not measured apart.")
    return [sentence for sentence in texts if sentence]


def _change(cells: Cells, variant: str) -> str:
    shared = cells.shared[variant]
    if not shared or any(cells.refusals.of(variant, workload) for workload, _ in shared):
        return ""
    change = cells.compared(variant, TPS.name, shared).change
    cells_text = plural(len(shared), "cell")
    return f"{variant}: B gave {estimate_text(change)} the transactions per second of A, over {cells_text}."


def _speedups(cells: Cells, variant: str) -> str:
    studies = {"A": cells.a, "B": cells.b}
    references = [study.study.reference for study in studies.values()]
    shared = cells.shared[variant]
    if variant in references:
        return ""
    if not shared:
        speedups = {side: estimate_text(whole_speedup(study, variant, TPS.name)) for side, study in studies.items()}
        sides = zip(("A", "B"), references, strict=True)
        text = listing([f"{speedups[side]} that of {name} in {side}" for side, name in sides])
        apart = "each over all its own cells: other loads, so the two are not divided"
        return f"{variant} gave {text} transactions per second, {apart}."
    compared = cells.compared(variant, TPS.name, shared)
    in_a = f"{estimate_text(compared.speedup_a)} the transactions per second of {references[0]} in A"
    in_b = f"{estimate_text(compared.speedup_b)} those of {references[1]} in B"
    text = f"{variant} gave {in_a} and {in_b}, over {plural(len(shared), 'cell')} both have"
    if not cells.one_reference:
        return f"{text}: other references, so the two are not divided."
    loads = [change.what for workload, _ in shared for change in cells.refusals.load(variant, workload)]
    condition = f", though {listing(list(dict.fromkeys(loads)))} differ" if loads else ""
    return f"{text}; B's speedup is {estimate_text(compared.relative)} A's{condition}."


def estimate_text(estimated: WelchEstimate) -> str:
    """Write an estimate with its interval: `1.44 × (95 % interval 1.39–1.49)`."""
    if missing(estimated.low):
        return f"{times(estimated.ratio)} (no interval: {plural(estimated.n, 'repetition')})"
    return f"{times(estimated.ratio)} (95{NARROW}% interval {interval(*estimated.bounds)})"


NO_SPEEDUP = "no speedup"
OTHER_SETTINGS = "other settings"
# The third of them where nothing forbids a ratio of the two.
NOT_INTERLEAVED = "B / A, not interleaved"
SIDE_HEAD = ("A", "B", "B / A", "ratio to reference, A", "ratio to reference, B", "ratio of the two")


def side_table(cells: Cells, metric: Metric) -> Table:
    """Return the table of one metric: first the means over all shared cells, then cell by cell.

    Cells stand in the first study's order, the variants of a cell together.
    """
    variants = [name for name, shared in cells.shared.items() if shared]
    places = list(dict.fromkeys(cell for name in variants for cell in cells.shared[name]))
    over_all = [
        _row(cells, metric, plural(len(cells.shared[name]), "cell"), name, cells.shared[name]) for name in variants
    ]
    rows = [
        _row(cells, metric, f"{cell[0]}, {plural(cell[1], 'client')}", name, [cell])
        for cell in places
        for name in variants
        if cell in cells.shared[name]
    ]
    ratios = SIDE_HEAD if cells.refusals.kinds() else (*SIDE_HEAD[:2], NOT_INTERLEAVED, *SIDE_HEAD[3:])
    heads = (*word_heads("cell", "variant"), *map(Head, ratios))
    return Table(heads, (*over_all, *rows), style="values inline", labels=2)


def _row(cells: Cells, metric: Metric, where: str, variant: str, chosen: list[tuple[str, int]]) -> TableRow:
    compared = cells.compared(variant, metric.name, chosen)
    workloads = dict.fromkeys(workload for workload, _ in chosen)
    differing = list(dict.fromkeys(change.what for load in workloads for change in cells.refusals.of(variant, load)))
    load = list(dict.fromkeys(change.what for name in workloads for change in cells.refusals.load(variant, name)))
    return table_row(where, variant, *_fields(compared, differing, load))


def _fields(compared: Compared, refused: list[str], load: list[str]) -> tuple[Cell, ...]:
    return (
        Cell(count(compared.value_a)),
        Cell(count(compared.value_b)),
        _ratio(compared.change, NO_SPEEDUP if refused else "", f"differ: {', '.join(refused)}" if refused else ""),
        _ratio(compared.speedup_a, _sides_text(compared.sides_a)),
        _ratio(compared.speedup_b, _sides_text(compared.sides_b)),
        _ratio(compared.relative, OTHER_SETTINGS if load else "", f"differ: {', '.join(load)}" if load else ""),
    )


def _sides_text(sides: tuple[float, float]) -> str:
    return "" if missing(sides[0]) else before_after(*sides)


def _ratio(estimated: WelchEstimate, note: str = "", hint: str = "") -> Cell:
    if missing(estimated.log_ratio):
        return Cell(NOTHING, (), "hole")
    notes = (interval(*estimated.bounds), *([note] if note else []))
    return Cell(ratio(estimated.ratio), notes, "hole" if note == NO_SPEEDUP else "", hint)
