"""Why a plan makes a thing or measures a run: it is new, its recipe differs, its input is remade, or it failed."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import PurePosixPath

from scripts.lib.vocabulary import BLOCK_FILE
from scripts.study.config.yaml_lines import at, mapping
from scripts.study.plan.block_layout import BlockRecord
from scripts.study.plan.preview.differences import RecipeDifference, RecipeValues, differences, short_value
from scripts.study.plan.preview.due import Due, Thing

# The record of a thing that holds the recipe it was made from.
RECIPE_RECORDS = {"build": "facts.json", "profile": "profile.json", "dataset": "dataset.json"}
CLOSEST = 8


@dataclass(frozen=True)
class New:
    """Nothing of this name was made before; of a run that extends a study, `clients` or `repetitions` is new."""

    clients: int | None = None
    repetitions: bool = False


@dataclass(frozen=True)
class Changed:
    """The recipe differs from that of the closest earlier version; no differences where none was recorded."""

    differences: tuple[RecipeDifference, ...] = ()


@dataclass(frozen=True)
class FailedBefore:
    """An attempt left a log and no result."""

    log: str


@dataclass(frozen=True)
class Remade:
    """The result exists, but a thing it depends on is made again."""

    root: Thing
    reason: "Reason"


@dataclass(frozen=True)
class MeasuredBeside:
    """The reference, measured before, is measured again beside variants that were not."""


Reason = New | Changed | FailedBefore | Remade | MeasuredBeside


class Reasons:
    """Reasons for the things that are due, from the recipes recorded with earlier versions."""

    def __init__(self, due: Due) -> None:
        self.due = due
        self.listing = due.listing
        self.plan = due.paths.plan
        self.of: Callable[[Thing], Reason] = cache(self._of)
        self.earlier: Callable[[str], RecipeValues | None] = cache(self._earlier)

    def _of(self, thing: Thing) -> Reason:
        """Return why a thing is due."""
        root = self.due.root(thing)
        if root and root != thing:
            return self.remade(root)
        if self.listing.has(log := self.log(thing)):
            return FailedBefore(log)
        if thing.kind == "source":
            moved = self.due.source_changes(thing.server).items()
            moved_values = (RecipeDifference(f"source.{key}", *map(short_value, values)) for key, values in moved)
            return Changed(tuple(moved_values)) if moved else New()
        if not (versions := self.versions(thing)[:CLOSEST]):
            return New()
        recipes = [self.recorded(thing.kind, folder) for folder in versions]
        return self.closest(filter(None, recipes), self.planned[thing.folder.rpartition("-")[2]])

    def remade(self, root: Thing) -> Remade:
        """Return the reason of a result that depends on `root`."""
        return Remade(root, self.of(root))

    def recorded(self, kind: str, folder: str) -> RecipeValues | None:
        """Return the recipe a thing was made from, None when its record holds none."""
        return mapping(at(self.listing.record(f"{folder}/{RECIPE_RECORDS[kind]}"), ("recipe",))) or None

    def versions(self, thing: Thing) -> list[str]:
        """Return the folders of earlier versions of a thing, the latest first."""
        versions = self.listing.versions(*thing.folder.rpartition("-")[0].rsplit("/", 1))
        if thing.kind == "profile":
            # Trainings of one name on a compiler's and on BOLT's instrumented builds are different things.
            kind = self.plan.stages.of(thing.stage).kind
            versions = [folder for folder in versions if self.trained_kind(folder) in (kind, None)]
        return [folder for folder in versions if folder != thing.folder]

    def trained_kind(self, profile: str) -> str | None:
        """Return the kind of the build that an earlier profile was trained on, None where that is not recorded."""
        digest = at(self.recorded("profile", profile), ("instrumented", "digest"))
        stage = at(self.earlier(digest), ("stage",)) if isinstance(digest, str) else None
        return stage if isinstance(stage, str) else None

    def closest(self, earlier: Iterable[RecipeValues], new: RecipeValues) -> Changed:
        """Return the fewest differences that one of several earlier recipes has from a new one."""
        lookups = (self.earlier, self.planned.get)
        changes = [changed for old in earlier if (changed := differences(old, new, *lookups))]
        return Changed(min(changes, key=lambda change: (change[0].old is None, len(change)), default=()))

    @cached_property
    def planned(self) -> dict[str, RecipeValues]:
        """Return digest -> recipe of the builds, profiles and datasets of the plan."""
        plan, paths, things = self.plan, self.due.paths, self.due.things
        recipes = {thing: plan.build(thing.server, thing.name).dump() for thing in things["build"]}
        recipes |= {thing: plan.profile(thing.server, thing.name, thing.stage).dump() for thing in things["profile"]}
        recipes |= {thing: plan.dataset(*paths.datasets[thing.folder]).dump() for thing in things["dataset"]}
        return {thing.folder.rpartition("-")[2]: recipe for thing, recipe in recipes.items()}

    def _earlier(self, digest: str) -> RecipeValues | None:
        """Return the recipe of something made earlier by the digest in its path, None when it is not recorded."""
        servers = sorted({thing.server for thing in self.due.things["source"]})
        places = ((kind, f"results/{kind}s/{server}") for kind in RECIPE_RECORDS for server in servers)
        folders = ((kind, folder) for kind, home in places if (folder := self.listing.digested(home, digest)))
        return next((self.recorded(kind, folder) for kind, folder in folders), None)

    def log(self, thing: Thing) -> str:
        """Return the log of the job that makes a thing."""
        name = PurePosixPath(thing.folder).name
        if thing.kind == "source":
            return f"results/logs/fetch_source/{name}.log"
        rules = {"profile": "train_server", "dataset": "load_dataset"}
        rule = rules.get(thing.kind) or self.plan.stages.of(thing.name).kind.rule
        return f"results/logs/{rule}/{thing.server}/{name}.log"


class RunReasons:
    """Reasons for the runs to measure; per variant and workload a few records of earlier versions are read."""

    def __init__(self, reasons: Reasons) -> None:
        self.reasons = reasons
        self.due = reasons.due
        self.listing = reasons.listing
        self.paths = reasons.due.paths
        self.plan = reasons.plan

    @cached_property
    def table(self) -> dict[Reason, Counter[tuple[str, str]]]:
        """Return reason -> number of runs to measure for it by (variant, workload)."""
        counts: dict[Reason, Counter[tuple[str, str]]] = {}
        for group, paths in self.due.groups.items():
            for reason in self.of_group(*group, paths):
                counts.setdefault(reason, Counter())[group] += 1
        return counts

    def of_group(self, variant: str, workload: str, paths: list[str]) -> list[Reason]:
        """Return the reason of each of the runs of a variant under a workload."""
        tried = {path: self.log(path) for path in paths}
        lost = next(filter(None, tried.values()), "")
        again = {path for path in paths if self.measured_before(path, variant)}
        untold = [path for path, log in tried.items() if not log and path not in again]
        rest = self.untried(variant, workload) if untold else None
        reasons = {path: rest or self.added(path, variant) for path in untold}
        return [FailedBefore(lost) if log else reasons.get(path, MeasuredBeside()) for path, log in tried.items()]

    def measured_before(self, path: str, variant: str) -> bool:
        """Return whether another block of the same repetition has the arm already."""
        home, digest = path.rsplit("/", 2)[0], self.paths.arm_digest(variant, self.paths.runs[path].workload)
        blocks = (f"{home}/{name}/{BLOCK_FILE}" for name in self.listing.names(home))
        return any(BlockRecord.of(self.listing.record(block) or {}).digest(variant) == digest for block in blocks)

    def log(self, path: str) -> str | None:
        """Return the log of the block of a run that was tried before, None when it was not."""
        block = path.rpartition("/")[0].removeprefix(f"{self.paths.study}/blocks/")
        log = f"results/logs/measure_block/{self.plan.study.name}/{block}.log"
        return log if self.listing.has(log) else None

    def added(self, path: str, variant: str) -> New:
        """Return what is new about a run whose variant has others under its workload."""
        run = self.paths.runs[path]
        measured = any(
            variant in block.arms and (block.key.workload, block.key.clients) == (run.workload, run.clients)
            for block in self.paths.blocks
            if block.finished
        )
        return New(repetitions=True) if measured else New(clients=run.clients)

    def untried(self, variant: str, workload: str) -> Reason | None:
        """Return why all runs of a variant under a workload are due, None when some of them were measured."""
        blocks = (block for block in self.paths.blocks if block.finished and block.key.workload == workload)
        if any(variant in block.arms for block in blocks):
            return None
        records = map(self.listing.record, self.samples(variant, workload))
        recipes = [mapping(at(record, ("recipe",))) for record in records]
        new = self.recipe(self.plan.variant(variant).dump(), self.plan.load(variant, workload).dump())
        pairs = [(mapping(recipe.get("variant")), mapping(recipe.get("load"))) for recipe in recipes]
        # Under a workload that it never was measured under, only the variant may differ.
        earlier = [self.recipe(arm, load) for arm, load in pairs if arm and load.get("name", workload) == workload]
        return self.reasons.closest(earlier, new) if any(recipe != new for recipe in earlier) else New()

    def samples(self, variant: str, workload: str) -> list[str]:
        """Return the paths of some records of a variant under a workload: one a block."""
        home = f"{self.paths.study}/blocks/{workload}"
        folders = [
            f"{home}/{clients}/{repetition}/{block_digest}"
            for clients in sorted(self.listing.names(home))
            for repetition in sorted(self.listing.names(f"{home}/{clients}"))[:1]
            for block_digest in sorted(self.listing.names(f"{home}/{clients}/{repetition}"))
        ]
        return [path for folder in folders if self.listing.has(path := f"{folder}/{variant}.json")][: CLOSEST * 2]

    @staticmethod
    def recipe(variant: RecipeValues, load: RecipeValues) -> RecipeValues:
        """Return the recipes of a variant and its load as one; both have a key `options`."""
        return {**variant, "load": load}

    def sample(self, folder: str) -> str | None:
        """Return the path of one record of an arm below a folder, None without one."""
        for name in sorted(self.listing.names(folder)):
            if name.endswith(".json") and name != BLOCK_FILE:
                return f"{folder}/{name}"
            if not name.endswith((".txt", ".json")) and (below := self.sample(f"{folder}/{name}")):
                return below
        return None
