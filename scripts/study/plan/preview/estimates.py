"""Estimates of time and bytes: from the last records on this machine, else as stated here and in the catalog."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from scripts.build.sources.declared import SourceIdentity
from scripts.build.sources.kinds import source_path, with_version
from scripts.lib.build_records import BuildFacts
from scripts.lib.json_record import Json
from scripts.lib.parts import Part
from scripts.lib.recipe_models import CompileRecipe, Options, StageKind, TablesRecipe
from scripts.lib.vocabulary import TURNS
from scripts.measure.engine.run_record import working_s
from scripts.measure.servers import families
from scripts.measure.servers.families.family import Family
from scripts.study.config.declared_servers import DirectorySource, FileSource
from scripts.study.config.run_time import OVERHEAD_S, ROWS_PER_S, StatedTimes, load_s, rows_of, snapshot_rows, stated_s
from scripts.study.config.yaml_lines import mapping
from scripts.study.plan import relink_choice
from scripts.study.plan.diagnosis_plan import Diagnoses
from scripts.study.plan.preview.due import Due, Thing
from scripts.study.plan.preview.pools import filling_s
from scripts.study.plan.preview.rerun_reasons import Reasons, RunReasons
from scripts.study.plan.schedule import Schedule

# An instrumented or profile-using compile takes about this many times the CPU of a plain one (measured, gcc 12).
INSTRUMENTED_COST = 1.3
# CPU minutes of a plain compile per MiB of unpacked sources with their archive, and how many times an archive's size
# these are. Measured: PostgreSQL 15 5.6 minutes for 22 MiB, MariaDB 10.11 33 for 110, MySQL 5.6 about 7 for 31.
CPU_MINUTES_PER_MIB, UNPACKED_TIMES = 0.05, 6
# Seconds of stages without a compiler: BOLT took 27 s and 8 s for MariaDB on two cores.
QUICK_S = {StageKind.BOLT_INSTRUMENTED: 30, StageKind.BOLTED: 10, StageKind.PREBUILT: 10}
# A data directory is initialised before it is filled.
EMPTY_S = 5
CHECK_S = 5
# Seconds that Snakemake takes between two runs.
BETWEEN_S = 1


@dataclass(frozen=True)
class DurationEstimate:
    """Seconds; whether they were measured on this machine, else whether they follow from the size of sources."""

    seconds: float
    measured: bool
    by_size: bool = False


@dataclass(frozen=True, slots=True)
class EarlierRun(Part):
    """The record of a run: what it took beside what its load states."""

    outcome: str = ""
    recipe: dict[str, Json] = field(default_factory=dict)
    phases_s: dict[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LoadedDataset(Part):
    """The record of a dataset: what it was loaded from, the seconds that took, and the size of its snapshot."""

    tables: int | None = None
    rows: int | None = None
    script: str | None = None
    options: Options = field(default_factory=dict)
    fresh: bool = False
    load_s: float = 0
    bytes: int = 0

    @property
    def rows_kept(self) -> int:
        """The rows in its snapshot."""
        return snapshot_rows(
            TablesRecipe(tables=self.tables, rows=self.rows, script=self.script, options=self.options, fresh=self.fresh)
        )


def total(parts: Iterable[DurationEstimate]) -> DurationEstimate:
    """Return the sum of estimates, measured if all parts are."""
    estimates = list(parts)
    by_size, measured = any(part.by_size for part in estimates), all(part.measured for part in estimates)
    return DurationEstimate(sum(part.seconds for part in estimates), measured, by_size)


class Durations:
    """Durations of the due outputs on `cores` cores."""

    def __init__(self, due: Due, runs: RunReasons, cores: int) -> None:
        self.due = due
        self.listing = due.listing
        self.study = due.paths.plan.study
        self.runs = runs
        self.cores = max(1, min(cores, len(os.sched_getaffinity(0))))

    def of(self, thing: Thing) -> DurationEstimate:
        """Return the estimate of making a build, a profile or a dataset."""
        return {"build": self.build, "profile": self.training, "dataset": self.loading}[thing.kind](thing)

    def build(self, thing: Thing) -> DurationEstimate:
        """Return the estimate of a build: as its kind last took here, else by any build's CPU time, else as stated.

        Without CPU minutes in the catalog the estimate follows from the size of the sources.
        """
        plan = self.due.paths.plan
        recipe = plan.build(thing.server, thing.name)
        kind, lto = recipe.stage, isinstance(recipe, CompileRecipe) and recipe.lto
        earlier = self.earlier_builds(thing.server)
        same = [build for build in earlier if build.stage == kind and bool(build.flags.lto) == lto]
        if timed := [build for build in same if build.wall_s is not None]:
            return DurationEstimate(self.taken_s(timed[0]), measured=True)
        if kind in QUICK_S:
            return DurationEstimate(QUICK_S[kind], measured=False)
        factor = INSTRUMENTED_COST if kind.is_instrumented else 1
        if compiled_s := [build.cpu_s for build in earlier if build.stage not in QUICK_S and build.cpu_s is not None]:
            return DurationEstimate(min(compiled_s) * factor / self.cores, measured=True)
        stated = self.study.declared.servers[thing.server].compile_cpu_minutes
        minutes = self.source_mib(thing.server) * CPU_MINUTES_PER_MIB if stated is None else stated
        return DurationEstimate(minutes * 60 * factor / self.cores, measured=False, by_size=stated is None)

    def source_mib(self, server: str) -> float:
        """Return MiB of a server's unpacked sources with their archive: a file's or working tree's, else as stated."""
        declared = self.study.declared.servers[server]
        match declared.sources[0]:
            case FileSource(file=path) if (file := source_path(with_version(path, declared.version))).is_file():
                return file.stat().st_size / MIB * UNPACKED_TIMES
            case DirectorySource(directory=path) if (folder := source_path(path)).is_dir():
                return sum(file.lstat().st_size for file in folder.rglob("*")) / MIB
        if declared.archive_mib is not None:
            return declared.archive_mib * UNPACKED_TIMES
        return families.of(declared.family).SOURCE_MIB

    def earlier_builds(self, server: str) -> list[BuildFacts]:
        """Return the records of a server's successful builds on this machine, the latest first."""
        folder = f"results/builds/{server}"
        files = [f"{folder}/{name}/facts.json" for name in self.listing.names(folder)]
        records = {file: self.listing.record(file) or {} for file in files}
        successful = [file for file in files if {"cpu_s", "stage"} <= records[file].keys()]
        latest_first = sorted(successful, key=lambda file: Path(file).stat().st_mtime, reverse=True)
        return [BuildFacts.of(records[file]) for file in latest_first]

    def taken_s(self, build: BuildFacts) -> float:
        """Return the seconds a build took, or would have taken on as many cores as there are now."""
        same = build.threads == self.cores or build.stage in QUICK_S
        return float((build.wall_s if same else (build.cpu_s or 0) / self.cores) or 0)

    def training(self, thing: Thing) -> DurationEstimate:
        """Return the estimate of a training: its workloads, a server's start and stop for each, and what it loads."""
        declared, paths = self.study.declared.trainings[thing.name], self.due.paths
        loads_s = len(declared.workloads) * (declared.seconds + OVERHEAD_S)
        datasets = paths.training_datasets(thing.server, thing.name).values()
        tables = [paths.plan.loads.tables(parts.dataset, parts.data) for parts in datasets]
        fill_s = sum(rows_of(dataset) - snapshot_rows(dataset) for dataset in tables) / ROWS_PER_S
        return DurationEstimate(loads_s + fill_s, measured=False)

    def loading(self, thing: Thing) -> DurationEstimate:
        """Return the estimate of loading a dataset: as the server's nearest one took for its rows, else as stated."""
        parts, folder = self.due.paths.datasets[thing.folder], f"results/datasets/{thing.server}"
        rows = snapshot_rows(self.due.paths.plan.loads.tables(parts.dataset, parts.data))
        records = [self.listing.record(f"{folder}/{name}/dataset.json") for name in self.listing.names(folder)]
        if loaded := [LoadedDataset.of(record) for record in records if record]:
            nearest = min(loaded, key=lambda other: abs(other.rows_kept - rows))
            more_rows = max(0, rows - nearest.rows_kept)
            return DurationEstimate(nearest.load_s + more_rows / ROWS_PER_S, measured=more_rows == 0)
        return DurationEstimate(EMPTY_S + rows / ROWS_PER_S, measured=False)

    @cached_property
    def run(self) -> DurationEstimate:
        """Return the estimate of one run: warm-up, window, and the other phases of the study's runs."""
        study = self.due.paths.study
        sample = self.runs.sample(f"{study}/blocks")
        earlier = EarlierRun.of((self.listing.record(sample) if sample else None) or {})
        load = mapping(earlier.recipe.get("load"))
        if earlier.outcome == "ok" and ({"warmup_s", "measure_s"} <= load.keys() or "sql" in load):
            spent_s = working_s(earlier.phases_s) - StatedTimes.of(load).load_s
            return DurationEstimate(load_s(self.study) + spent_s + BETWEEN_S, measured=True)
        return DurationEstimate(stated_s(self.study) + filling_s(self.due) + self._longer_s(), measured=False)

    def _longer_s(self) -> float:
        """Return the seconds by which windows by turns are longer than stated, the mean over all blocks."""
        paths, stated = self.due.paths, self.study.declared.measure_s
        by_turns = [paths.turn_s(block.key) for block in self.due.blocks if paths.method(block.key).name == TURNS]
        return float(sum(turn_s - stated for turn_s in by_turns if turn_s)) / max(len(self.due.blocks), 1)

    @cached_property
    def phases(self) -> dict[str, DurationEstimate]:
        """Return the estimates of the phases after fetching."""
        things = {phase: total(map(self.of, self.due.of(kind))) for phase, kind in PHASES.items()}
        due = {thing.folder for thing in self.due.of("build")}
        relinked = sum(count for folder, count in relink_choice.wanted(self.due.paths).items() if folder in due)
        checks = DurationEstimate(CHECK_S * (len(self.due.checks) + relinked), measured=False)
        runs = DurationEstimate(self.run.seconds * len(self.due.runs), self.run.measured)
        return {**things, "check": checks, "measure": runs}


