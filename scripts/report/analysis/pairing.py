"""Blocks of runs: which runs of a block count beside its reference, and their figures as arrays for `intervals`."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from scripts.lib.vocabulary import AA, WORKLOAD_CLIENTS, PairStatus
from scripts.report.analysis.intervals import SignedSum, against_reference
from scripts.report.analysis.metrics import SCRIPT, TPS
from scripts.report.analysis.stats import Array, Integers

SAME_HOST_COLUMNS = {
    "machine_id": "host", "boot_id": "boot of the host", "generator_boot_id": "boot of the client host",
    "sysbench_sha256": "sysbench program",
}  # fmt: skip
SLICE_ERROR = "tps_log_sd"


def block_names(runs: pd.DataFrame) -> pd.Series:
    """Return the block of each run: its column `block`, workload/clients/repetition where that is empty."""
    text = [runs[name].astype(str) for name in (*WORKLOAD_CLIENTS, "repetition")]
    composed = text[0] + "/" + text[1] + "/" + text[2]
    return runs["block"].astype(object).where(runs["block"].notna(), composed) if "block" in runs else composed


def reference_arms(runs: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Return the runs of the reference, then those of A/A."""
    return pd.concat([runs[runs["variant"] == reference], runs[runs["variant"] == AA]])


def judged_runs(runs: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Return runs.csv with every `block` filled in, and `counts`, `status` and `note` of each run.

    `status` is that of the run beside the reference of its block: paired; incomplete, when it or each reference arm
    is not ok, for A/A when the reference is not; or split, when it differs from the reference in host, boot or
    sysbench program. `note` says why. `counts` is True for every run that is ok and not split, those of the reference
    included. Raises ValueError when the reference has no run.
    """
    if not (runs["variant"] == reference).any():
        raise ValueError(f"reference {reference!r} has no run; found {', '.join(sorted(set(runs['variant'])))}")
    runs = runs.reset_index(drop=True).assign(block=block_names(runs).to_numpy())
    ok = runs["outcome"] == "ok"
    arms = reference_arms(runs, reference)
    base = arms[ok[arms.index]].drop_duplicates("block").set_index("block").reindex(runs["block"])
    lost = arms[(arms["variant"] == reference) & ~ok[arms.index]].drop_duplicates("block").set_index("block")
    without = _failure(lost).reindex(runs["block"]).fillna("the reference: no run").to_numpy()
    alone = (runs["variant"] == AA) & (base["variant"] != reference).to_numpy()
    others = {
        key: runs[key].isna().to_numpy() | (runs[key].to_numpy() != base[key].to_numpy()) for key in SAME_HOST_COLUMNS
    }
    doubts = [
        (~ok, PairStatus.INCOMPLETE, _failure(runs).to_numpy()),
        (base["variant"].isna() | alone.to_numpy(), PairStatus.INCOMPLETE, without),
        *((other, PairStatus.SPLIT, np.full(len(runs), f"another {SAME_HOST_COLUMNS[key]}", dtype=object))
          for key, other in others.items()),
    ]  # fmt: skip
    conditions = [np.asarray(condition, dtype=bool) for condition, _, _ in doubts]
    return runs.assign(
        counts=ok.to_numpy() & ~np.any(list(others.values()), axis=0),
        status=np.select(conditions, [str(status) for _, status, _ in doubts], str(PairStatus.PAIRED)),
        note=np.select(conditions, [note for _, _, note in doubts], ""),
    )


def _failure(runs: pd.DataFrame) -> pd.Series:
    return runs["variant"].astype(str) + ": " + runs["reason"].astype(object).fillna("no run").astype(str)


@dataclass(frozen=True)
class Arms:
    """The logs of what the arms of a study's blocks gave.

    `y` has the shape (metrics, cells, blocks, arms) with the axes of `metrics`, `cells`, `repetitions` (that of each
    block) and `names`: the reference, A/A, then the variants. `slices` is the variance that slices alone account for,
    of the shape (cells, blocks, arms), known for TPS only. `timed` names the workloads of timed SQL, which have
    metrics of their own.
    """

    metrics: list[str]
    cells: list[tuple[str, int]]
    repetitions: Integers
    names: list[str]
    y: Array
    slices: Array
    timed: frozenset[str]

    @property
    def compared(self) -> list[str]:
        """The arms that are compared with the reference, A/A first."""
        return self.names[1:]

    def places(self, metric: str) -> list[int]:
        """Return the places of the cells that have a metric."""
        return [at for at, (workload, _) in enumerate(self.cells) if (workload in self.timed) == (metric in SCRIPT)]

    def of(self, metric: str) -> tuple[list[tuple[str, int]], Array, Array]:
        """Return the cells that have a metric, their logs, and the slices' variance, NaN where it is unknown."""
        places = self.places(metric)
        slices = self.slices[places] if metric == TPS.name else np.full_like(self.slices[places], np.nan)
        return [self.cells[at] for at in places], self.y[self.metrics.index(metric)][places], slices

    def contrasts(self, metric: str) -> list[SignedSum]:
        """Return the contrasts of the arms in `compared` with the reference."""
        _, y, slices = self.of(metric)
        return against_reference(y, slices)

    def within(self, workloads: Collection[str]) -> "Arms":
        """Return the figures of these workloads alone."""
        chosen = [at for at, (workload, _) in enumerate(self.cells) if workload in workloads]
        cells = [self.cells[at] for at in chosen]
        parts = (self.repetitions, self.names, self.y[:, chosen], self.slices[chosen], self.timed)
        return Arms(self.metrics, cells, *parts)


def arms_of(judged: pd.DataFrame, reference: str, metrics: Iterable[str], timed: Iterable[str] = ()) -> Arms:
    """Return the figures of the runs that count in the result of `judged_runs`; values of zero are left out.

    Blocks of several cells lie at one place when they have the same repetition and variants.
    """
    names = list(dict.fromkeys([reference, AA, *judged["variant"]]))
    cells = pd.MultiIndex.from_frame(judged[list(WORKLOAD_CLIENTS)])
    cell, cell_names = pd.factorize(cells)
    block, blocks = pd.factorize(pd.MultiIndex.from_frame(_aligned(judged)))
    at = (cell, block, judged["variant"].map({name: arm for arm, name in enumerate(names)}).to_numpy())
    shape = (len(cell_names), len(blocks), len(names))
    listed = list(metrics)
    y = np.full((len(listed), *shape), np.nan)
    for number, metric in enumerate(listed):
        values = judged[metric].astype(float).to_numpy()
        y[number][at] = np.log(np.where(judged["counts"] & (values > 0), values, np.nan))
    slices = np.full(shape, np.nan)
    if SLICE_ERROR in judged:
        slices[at] = judged[SLICE_ERROR].astype(float).to_numpy() ** 2
    repetitions = np.array([number for number, *_ in blocks])
    pairs = [(str(workload), int(clients)) for workload, clients in cell_names]
    return Arms(listed, pairs, repetitions, names, y, slices, frozenset(timed))


def _aligned(judged: pd.DataFrame) -> pd.DataFrame:
    """Return (repetition, variants of the block, number among blocks alike in both) of each run."""
    arms = judged.groupby("block", sort=False)["variant"].agg(lambda names: ";".join(sorted(set(names))))
    blocks = judged.drop_duplicates("block")[[*WORKLOAD_CLIENTS, "repetition", "block"]]
    blocks = blocks.assign(arms=arms.reindex(blocks["block"]).to_numpy())
    alike = blocks.groupby([*WORKLOAD_CLIENTS, "repetition", "arms"], sort=False).cumcount()
    places = blocks.assign(number=alike).set_index("block")[["repetition", "arms", "number"]]
    return places.reindex(judged["block"])
