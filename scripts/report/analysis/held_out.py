"""The workloads that a build was trained on, and its gain on those and on the others."""

from dataclasses import dataclass
from functools import cache

import pandas as pd

from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.vocabulary import CONTROLS
from scripts.lib.wording import listing
from scripts.report.analysis.comparison import over_workloads
from scripts.report.analysis.metrics import TPS
from scripts.report.analysis.table_rows import OverallRow


@dataclass(frozen=True)
class Split:
    """The two kinds of workloads for one variant, each with its row of overall.csv over them alone."""

    trained: list[str]
    held_out: list[str]
    on_trained: OverallRow
    on_held_out: OverallRow


def trained_on(study: ResolvedStudy) -> dict[str, list[str]]:
    """Return the workloads of the trainings of every variant whose build uses a profile; A/A is left out."""
    arms = {name: arm.build for name, arm in study.variants.items() if name not in CONTROLS}
    return {name: list(workloads) for name, build in arms.items() if (workloads := study.trained_on.get(build))}


def label(study: ResolvedStudy, workload: str) -> str:
    """Return which variants were trained with a workload, and from whose training it was held out."""
    trained = trained_on(study)
    inside = [name for name, workloads in trained.items() if workload in workloads]
    outside = [name for name in trained if name not in inside]
    parts = [
        f"In the training of {listing(inside)}" if inside else "",
        f"{'held' if inside else 'Held'} out from the training of {listing(outside)}" if outside else "",
    ]
    return "; ".join(part for part in parts if part) + ("." if trained else "")


def splits(study: ResolvedStudy, tables: dict[str, pd.DataFrame]) -> dict[str, Split]:
    """Return the variants that were measured on both kinds of workloads, with their TPS on each kind."""

    @cache  # variants mostly have the same training
    def over(*names: str) -> dict[str, OverallRow]:
        return over_workloads(study, tables["runs"], names, TPS.name)

    by_variant = {}
    for variant, workloads in trained_on(study).items():
        trained, others = (
            [name for name in study.workloads if (name in workloads) == inside] for inside in (True, False)
        )
        on_trained, on_others = over(*trained).get(variant), over(*others).get(variant)
        if on_trained and on_trained.n_cells and on_others and on_others.n_cells:
            by_variant[variant] = Split(trained, others, on_trained, on_others)
    return by_variant