PHASES = {"compile": "build", "train": "profile", "load": "dataset"}


MIB = 2**20
LOCAL = ("file", "directory", "installed", "running")
RUN_KIB = 50


@dataclass(frozen=True)
class Size:
    """MiB, `None` where unknown, and whether they come from a record here rather than from what is stated."""

    mib: float | None
    measured: bool

    @property
    def least_mib(self) -> float:
        """Return the lower bound: an estimate may be wrong by half."""
        return (self.mib or 0) / (1 if self.measured else 2)


# Of a server that already runs nothing is kept here.
NOTHING = Size(0, measured=True)


def total_mib(parts: Iterable[Size]) -> float:
    """Return the sum of the known sizes."""
    return sum(part.mib or 0 for part in parts)


class Sizes:
    """Sizes of the due outputs."""

    def __init__(self, due: Due, durations: Durations) -> None:
        self.due = due
        self.listing = due.listing
        self.plan = due.paths.plan
        self.durations = durations

    def stated(self, server: str) -> Family:
        """Return a server's family, which states sizes for a server without records."""
        return families.of(self.plan.family(server))

    def fetched(self, thing: Thing) -> Size:
        """Return the size that fetching a server's sources transfers: 0 when they are on disk, else as the catalog
        states, else that of an earlier fetch.
        """
        declared = self.plan.study.declared.servers[thing.server]
        if declared.sources[0].kind in LOCAL:
            return Size(0, measured=True)
        if declared.archive_mib is not None:
            return Size(declared.archive_mib, measured=False)
        fetched = SourceIdentity.of(self.listing.record(thing.record) or {})
        files = [Path(thing.folder, "downloads", file.name) for file in fetched.files]
        if files and all(file.is_file() for file in files):
            return Size(sum(file.stat().st_size for file in files) / MIB, measured=True)
        return Size(None, measured=False)

    def snapshot(self, folder: str) -> Size:
        """Return the size of a dataset's snapshot: as recorded, else that of its rows and an empty data directory."""
        parts = self.due.paths.datasets[folder]
        if self.plan.is_running(parts.server):
            return NOTHING
        if record := self.listing.record(f"{folder}/dataset.json"):
            return Size(LoadedDataset.of(record).bytes / MIB, measured=True)
        stated = self.stated(parts.server)
        rows = snapshot_rows(self.plan.loads.tables(parts.dataset, parts.data))
        return Size(stated.EMPTY_MIB + rows * stated.ROW_BYTES / MIB, measured=False)

    def installed(self, thing: Thing) -> Size:
        """Return the size of a build's install tree: that of the last of its kind here, else as stated."""
        return self._of_last(thing, "install_bytes")

    def relinked(self, thing: Thing) -> Size:
        """Return the size of a build's relinks, each a program: as of the last of its kind here, else at most so."""
        count, program = relink_choice.wanted(self.due.paths).get(thing.folder, 0), self._of_last(thing, "file_bytes")
        return Size(count * (program.mib or 0), program.measured or not count)

    def _of_last(self, thing: Thing, key: str) -> Size:
        if self.plan.is_running(thing.server):
            return NOTHING
        kind = self.plan.stages.of(thing.name).kind
        same = [build for build in self.durations.earlier_builds(thing.server) if build.stage == kind]
        if sizes := [size for build in same if (size := getattr(build, key)) is not None]:
            return Size(sizes[0] / MIB, measured=True)
        return Size(self.stated(thing.server).INSTALL_MIB, measured=False)

    def copied(self) -> Size:
        """Return the size of all snapshots cloned for the due runs and trainings."""
        paths = self.due.paths
        runs = [
            Size(size.mib * len(due), size.measured)
            for group, due in self.due.groups.items()
            if (size := self.snapshot(paths.dataset(*group))).mib
        ]
        trained = [
            self.snapshot(folder)
            for thing in self.due.of("profile")
            for folder in paths.training_datasets(thing.server, thing.name)
        ]
        parts = [*runs, *trained]
        return Size(total_mib(parts), all(part.measured for part in parts))

    def clone_mib(self, variant: str, workload: str) -> tuple[float, float]:
        """Return the least and the most a run's data directory takes: a snapshot; with the server's longest logs."""
        parts = self.plan.dataset_parts(variant, workload)
        if self.plan.is_running(parts.server):
            return 0.0, 0.0
        size, stated = self.snapshot(self.due.paths.dataset(variant, workload)), self.stated(parts.server)
        dataset = self.plan.loads.tables(parts.dataset, parts.data)
        loaded_mib = (rows_of(dataset) - snapshot_rows(dataset)) * stated.ROW_BYTES / MIB
        return size.least_mib + loaded_mib / 2, (size.mib or 0) + loaded_mib + stated.LOGS_MIB

    def storage(self, variant: str) -> str | None:
        """Return the folder of a variant's storage, None for the cache."""
        name = self.plan.study.arms[variant].storage
        return self.plan.study.declared.storage[name] if name else None

    def kept(self) -> dict[str, Size]:
        """Return the sizes that stay under results/, by kind."""
        fetched = [thing.server for thing in self.due.of("source") if not self.plan.is_running(thing.server)]
        sources = [Size(self.stated(server).SOURCE_MIB, measured=False) for server in fetched]
        builds = [size(thing) for thing in self.due.of("build") for size in (self.installed, self.relinked)]
        snapshots = [self.snapshot(thing.folder) for thing in self.due.of("dataset")]
        parts = {"sources": sources, "builds": builds, "snapshots": snapshots}
        runs = Size(len(self.due.runs) * RUN_KIB / 1024, measured=True)
        summed = {name: Size(total_mib(of), all(part.measured for part in of)) for name, of in parts.items()}
        return {**summed, "runs": runs}


