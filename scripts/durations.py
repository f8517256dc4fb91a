"""How long what is due takes: as it last took on this machine, else as stated here and in the catalog."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from scripts.due import Due, Thing
from scripts.run_reasons import RunReasons
from scripts.run_time import OVERHEAD_S, ROWS_PER_S, kept_rows, load_s, stated_s
from scripts.stages import BOLT_INSTRUMENTED, PREBUILT

# An instrumented or profile-using compile takes about this many times the CPU of a plain one (measured, gcc 12).
INSTRUMENTED_COST = 1.3
COMPILE_CPU_MINUTES = 30
# Seconds of what is not compiled: BOLT took 27 s and 8 s for MariaDB on two cores.
QUICK_S = {BOLT_INSTRUMENTED: 30, "bolted": 10, PREBUILT: 10}
# A data directory is initialised before it is filled.
EMPTY_S = 5
CHECK_S = 5
# Snakemake's part between two runs.
BETWEEN_S = 1


@dataclass(frozen=True)
class Estimate:
    """Seconds, and whether they are those of this machine's last facts rather than stated ones."""

    seconds: float
    measured: bool


def total(parts: Iterable[Estimate]) -> Estimate:
    """Return the sum of estimates; it is measured where all parts are."""
    known = list(parts)
    return Estimate(sum(part.seconds for part in known), all(part.measured for part in known))


class Durations:
    """Estimates for what is due, on `cores` cores."""

    def __init__(self, due: Due, runs: RunReasons, cores: int) -> None:
        self.due = due
        self.listing = due.listing
        self.study = due.paths.plan.study
        self.runs = runs
        self.cores = max(1, min(cores, len(os.sched_getaffinity(0))))

    def of(self, thing: Thing) -> Estimate:
        """Return the estimate of making a build, a profile or a dataset."""
        return {"build": self.build, "profile": self.training, "dataset": self.loading}[thing.kind](thing)

    def build(self, thing: Thing) -> Estimate:
        """Return that of a compile: the last of its kind here, else any other's CPU time, else the catalog's."""
        plan = self.due.paths.plan
        kind, lto = plan.stages.of(thing.name).kind, bool(plan.build(thing.server, thing.name).get("lto"))
        facts = self.facts(thing.server)
        if alike := [one for one in facts if one["stage"] == kind and bool((one["flags"] or {}).get("lto")) == lto]:
            return Estimate(self.taken_s(alike[0]), measured=True)
        if kind in QUICK_S:
            return Estimate(QUICK_S[kind], measured=False)
        factor = INSTRUMENTED_COST if "instrumented" in kind else 1
        if compiled_s := [one["cpu_s"] for one in facts if one["stage"] not in QUICK_S]:
            return Estimate(min(compiled_s) * factor / self.cores, measured=True)
        stated_s = self.study.entries["servers"][thing.server].get("compile_cpu_minutes", COMPILE_CPU_MINUTES) * 60
        return Estimate(stated_s * factor / self.cores, measured=False)

    def facts(self, server: str) -> list[dict[str, Any]]:
        """Return the facts of a server's builds on this machine, the last first, without those of failed ones."""
        folder = f"results/builds/{server}"
        files = [f"{folder}/{name}/facts.json" for name in self.listing.names(folder)]
        found = {
            file: facts for file in files if {"cpu_s", "stage"} <= (facts := self.listing.record(file) or {}).keys()
        }
        return [found[file] for file in sorted(found, key=lambda file: Path(file).stat().st_mtime, reverse=True)]

    def taken_s(self, facts: dict[str, Any]) -> float:
        """Return the seconds a build took, or would have taken on as many cores as there are now."""
        same = facts.get("threads") == self.cores or facts["stage"] in QUICK_S
        return facts["wall_s"] if same else facts["cpu_s"] / self.cores

    def training(self, thing: Thing) -> Estimate:
        """Return that of a training: its workloads, and starting and stopping the server for each."""
        declared = self.study.entries["trainings"][thing.name]
        return Estimate(len(declared["workloads"]) * (declared["seconds"] + OVERHEAD_S), measured=False)

    def loading(self, thing: Thing) -> Estimate:
        """Return that of loading a dataset: as another of the server took for its rows, else as stated."""
        _, name, _, data = self.due.paths.datasets[thing.folder]
        rows = kept_rows(self.due.paths.plan.tables(name, data))
        folder = f"results/datasets/{thing.server}"
        others = [self.listing.record(f"{folder}/{name}/dataset.json") for name in self.listing.names(folder)]
        if known := [other for other in others if other]:
            nearest = min(known, key=lambda other: abs(kept_rows(other) - rows))
            more_rows = max(0, rows - kept_rows(nearest))
            return Estimate(nearest["load_s"] + more_rows / ROWS_PER_S, measured=more_rows == 0)
        return Estimate(EMPTY_S + rows / ROWS_PER_S, measured=False)

    @cached_property
    def run(self) -> Estimate:
        """Return that of one run: warm-up, window, and what the study's runs took beside them."""
        sample = self.runs.sample(f"{self.due.paths.study}/runs")
        known = (self.listing.record(sample) if sample else None) or {}
        load = (known.get("recipe") or {}).get("load") or {}
        if known.get("outcome") == "ok" and ({"warmup_s", "measure_s"} <= load.keys() or "sql" in load):
            spent_s = sum(known["phases_s"].values()) - known["phases_s"].get("wait_lock", 0)
            return Estimate(load_s(self.study.config) + spent_s - load_s(load) + BETWEEN_S, measured=True)
        return Estimate(stated_s(self.study), measured=False)

    @cached_property
    def phases(self) -> dict[str, Estimate]:
        """Return the estimates of the phases after fetching."""
        made = {phase: total(map(self.of, self.due.of(kind))) for phase, kind in PHASES.items()}
        checks = Estimate(CHECK_S * len(self.due.checks), measured=False)
        runs = Estimate(self.run.seconds * len(self.due.runs), self.run.measured)
        return {**made, "check": checks, "measure": runs}


PHASES = {"compile": "build", "train": "profile", "load": "dataset"}
