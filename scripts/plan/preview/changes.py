"""Differences between two recipes as changes of the keys that say so in a config file."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scripts.builds.stages import BOLTED
from scripts.config import expansion
from scripts.plan.recipes import Plan

RecipeValues = dict[str, Any]
Values = tuple[Any, Any]
Path = tuple[str, ...]
# Path in a recipe, `*` for any last part -> kind and key of the change; names are filled in, `{key}` is the last part.
Keys = dict[Path, tuple[str, str]]
LONGEST_VALUE = 40
WHOLE = ("placement",)


@dataclass(frozen=True, order=True)
class Change:
    """One difference; `kind` is config, source, toolchain, script, code, or unknown where a recipe was not recorded."""

    kind: str
    key: str
    old: str = ""
    new: str = ""


def shown(value: Any) -> str:
    """Return a value as a line can hold it."""
    if value in (None, "", [], {}):
        return "nothing"
    match value:
        case bool():
            return str(value).lower()
        case list():
            text = " ".join(map(str, value))
        case dict():
            text = ", ".join(f"{key}: {shown(part)}" for key, part in value.items())
        case _:
            text = str(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def leaves(value: Any, path: Path = ()) -> dict[Path, Any]:
    """Return path -> value of everything in a recipe that is no mapping."""
    if not isinstance(value, dict) or not value or path == WHOLE:
        return {path: value}
    return {found: leaf for key, part in value.items() for found, leaf in leaves(part, (*path, key)).items()}


def differing(old: RecipeValues, new: RecipeValues) -> dict[Path, Values]:
    """Return path -> (old, new) of the leaves that two recipes do not share."""
    before, after = leaves(old), leaves(new)
    return {
        path: (before.get(path), after.get(path))
        for path in sorted({*before, *after})
        if before.get(path) != after.get(path)
    }


def keyed_change(moved: dict[Path, Values], keys: Keys, **names: str) -> set[Change]:
    """Return the changes of those leaves that have a key; the others follow from what a recipe stands on."""
    found = set()
    for path, values in moved.items():
        if chosen := keys.get(path) or keys.get((*path[:-1], "*")):
            found.add(Change(chosen[0], chosen[1].format(key=path[-1], **names), *map(shown, values)))
    return found


def known_change(found: set[Change]) -> set[Change]:
    """Leave out what is not known where something else is: it says why already."""
    told = {change for change in found if change.kind != "unknown"}
    return told or found


FoundChange = set[Change]
SOURCE: Keys = {("source", "*"): ("source", "servers.{server} {key}")}
BUILD: Keys = {
    **SOURCE,
    **{(key,): ("config", f"builds.{{owner}}.{key}") for key in ("flags", "lto", "published", "debug_information")},
    ("configure",): ("config", "servers.{server}.configure"),
    ("toolchain", "name"): ("config", "builds.{owner}.toolchain"),
    ("profile", "training"): ("config", "builds.{owner}.profile"),
    ("recipe",): ("code", "compiling"),
}
BOLT: Keys = {
    ("toolchain", "name"): ("config", "builds.{owner}.bolt_toolchain"),
    ("profile", "training"): ("config", "builds.{owner}.bolt"),
    ("recipe",): ("code", "BOLT's step"),
}
SAME_TOOLCHAIN: Keys = {
    ("toolchain", "version"): ("toolchain", "{toolchain}"),
    ("toolchain", "commands", "*"): ("config", "toolchains.{toolchain}.{key}"),
}
PROFILE: Keys = {
    ("clients",): ("config", "trainings.{training}.clients"),
    ("seconds",): ("config", "trainings.{training}.seconds"),
    ("names",): ("config", "trainings.{training}.workloads"),
    ("recipe",): ("code", "training"),
}
TABLES: Keys = {
    ("tables", "*"): ("config", "datasets.{dataset}.{key}"),
    ("tables", "options", "*"): ("config", "datasets.{dataset}.options.{key}"),
}
WORKLOAD: Keys = {
    **TABLES,
    ("options", "*"): ("config", "workloads.{workload}.options.{key}"),
    ("script",): ("config", "workloads.{workload}.script"),
    ("content",): ("script", "workloads/{script}"),
    ("dataset", "name"): ("config", "workloads.{workload}.dataset"),
    **{(key,): ("config", f"workloads.{{workload}}.{key}") for key in ("sql", "passes")},
}
DATASET: Keys = {
    **SOURCE,
    **TABLES,
    ("options", "*"): ("config", "options.{key}"),
    ("content",): ("script", "workloads/{script}"),
    ("recipe",): ("code", "loading"),
}
VARIANT: Keys = {(key,): ("config", f"variants.{{variant}}.{key}") for key in ("server", "build", "storage")}
LOAD: Keys = {
    **{(key,): ("config", key) for key in ("warmup_s", "measure_s", "rest_s", "series", "placement", "campaign")},
    ("client", "*"): ("config", "client.{key}"),
    ("recipe",): ("code", "measuring"),
}


class RecipeChanges:
    """Differences between recipes of a plan and earlier ones; `earlier(kind, server, digest)` gives those behind."""

    def __init__(self, plan: Plan, earlier: Callable[[str, str, str], RecipeValues | None]) -> None:
        self.plan = plan
        self.earlier = earlier

    def build(self, old: RecipeValues, server: str, build: str, owner: str) -> FoundChange:
        """Return how a build, or a stage behind the declared build `owner`, differs from an earlier one."""
        stages, new = self.plan.stages, self.plan.build(server, build)
        moved, bolted = differing(old, new), new["stage"] in BOLTED
        if bolted != (old["stage"] in BOLTED):
            used = (recipe.get("profile", {}).get("training") if "input" in recipe else None for recipe in (old, new))
            return {Change("config", f"builds.{owner}.bolt", *map(shown, used))}
        found = keyed_change(moved, BOLT if bolted else BUILD, owner=owner, server=server)
        if ("toolchain", "name") not in moved:
            found |= keyed_change(moved, SAME_TOOLCHAIN, toolchain=old.get("toolchain", {}).get("name", ""))
        if (trained := moved.get(("profile", "digest"), (None, None)))[0] and (used := stages.profile(build)):
            parts = (server, used.training, used.stage, owner)
            found |= self._behind("profile", trained[0], *parts, compare=self.profile)
        if ("input", "digest") in moved:
            parts = (server, stages.input(build), owner)
            found |= self._behind("build", moved["input", "digest"][0], *parts, compare=self.build)
        return known_change(found)

    def _behind(self, kind: str, digest: str, server: str, name: str, *more: str, compare: Callable) -> FoundChange:
        """Compare what an earlier recipe stood on, by its digest, with what the plan has instead."""
        old = self.earlier(kind, server, digest)
        return compare(old, server, name, *more) if old else {Change("unknown", f"{kind} {name}")}

    def profile(self, old: RecipeValues, server: str, training: str, stage: str, owner: str) -> FoundChange:
        """Return how a profile differs from an earlier one."""
        new = self.plan.profile(server, training, stage)
        before, after = ({load["name"]: load for load in recipe["workloads"]} for recipe in (old, new))
        moved = differing({**old, "names": list(before)}, {**new, "names": list(after)})
        found = keyed_change(moved, PROFILE, training=training)
        for name in before.keys() & after.keys():
            found |= self.workload(before[name], after[name], server, name, {}, {})
        if ("instrumented", "digest") in moved:
            digest = moved["instrumented", "digest"][0]
            found |= self._behind("build", digest, server, stage, owner, compare=self.build)
        return known_change(found)

    def workload(
        self, old: RecipeValues, new: RecipeValues, server: str, workload: str, options: dict, data: dict
    ) -> FoundChange:
        """Return how a workload differs from an earlier one, its dataset with these options and data included."""
        dataset = self.plan.study.entries["workloads"][workload]["dataset"]
        moved = differing(old, new)
        names = {"workload": workload, "dataset": dataset, "script": new.get("script", new.get("sql"))}
        found = keyed_change(moved, {**WORKLOAD, **self._laid(data)}, **names)
        for path in {("dataset", "digest"), ("dataset_digest",)} & moved.keys():
            found |= self._behind("dataset", moved[path][0], server, dataset, options, data, compare=self.dataset)
        return known_change(found)

    def dataset(self, old: RecipeValues, server: str, dataset: str, options: dict, data: dict) -> FoundChange:
        """Return how a dataset differs from an earlier one."""
        new = self.plan.dataset(server, dataset, options, data)
        names = {"server": server, "dataset": dataset, "script": new["tables"].get("script", "")}
        return keyed_change(differing(old, new), {**DATASET, **self._laid(data)}, **names)

    def _laid(self, data: RecipeValues) -> Keys:
        """Return the keys of what a variant lays over the tables; several that do so alike are one."""
        if not data:
            return {}
        name = next(name for name in self.plan.study.variants if self.plan.data(name) == data)
        paths = [(key,) for key in data if key != "options"] + [("options", key) for key in data.get("options", {})]
        return {("tables", *path): ("config", ".".join(("variants", name, "data", *path))) for path in paths}

    def variant(self, old: RecipeValues, name: str) -> FoundChange:
        """Return how a variant differs from an earlier one of its name."""
        declared = self.plan.study.variants[name]
        moved = differing(old, self.plan.variant(name))
        found = keyed_change(moved, VARIANT, variant=name)
        own = {path: values for path, values in moved.items() if path[-1] in declared.get("options", {})}
        written = {path: expansion.written_at(self.plan.study.config, ("variants", name, *path)) for path in own}
        found |= keyed_change(own, {path: ("config", ".".join(where)) for path, where in written.items()})
        rest = {path: values for path, values in moved.items() if path not in own}
        found |= keyed_change(rest, {("options", "*"): ("config", "options.{key}")})
        if ("build_digest",) in moved and not {("server",), ("build",)} & moved.keys():
            parts = (declared["server"], declared["build"], declared["build"])
            found |= self._behind("build", moved["build_digest",][0], *parts, compare=self.build)
        return known_change(found)

    def load(self, old: RecipeValues, variant: str, workload: str) -> FoundChange:
        """Return how a variant's load by a workload, and the way of measuring it, differ from earlier ones."""
        new, server = self.plan.load(variant, workload), self.plan.study.variants[variant]["server"]
        found = self.workload(old, new, server, workload, self.plan.options(variant), self.plan.data(variant))
        return known_change(found | keyed_change(differing(old, new), LOAD))