def diagnosis_paths(due: Due) -> list[str]:
    """Return the diagnoses to make: missing ones, and those that depend on things made again."""
    planned = Diagnoses(due.paths).of_paths
    again = {path for path, run in planned.items() if due.behind(run.variant, run.workload)} if due.report else set()
    return [path for path in planned if path in again or not due.listing.has(path)]


def diagnosis_estimate(due: Due, durations: Durations) -> DurationEstimate:
    """Return the estimate of all diagnoses to make: runs with a window of their own length."""
    settings = Diagnoses(due.paths).settings
    longer_s = (settings.seconds if settings else 0) - due.paths.plan.study.declared.measure_s
    return DurationEstimate(len(diagnosis_paths(due)) * (durations.run.seconds + longer_s), durations.run.measured)


def expected_s(paths: Schedule, cores: int) -> dict[str, float]:
    """Return output -> seconds of the jobs that compile, train, load, check and measure; nothing for what exists."""
    due = Due(paths)
    durations = Durations(due, RunReasons(Reasons(due)), cores)
    things = {thing.record: durations.of(thing).seconds for kind in PHASES.values() for thing in due.of(kind)}
    checks = dict.fromkeys(due.checks, CHECK_S)
    # Blocks that share their starts of the servers are measured by one job.
    blocks = {
        path: durations.run.seconds * len(block.arms) * len(paths.levels(block.key))
        for path, block in paths.jobs.items()
        if block in due.blocks
    }
    return {**things, **checks, **blocks}
