"""Which outputs of a plan are due: missing ones, and those that depend on due ones."""

import os
import time
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from scripts import record
from scripts.plan.diagnoses import Diagnoses
from scripts.plan.order import Run
from scripts.plan.paths import Paths
from scripts.plan.recipes import once
from scripts.sources import kinds


class Listing:
    """Names in folders and contents of records as they were at first use. Nothing is written."""

    @once
    def names(self, folder: str) -> frozenset[str]:
        """Return the names in a folder, none where there is no folder."""
        try:
            with os.scandir(folder) as entries:
                return frozenset(entry.name for entry in entries)
        except (FileNotFoundError, NotADirectoryError):
            return frozenset()

    @once
    def record(self, path: str) -> dict[str, Any] | None:
        """Return a record, None without one; the rule that needs an unreadable one reports it."""
        try:
            return record.read(Path(path))
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return None

    def has(self, path: str) -> bool:
        """Return whether a file or folder exists."""
        folder, _, name = path.rpartition("/")
        return name in self.names(folder)

    def versions(self, folder: str, name: str) -> list[str]:
        """Return the folders `name`-digest in `folder`, the latest first."""
        found = [f"{folder}/{entry}" for entry in self.names(folder) if entry.rpartition("-")[0] == name]
        return sorted(found, key=lambda path: (Path(path).stat().st_mtime, path), reverse=True)

    def digested(self, folder: str, digest: str) -> str | None:
        """Return the folder in `folder` whose name ends in a digest, None without one."""
        found = (f"{folder}/{entry}" for entry in self.names(folder) if entry.endswith(f"-{digest}"))
        return next(found, None)


Values = tuple[Any, Any]


def source_changes(recipe: dict[str, Any], first_kind: str, known: dict[str, Any]) -> dict[str, Values]:
    """Return key -> (fetched, declared) of the values that differ between a source recipe and the record `known`.

    The recipe's checksum is that of the first declared source, whose kind is `first_kind`; a tree fetched from another
    kind has no checksum to compare.
    """
    sums = {file["sha256"] for file in known.get("files", [])}
    found = {
        key: (known.get(key), value) for key, value in recipe.items() if key != "sha256" and known.get(key) != value
    }
    stated = recipe.get("sha256")
    if stated and known.get("kind") == first_kind and stated.lower() not in sums:
        found["sha256"] = (next(iter(sorted(sums)), None), stated)
    return found


SOURCES = "results/sources"
RECORDS = {"build": "identity.json", "profile": "profile.json", "dataset": "dataset.json", "source": "source.json"}


@dataclass(frozen=True)
class Thing:
    """A source, build, profile or dataset; `name` is that of the build, training or dataset, of a source the server's.

    `stage` is the instrumented build that a profile's training runs on.
    """

    kind: str
    server: str
    name: str
    folder: str
    stage: str = ""

    @property
    def record(self) -> str:
        """Return the path of the record that is written last."""
        return f"{self.folder}/{RECORDS[self.kind]}"


class Due:
    """The outputs of a plan that are due, by the files that exist at first use.

    A thing is due when its record is missing or a thing it depends on is due; `root` is the missing thing behind it.
    """

    def __init__(self, paths: Paths, listing: Listing) -> None:
        self.paths = paths
        self.listing = listing
        self._roots: dict[Thing, Thing | None] = {}

    @cached_property
    def things(self) -> dict[str, list[Thing]]:
        """Return everything that runs depend on, by kind, in the order of making."""
        paths = self.paths
        used = [*paths.stages.items(), *paths.builds.items()]
        builds = {folder: Thing("build", *pair, folder) for folder, pair in used}
        profiles = [
            Thing("profile", server, training, folder, stage)
            for folder, (server, training, stage) in paths.profiles.items()
        ]
        return {
            "source": [self.source(server) for server in sorted({thing.server for thing in builds.values()})],
            "build": list(builds.values()),
            "profile": profiles,
            "dataset": [Thing("dataset", parts[0], parts[1], folder) for folder, parts in paths.datasets.items()],
        }

    def source(self, server: str) -> Thing:
        """Return a server's sources."""
        return Thing("source", server, server, self.paths.source(server).rpartition("/")[0])

    def build(self, server: str, build: str) -> Thing:
        """Return a build or a stage."""
        return Thing("build", server, build, self.paths.build(server, build))

    def needs(self, thing: Thing) -> list[Thing]:
        """Return the direct dependencies of a thing; a dataset has none: any build of its server may have loaded it."""
        paths, server = self.paths, thing.server
        if thing.kind == "build":
            profile = paths.profile(server, thing.name)
            before = paths.plan.stages.input(thing.name)
            trained = [found for found in self.things["profile"] if found.folder == profile]
            return [self.build(server, before) if before else self.source(server), *trained]
        if thing.kind == "profile":
            folders = paths.training_datasets(server, thing.name)
            loaded = [found for found in self.things["dataset"] if found.folder in folders]
            return [self.build(server, thing.stage), *loaded]
        return []

    def missing(self, thing: Thing) -> bool:
        """Return whether the record of a thing is missing."""
        return not self.listing.has(thing.record)

    def source_changes(self, server: str) -> dict[str, Values]:
        """Return key -> (fetched last, declared) of the values in which a server's sources differ."""
        plan = self.paths.plan
        kind = kinds.kind_of(plan.study.entries["servers"][server]["sources"][0])
        records = [self.listing.record(f"{folder}/source.json") for folder in self.listing.versions(SOURCES, server)]
        known = next(filter(None, records), None)
        return source_changes(plan.source(server), kind, known) if known else {}

    def root(self, thing: Thing) -> Thing | None:
        """Return the missing thing that makes a thing due, which may be itself; None when it is not due."""
        if thing not in self._roots:
            roots = map(self.root, self.needs(thing))
            self._roots[thing] = thing if self.missing(thing) else next(filter(None, roots), None)
        return self._roots[thing]

    @cached_property
    def report(self) -> bool:
        """Return whether the study's report or a run or diagnosis behind it is missing."""
        wanted = [*self.paths.runs, *Diagnoses(self.paths).of_paths]
        missing = any(not self.listing.has(path) for path in wanted)
        return missing or not self.listing.has(f"{self.paths.study}/report.html")

    def of(self, kind: str) -> list[Thing]:
        """Return the things of a kind to make: none when nothing behind the report is missing."""
        return [thing for thing in self.things[kind] if self.report and self.root(thing)]

    @cached_property
    def runs(self) -> dict[str, Run]:
        """Return path -> run of the runs to measure, in the order of measuring."""
        again = {
            (run.variant, run.workload): self.behind(run.variant, run.workload) is not None
            for run in {(run.variant, run.workload): run for run in self.paths.runs.values()}.values()
        }
        return {
            path: run
            for path, run in self.paths.runs.items()
            if self.report and (again[run.variant, run.workload] or not self.listing.has(path))
        }

    def behind(self, variant: str, workload: str) -> Thing | None:
        """Return the root that makes all runs of a variant under a workload due, None without one."""
        used = self.paths.plan.study.variants[variant]
        folder = self.paths.dataset(variant, workload)
        needs = [self.build(used["server"], used["build"])]
        needs += [thing for thing in self.things["dataset"] if thing.folder == folder]
        return next(filter(None, map(self.root, needs)), None)

    @cached_property
    def checks(self) -> list[str]:
        """Return the differential checks, audits and proofs to make."""
        due = {thing.folder for thing in self.of("build")}
        if not self.report:
            return []
        answers = {self.paths.answers(thing.server, thing.name) for thing in self.of("build")}
        return [
            path
            for path in [*self.paths.checks, *self.paths.audits, f"{self.paths.study}/proofs.json"]
            if not self.listing.has(path) or path.rpartition("/")[0] in due | answers
        ]

    @cached_property
    def groups(self) -> dict[tuple[str, str], list[str]]:
        """Return (variant, workload) -> paths of its runs to measure."""
        found: dict[tuple[str, str], list[str]] = defaultdict(list)
        for path, run in self.runs.items():
            found[run.variant, run.workload].append(path)
        return dict(found)


BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
Block = tuple[str, int, int]


@dataclass(frozen=True)
class Split:
    """`blocks` would be split of `total` by new runs of `variants`, of which `added` were never measured here.

    `other_boot`: the runs that are there are of another boot; else they lie too far back.
    """

    blocks: tuple[Block, ...]
    total: int
    variants: tuple[str, ...]
    added: tuple[str, ...]
    other_boot: bool


def find_split(
    due: Due, preparing_s: float, run_s: float, now_s: float | None = None, boot_id: str | None = None
) -> Split:
    """Return the blocks that measuring what is due would split.

    A block is split when its last run would end later than `block_span_s` after its first one began, each taking
    `run_s` and the first due one starting `preparing_s` from now; or when a run that is there is of another boot.
    """
    begin_s = (time.time() if now_s is None else now_s) + preparing_s
    ends_s: dict[Block, float] = {}
    for number, run in enumerate(due.runs.values(), start=1):
        ends_s[block_of(run)] = begin_s + number * run_s
    there = existing_runs(due, set(ends_s))
    first_s = {key: min(map(_modified_s, paths.values())) - run_s for key, paths in there.items()}
    span_s = due.paths.plan.study.config["block_span_s"]
    late = {key for key, started_s in first_s.items() if ends_s[key] - started_s > span_s}
    boots = other_boots(due, {key: there[key] for key in there.keys() - late}, boot_id or BOOT_ID.read_text().strip())
    split = late | boots
    fresh = {run.variant for run in due.runs.values() if block_of(run) in split}
    variants = tuple(name for name in due.paths.plan.study.variants if name in fresh)
    added = tuple(name for name in variants if not due.listing.versions(f"{due.paths.study}/runs", name))
    total = len({block_of(run) for run in due.paths.runs.values()})
    return Split(tuple(sorted(split)), total, variants, added, bool(boots))


def block_of(run: Run) -> Block:
    """Return the block of a run."""
    return run.workload, run.clients, run.repetition


def existing_runs(due: Due, blocks: set[Block]) -> dict[Block, dict[str, str]]:
    """Return block -> variant -> path of the runs that are there and stay, of these blocks."""
    found: dict[Block, dict[str, str]] = defaultdict(dict)
    for path, run in due.paths.runs.items():
        if block_of(run) in blocks and path not in due.runs:
            found[block_of(run)][run.variant] = path
    return dict(found)


def other_boots(due: Due, there: dict[Block, dict[str, str]], boot_id: str) -> set[Block]:
    """Return the blocks with runs of a variant whose record is of another boot; one record of each variant is read."""
    sampled = {variant: path for paths in there.values() for variant, path in paths.items()}
    known = {variant: due.listing.record(path) or {} for variant, path in sampled.items()}
    other = {variant for variant, facts in known.items() if facts.get("host", {}).get("boot_id", boot_id) != boot_id}
    return {key for key, paths in there.items() if other & paths.keys()}


def _modified_s(path: str) -> float:
    return Path(path).stat().st_mtime
