"""The diagnoses of a study, cell by cell: which tool found what in which variant."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from scripts import failures
from scripts.flames import Samples, samples_of
from scripts.wording import missing

TOOLS = {
    "perf": "perf, call stacks",
    "waits": "waits, timed or sampled",
    "syscalls": "strace -c, system calls",
    "fsyncs": "strace -T, waits for the disk",
}
Facts = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """The diagnoses of one workload with one client count; `measured` gives a value of the study's own runs, if any."""

    workload: str
    clients: int
    records: list[Facts]
    variants: tuple[str, ...]
    reference: str
    measured: Callable[[str, str], float | None]

    def of(self, tool: str) -> dict[str, Facts]:
        """Return variant -> record of what a tool found, the study's order, without those that found nothing."""
        found = {facts["variant"]: facts for facts in self.records if facts["tool"] == tool}
        ok = {name: facts for name, facts in found.items() if not failures.has_failed(facts)}
        return {name: ok[name] for name in self.variants if name in ok}

    def failed(self) -> list[tuple[str, str, str]]:
        """Return (tool, variant, reason) of the diagnoses that came to nothing."""
        lost = [facts for facts in self.records if failures.has_failed(facts)]
        return [(facts["tool"], facts["variant"], str(facts.get("reason"))) for facts in lost]

    @cached_property
    def samples(self) -> dict[str, Samples]:
        """Return variant -> perf's samples."""
        found = self.of("perf")
        return {name: samples_of(facts["diagnosis"], self.cpu_us(name, facts)) for name, facts in found.items()}

    def cpu_us(self, variant: str, facts: Facts) -> float:
        """Return the server's CPU time a transaction: as the study measured it, else as in the diagnosis itself."""
        known = self.measured(variant, "cpu_us_per_tx")
        spent_s = facts["cpu"]["server_user_s"] + facts["cpu"]["server_system_s"]
        return known if known is not None else per_transaction(facts, spent_s * 1e6)


def per_transaction(facts: Facts, amount: float) -> float:
    """Return an amount of a window over its transactions, NaN without any."""
    return amount / facts["window"]["transactions"] if facts["window"]["transactions"] else float("nan")


def cells(study: dict[str, Any], table: pd.DataFrame, records: list[Facts]) -> list[Cell]:
    """Return the cells that were looked into, in the study's order; `table` is cells.csv."""
    values = {
        (row.variant, row.workload, row.clients, row.metric): row.value
        for row in table.itertuples()
        if not missing(row.value)
    }

    def measured(workload: str, clients: int) -> Callable[[str, str], float | None]:
        return lambda variant, metric: values.get((variant, workload, clients, metric))

    keys = {(facts["workload"], facts["clients"]) for facts in records}
    ordered = sorted(keys, key=lambda key: (list(study["workloads"]).index(key[0]), key[1]))
    return [
        Cell(
            *key,
            [facts for facts in records if (facts["workload"], facts["clients"]) == key],
            tuple(study["variants"]),
            study["reference"],
            measured(*key),
        )
        for key in ordered
    ]
