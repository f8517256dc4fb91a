"""Why a thing of a plan is to be made: it is new, its recipe or its sources changed, or an attempt failed before."""

from collections.abc import Iterable
from functools import cache
from pathlib import PurePosixPath

from scripts.changes import Change, Recipe, shown
from scripts.due import Due, Thing
from scripts.recipe_changes import RecipeChanges
from scripts.stages import BOLTED, PREBUILT

# Which record of a thing holds the recipe it was made from.
RECIPES = {"build": "facts.json", "profile": "profile.json", "dataset": "dataset.json"}
FOLDERS = {"build": "builds", "profile": "profiles", "dataset": "datasets"}
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

    def recipe(self, kind: str, folder: str) -> Recipe | None:
        """Return the recipe a thing was made from, None when its record holds none."""
        return (self.listing.record(f"{folder}/{RECIPES[kind]}") or {}).get("recipe")

    def earlier(self, kind: str, server: str, digest: str) -> Recipe | None:
        """Return the recipe of something made earlier by the digest in its path, None when it is gone or untold."""
        folder = self.listing.digested(f"results/{FOLDERS[kind]}/{server}", digest)
        return self.recipe(kind, folder) if folder else None

    def _of(self, thing: Thing) -> str:
        root = self.due.root(thing)
        if root and root != thing:
            return self.again(root)
        if thing.kind == "source":
            return self._source(thing)
        if self.listing.has(log := self.log(thing)):
            return failed(log)
        recipes = [self.recipe(thing.kind, folder) for folder in self.versions(thing)[:CLOSEST]]
        if not recipes:
            return NEW
        return told(closest(self._changes(thing, recipe) for recipe in recipes if recipe))

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
        return f"{label(root)} is made again ({self.of(root)})"

    def _source(self, thing: Thing) -> str:
        if self.listing.has(log := f"results/logs/fetch_source/{PurePosixPath(thing.folder).name}.log"):
            return failed(log)
        moved, key = self.due.source_changes(thing.server), f"servers.{thing.server}"
        return told({Change("source", f"{key} {name}", *map(shown, moved[name])) for name in moved}) if moved else NEW

    def _changes(self, thing: Thing, old: Recipe) -> set[Change]:
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


def closest(found: Iterable[set[Change]]) -> set[Change]:
    """Return the fewest changes of several, those that are all known before others; none when there are none."""
    return min(filter(None, found), key=lambda changes: (len(unknown(changes)), len(changes)), default=set())


def label(thing: Thing) -> str:
    """Return what a thing is called in a line."""
    return f"{thing.kind} {thing.name}"


def failed(log: str) -> str:
    """Return the reason of something that was tried: its log is there, its result is not."""
    return f"{FAILED}: {log}"


def unknown(changes: set[Change]) -> list[str]:
    """Return what stands behind a thing and differs in a way that nobody recorded."""
    return sorted(
        f"another {change.key}, whose recipe was not recorded" for change in changes if change.kind == "unknown"
    )


def told(changes: set[Change]) -> str:
    """Return changes as a reason, those of one kind together, the config's first."""
    parts = []
    for kind, words in KINDS.items():
        of_kind = [_text(change) for change in sorted(changes) if change.kind == kind]
        rest = f" and {len(of_kind) - MOST_CHANGES} more" if len(of_kind) > MOST_CHANGES else ""
        parts += [words + ", ".join(of_kind[:MOST_CHANGES]) + rest] if of_kind else []
    return "; ".join(parts + unknown(changes)) or UNTOLD


def _text(change: Change) -> str:
    return f"{change.key} {change.old} → {change.new}" if change.kind not in ("script", "code") else change.key
