"""Why runs are to be measured."""

from collections import Counter
from functools import cached_property
from pathlib import PurePosixPath

from scripts.changes import Change, Recipe
from scripts.reasons import CLOSEST, NEW, Reasons, closest, failed, told


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
        found = {path: failed(lost) if log else rest or self.added(path) for path, log in tried.items()}
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
            return told(changes) if (changes := self.load_changes(mine, variant, workload)) else NEW
        versions = self.listing.versions(f"{self.paths.study}/runs", variant)
        found = {folder: recipe for folder in versions[:CLOSEST] if (recipe := self.recipe(folder, "variant"))}
        if not found:
            return NEW
        changes = {folder: self.reasons.changes.variant(recipe, variant) for folder, recipe in found.items()}
        return told(
            closest(changed | self.load_changes(folder, variant, workload) for folder, changed in changes.items())
        )

    def load_changes(self, folder: str, variant: str, workload: str) -> set[Change]:
        """Return how the load differs from those that a version of the variant was measured under."""
        if self.sample(f"{folder}/{self.paths.load_part(variant, workload)}"):
            return set()
        loads = self.listing.versions(folder, workload)[:CLOSEST]
        recipes = [recipe for load in loads if (recipe := self.recipe(load, "load"))]
        return closest(self.reasons.changes.load(recipe, variant, workload) for recipe in recipes)

    def recipe(self, folder: str, part: str) -> Recipe | None:
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
