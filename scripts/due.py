"""What of a plan is to be made: what is not there, and what stands on something that is made again."""

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

from scripts import source_changes, source_kinds
from scripts.diagnoses import Diagnoses
from scripts.listing import Listing
from scripts.order import Run
from scripts.paths import Paths

SOURCES = "results/sources"
RECORDS = {"build": "identity.json", "profile": "profile.json", "dataset": "dataset.json", "source": "source.json"}


@dataclass(frozen=True)
class Thing:
    """A source, build, profile or dataset; `name` is a build's, a training's, a dataset's, for a source its server's.

    `stage` is the build that a profile's training runs on.
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
    """What of a plan is to be made, by looking once at what is there.

    A thing is due when its record is missing or something it stands on is due: then `root` is what it all comes from.
    """

    def __init__(self, paths: Paths, listing: Listing) -> None:
        self.paths = paths
        self.listing = listing
        self._roots: dict[Thing, Thing | None] = {}

    @cached_property
    def things(self) -> dict[str, list[Thing]]:
        """Return everything runs stand on, by kind, in the order of making."""
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
        """Return what a thing stands on directly; a dataset may have been loaded by any build of its server."""
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
        """Tell whether a thing is not there."""
        return not self.listing.has(thing.record)

    def source_changes(self, server: str) -> dict[str, source_changes.Values]:
        """Return what a server declares of its sources and what was fetched for it last, by key where they differ."""
        plan = self.paths.plan
        kind = source_kinds.kind_of(plan.study.entries["servers"][server]["sources"][0])
        records = [self.listing.record(f"{folder}/source.json") for folder in self.listing.versions(SOURCES, server)]
        known = next(filter(None, records), None)
        return source_changes.against(plan.source(server), kind, known) if known else {}

    def root(self, thing: Thing) -> Thing | None:
        """Return what makes a thing due: itself when it is missing, else what it stands on; None when it is whole."""
        if thing not in self._roots:
            roots = map(self.root, self.needs(thing))
            self._roots[thing] = thing if self.missing(thing) else next(filter(None, roots), None)
        return self._roots[thing]

    @cached_property
    def report(self) -> bool:
        """Tell whether the study's report is missing or stands on runs still to be measured."""
        wanted = [*self.paths.runs, *Diagnoses(self.paths).of_paths]
        missing = any(not self.listing.has(path) for path in wanted)
        return missing or not self.listing.has(f"{self.paths.study}/report.html")

    def of(self, kind: str) -> list[Thing]:
        """Return the things of a kind to make: none of them is when the report stands on nothing that is missing."""
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
