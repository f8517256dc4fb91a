"""Why a thing of a plan is to be made: it is new, its recipe or its sources changed, or an attempt failed before."""

from collections import Counter
from collections.abc import Iterable
from functools import cache, cached_property
from pathlib import PurePosixPath

from scripts.builds.stages import BOLTED, PREBUILT
from scripts.plan.preview.changes import Change, RecipeChanges, RecipeValues, shown
from scripts.plan.preview.due import Due, Thing

# Which record of a thing holds the recipe it was made from.
RECIPES = {"build": "facts.json", "profile": "profile.json", "dataset": "dataset.json"}
RECORD_FOLDERS = {"build": "builds", "profile": "profiles", "dataset": "datasets"}
NEW = "new"
FAILED = "failed, was interrupted or removed before"
UNTOLD = "another version of it is there; what differs was not recorded"
CLOSEST = 8
MOST_CHANGES = 3
KINDS = {
    "config": "config changed: ",
    "source": "source changed: ",
    "toolchain": "toolchain changed: ",
    "script": "our script changed: ",
    "code": "our code changed: ",
}


class Reasons:
    """Reasons of what is due, from the recipes recorded with what earlier configs made."""

    def __init__(self, due: Due) -> None:
        self.due = due
        self.listing = due.listing
        self.plan = due.paths.plan
        self.changes = RecipeChanges(self.plan, self.earlier)
        self.of = cache(self._of)

    def recipe(self, kind: str, folder: str) -> RecipeValues | None:
        """Return the recipe a thing was made from, None when its record holds none."""
        return (self.listing.record(f"{folder}/{RECIPES[kind]}") or {}).get("recipe")

    def earlier(self, kind: str, server: str, digest: str) -> RecipeValues | None:
        """Return the recipe of something made earlier by the digest in its path, None when it is gone or untold."""
        folder = self.listing.digested(f"results/{RECORD_FOLDERS[kind]}/{server}", digest)
        return self.recipe(kind, folder) if folder else None

    def _of(self, thing: Thing) -> str:
        root = self.due.root(thing)
        if root and root != thing:
            return self.again(root)
        if thing.kind == "source":
            return self._source(thing)
        if self.listing.has(log := self.log(thing)):
            return failed_reasons(log)
        recipes = [self.recipe(thing.kind, folder) for folder in self.versions(thing)[:CLOSEST]]
        if not recipes:
            return NEW
        return reason_text(closest_record(self._changes(thing, recipe) for recipe in recipes if recipe))

    def versions(self, thing: Thing) -> list[str]:
        """Return the folders of earlier versions of a thing, the last made first."""
        versions = self.listing.versions(*thing.folder.rpartition("-")[0].rsplit("/", 1))
        if thing.kind == "profile":
            # Trainings of one name on gcc's, clang's and BOLT's instrumented builds are different things.
            kind = self.plan.stages.of(thing.stage).kind
            known = {folder: self.listing.record(f"{folder}/profile.json") or {} for folder in versions}
            versions = [folder for folder, facts in known.items() if str(facts.get("trained")).startswith(kind)]
        return [folder for folder in versions if folder != thing.folder]

    def again(self, root: Thing) -> str:
        """Return the reason of what is there and stands on something that is made again."""
        return f"{thing_label(root)} is made again ({self.of(root)})"

    def _source(self, thing: Thing) -> str:
        if self.listing.has(log := f"results/logs/fetch_source/{PurePosixPath(thing.folder).name}.log"):
            return failed_reasons(log)
        moved, key = self.due.source_changes(thing.server), f"servers.{thing.server}"
        return (
            reason_text({Change("source", f"{key} {name}", *map(shown, moved[name])) for name in moved})
            if moved
            else NEW
        )

    def _changes(self, thing: Thing, old: RecipeValues) -> set[Change]:
        match thing.kind:
            case "build":
                return self.changes.build(old, thing.server, thing.name, self.owner(thing.server, thing.folder))
            case "profile":
                owner = self.owner(thing.server, thing.folder)
                return self.changes.profile(old, thing.server, thing.name, thing.stage, owner)
        return self.changes.dataset(old, *self.due.paths.datasets[thing.folder])

    def owner(self, server: str, folder: str) -> str:
        """Return the declared build that a build, a stage or a profile belongs to."""
        paths = self.due.paths
        for mine, build in paths.builds.values():
            behind = [build, *self.plan.stages.behind(build)] if mine == server else []
            if folder in {
                found for name in behind for found in (paths.build(server, name), paths.profile(server, name))
            }:
                return build
        raise KeyError(f"{folder}: stands behind no build of the study")

    def log(self, thing: Thing) -> str:
        """Return the log of the job that makes a thing."""
        rule = {"profile": "train_server", "dataset": "load_dataset"}.get(thing.kind) or self._builder(thing.name)
        return f"results/logs/{rule}/{thing.server}/{PurePosixPath(thing.folder).name}.log"

    def _builder(self, build: str) -> str:
        kind = self.plan.stages.of(build).kind
        return "bolt_server" if kind in BOLTED else "install_prebuilt" if kind == PREBUILT else "build_server"


def closest_record(found: Iterable[set[Change]]) -> set[Change]:
    """Return the fewest changes of several, those that are all known before others; none when there are none."""
    return min(filter(None, found), key=lambda changes: (len(unknown_record(changes)), len(changes)), default=set())


