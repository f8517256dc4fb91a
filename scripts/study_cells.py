"""Two finished studies cell by cell: values, their ratio, the speedups within each, and the ratio of the two."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scripts.finished_study import Finished
from scripts.study_changes import Refusals
from scripts.unpaired import NONE, Estimate, Term, estimate, log_ratios, log_values, over


@dataclass(frozen=True)
class Compared:
    """One variant and metric over one cell or several: geometric means, and estimates; NONE where there is none."""

    value_a: float
    value_b: float
    change: Estimate
    speedup_a: Estimate
    speedup_b: Estimate
    relative: Estimate


def shared_cells(a: Finished, b: Finished, variant: str) -> list[tuple[str, int]]:
    """Return (workload, clients) of the cells that both have ok runs of, in the order of the first study."""
    order = [(workload, clients) for workload in a.study["workloads"] for clients in a.study["clients"]]
    both = [set(log_values(each.tables["runs"], variant, "tps").index) for each in (a, b)]
    return [cell for cell in order if cell in both[0] & both[1]]


@dataclass(frozen=True)
class Cells:
    """Two studies with the cells both have by variant, and the differences that forbid to speak of a speedup."""

    a: Finished
    b: Finished
    shared: dict[str, list[tuple[str, int]]]
    refusals: Refusals

    @property
    def one_reference(self) -> bool:
        """Whether both speedups are over a variant of one name."""
        return self.a.study["reference"] == self.b.study["reference"]

    def compared(self, variant: str, metric: str, cells: Sequence[tuple[str, int]]) -> Compared:
        """Return what the two studies say of a variant over some of the cells they share.

        `change` is B's value over A's, from unpaired repetitions. A speedup is that over the study's own reference,
        from its blocks, or from unpaired repetitions where it was imported. `relative` is B's speedup over A's, given
        only when both references have one name.
        """
        values = [over(cells, [(1, log_values(each.tables["runs"], variant, metric))]) for each in (self.a, self.b)]
        speedups = [over(cells, _speedup(each, variant, metric)) for each in (self.a, self.b)]
        both = self.one_reference and variant != self.a.study["reference"]
        return Compared(
            *(_mean(side) for side in values),
            change=estimate([*values[1], *_less(values[0])]),
            speedup_a=estimate(speedups[0]),
            speedup_b=estimate(speedups[1]),
            relative=estimate([*speedups[1], *_less(speedups[0])]) if both else NONE,
        )


def whole_speedup(study: Finished, variant: str, metric: str) -> Estimate:
    """Return a variant's speedup over its reference in all cells of a study."""
    return estimate(_speedup(study, variant, metric))


def _speedup(study: Finished, variant: str, metric: str) -> list[Term]:
    if variant == study.study["reference"]:
        return []
    if not study.imported:
        return [(1, log_ratios(study.tables["comparisons"], variant, metric))]
    runs = study.tables["runs"]
    return [(1, log_values(runs, variant, metric)), (-1, log_values(runs, study.study["reference"], metric))]


def _less(terms: list[Term]) -> list[Term]:
    return [(-sign, wide) for sign, wide in terms]


def _mean(terms: list[Term]) -> float:
    wide = terms[0][1]
    return float(np.exp(wide.mean(axis=1).mean())) if len(wide) else float("nan")
