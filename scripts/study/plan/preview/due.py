"""Which outputs of a plan are due: missing ones, and those that depend on due ones."""

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

from scripts.build.sources.declared import SourceIdentity
from scripts.lib.json_record import Json
from scripts.lib.recipe_models import ServerSourceRecipe
from scripts.study.plan.block_layout import Block
from scripts.study.plan.diagnosis_plan import Diagnoses
from scripts.study.plan.order import PlannedRun
from scripts.study.plan.schedule import Schedule

Values = tuple[Json, Json]


def source_changes(recipe: ServerSourceRecipe, first_kind: str, fetched: dict[str, Json]) -> dict[str, Values]:
    """Return key -> (fetched, declared) of the values that differ between a source recipe and the record of a tree.

    The recipe's checksum is that of the first declared source, whose kind is `first_kind`; a tree fetched from another
    kind has no checksum to compare.
    """
    sums = SourceIdentity.of(fetched).sums
    declared = {key: value for key, value in recipe.dump().items() if key != "sha256"}
    changes = {key: (fetched.get(key), value) for key, value in declared.items() if fetched.get(key) != value}
    if recipe.sha256 and fetched.get("kind") == first_kind and recipe.sha256.lower() not in sums:
        changes["sha256"] = (min(sums, default=None), recipe.sha256)
    return changes


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

    def __init__(self, paths: Schedule) -> None:
        self.paths = paths
        self.listing = paths.listing
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
            "dataset": [
                Thing("dataset", parts.server, parts.dataset, folder) for folder, parts in paths.datasets.items()
            ],
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
            trained = [other for other in self.things["profile"] if other.folder == profile]
            return [self.build(server, before) if before else self.source(server), *trained]
        if thing.kind == "profile":
            folders = paths.training_datasets(server, thing.name)
            loaded = [other for other in self.things["dataset"] if other.folder in folders]
            return [self.build(server, thing.stage), *loaded]
        return []

    def missing(self, thing: Thing) -> bool:
        """Return whether the record of a thing is missing."""
        return not self.listing.has(thing.record)

    def source_changes(self, server: str) -> dict[str, Values]:
        """Return key -> (fetched last, declared) of the values in which a server's sources differ."""
        plan = self.paths.plan
        kind = plan.study.declared.servers[server].sources[0].kind
        records = [self.listing.record(f"{folder}/source.json") for folder in self.listing.versions(SOURCES, server)]
        fetched = next(filter(None, records), None)
        return source_changes(plan.source(server), kind, fetched) if fetched else {}

    def root(self, thing: Thing) -> Thing | None:
        """Return the missing thing that makes a thing due, which may be itself; None when it is not due."""
        if thing not in self._roots:
            roots = map(self.root, self.needs(thing))
            self._roots[thing] = thing if self.missing(thing) else next(filter(None, roots), None)
        return self._roots[thing]

    @cached_property
    def report(self) -> bool:
        """Return whether the study's report or a block or diagnosis behind it is missing."""
        missing = any(not self.listing.has(path) for path in Diagnoses(self.paths).of_paths)
        unreported = not self.listing.has(f"{self.paths.study}/report.html")
        return missing or bool(self.blocks) or self.paths.is_undecided or unreported

    def of(self, kind: str) -> list[Thing]:
        """Return the things of a kind to make: none when nothing behind the report is missing."""
        return [thing for thing in self.things[kind] if self.report and self.root(thing)]

    @cached_property
    def blocks(self) -> list[Block]:
        """Return the blocks to measure, in the order of measuring."""
        return [block for block in self.paths.blocks if not block.finished]

    @cached_property
    def runs(self) -> dict[str, PlannedRun]:
        """Return path -> run of the arms of the blocks to measure, in the order of measuring."""
        measured = {block.folder for block in self.blocks}
        return {path: run for path, run in self.paths.runs.items() if path.rpartition("/")[0] in measured}

    def behind(self, variant: str, workload: str) -> Thing | None:
        """Return the root that makes all runs of a variant under a workload due, None without one."""
        folder = self.paths.dataset(variant, workload)
        needs = [self.build(*self.paths.plan.study.arms[variant].built)]
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
        groups: dict[tuple[str, str], list[str]] = defaultdict(list)
        for path, run in self.runs.items():
            groups[run.variant, run.workload].append(path)
        return dict(groups)