def thing_label(thing: Thing) -> str:
    """Return what a thing is called in a line."""
    return f"{thing.kind} {thing.name}"


def failed_reasons(log: str) -> str:
    """Return the reason of something that was tried: its log is there, its result is not."""
    return f"{FAILED}: {log}"


def unknown_record(changes: set[Change]) -> list[str]:
    """Return what stands behind a thing and differs in a way that nobody recorded."""
    return sorted(
        f"another {change.key}, whose recipe was not recorded" for change in changes if change.kind == "unknown"
    )


def reason_text(changes: set[Change]) -> str:
    """Return changes as a reason, those of one kind together, the config's first."""
    parts = []
    for kind, words in KINDS.items():
        of_kind = [_text(change) for change in sorted(changes) if change.kind == kind]
        rest = f" and {len(of_kind) - MOST_CHANGES} more" if len(of_kind) > MOST_CHANGES else ""
        parts += [words + ", ".join(of_kind[:MOST_CHANGES]) + rest] if of_kind else []
    return "; ".join(parts + unknown_record(changes)) or UNTOLD


def _text(change: Change) -> str:
    return f"{change.key} {change.old} → {change.new}" if change.kind not in ("script", "code") else change.key


class RunReasons:
    """Reasons of runs, from one record of each variant's and workload's earlier versions; the others are not read."""

    def __init__(self, reasons: Reasons) -> None:
        self.reasons = reasons
        self.due = reasons.due
        self.listing = reasons.listing
        self.paths = reasons.due.paths

    @cached_property
    def table(self) -> dict[str, Counter[tuple[str, str]]]:
        """Return reason -> number of runs to measure for it by (variant, workload)."""
        found: dict[str, Counter[tuple[str, str]]] = {}
        for group, paths in self.due.groups.items():
            for reason in self.of_group(*group, paths):
                found.setdefault(reason, Counter())[group] += 1
        return found

    def of_group(self, variant: str, workload: str, paths: list[str]) -> list[str]:
        """Return the reason of each of the runs of a variant under a workload."""
        there = {path for path in paths if self.listing.has(path)}
        root = self.due.behind(variant, workload) if there else None
        tried = {path: self.log(path) for path in paths if path not in there}
        lost = next(filter(None, tried.values()), "")
        rest = "" if all(tried.values()) else self.untried(variant, workload)
        found = {path: failed_reasons(lost) if log else rest or self.added(path) for path, log in tried.items()}
        return [found[path] if path in found else self.reasons.again(root) for path in paths]

    def log(self, path: str) -> str | None:
        """Return a log of a run that was tried before, None when it was not."""
        run = PurePosixPath(path)
        folder = str(run.parent).replace(
            f"{self.paths.study}/runs", f"results/logs/measure_run/{self.paths.plan.study.name}"
        )
        names = (name for name in sorted(self.listing.names(folder)) if name.startswith(f"{run.stem}."))
        return next((f"{folder}/{name}" for name in names), None)

    def added(self, path: str) -> str:
        """Return what is new about a run whose variant has others under its workload."""
        folder = path.rpartition("/")[0]
        there = any(entry.endswith(".json") for entry in self.listing.names(folder))
        return f"{NEW}: more repetitions" if there else f"{NEW}: {folder.rpartition('/')[2]} clients"

    def untried(self, variant: str, workload: str) -> str:
        """Return why runs are new as a whole; nothing when there are others of the same variant and load."""
        load = self.paths.load_part(variant, workload)
        mine = f"{self.paths.study}/runs/{self.paths.variant_part(variant)}"
        if self.sample(f"{mine}/{load}"):
            return ""
        if self.sample(mine):
            return reason_text(changes) if (changes := self.load_changes(mine, variant, workload)) else NEW
        versions = self.listing.versions(f"{self.paths.study}/runs", variant)
        found = {folder: recipe for folder in versions[:CLOSEST] if (recipe := self.recipe(folder, "variant"))}
        if not found:
            return NEW
        changes = {folder: self.reasons.changes.variant(recipe, variant) for folder, recipe in found.items()}
        return reason_text(
            closest_record(
                changed | self.load_changes(folder, variant, workload) for folder, changed in changes.items()
            )
        )

    def load_changes(self, folder: str, variant: str, workload: str) -> set[Change]:
        """Return how the load differs from those that a version of the variant was measured under."""
        if self.sample(f"{folder}/{self.paths.load_part(variant, workload)}"):
            return set()
        loads = self.listing.versions(folder, workload)[:CLOSEST]
        recipes = [recipe for load in loads if (recipe := self.recipe(load, "load"))]
        return closest_record(self.reasons.changes.load(recipe, variant, workload) for recipe in recipes)

    def recipe(self, folder: str, part: str) -> RecipeValues | None:
        """Return a part of the recipe that a run below a folder was measured from."""
        path = self.sample(folder)
        return ((self.listing.record(path) or {}).get("recipe") or {}).get(part) if path else None

    def sample(self, folder: str) -> str | None:
        """Return the path of one record below a folder, None without one."""
        for name in sorted(self.listing.names(folder)):
            if name.endswith(".json"):
                return f"{folder}/{name}"
            if not name.endswith(".txt") and (found := self.sample(f"{folder}/{name}")):
                return found
        return None
