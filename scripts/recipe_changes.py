"""What differs between a recipe of a plan and an earlier one of the same thing.

A recipe names what it stands on by digest; such a difference is followed to the recipes behind it, so that a build
whose profile is another names the key of the training that made it so.
"""

from collections.abc import Callable

from scripts import matrix
from scripts.changes import Change, Keys, Recipe, differing, keyed, known, shown
from scripts.plan import Plan
from scripts.stages import BOLTED

Found = set[Change]
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

    def __init__(self, plan: Plan, earlier: Callable[[str, str, str], Recipe | None]) -> None:
        self.plan = plan
        self.earlier = earlier

    def build(self, old: Recipe, server: str, build: str, owner: str) -> Found:
        """Return how a build, or a stage behind the declared build `owner`, differs from an earlier one."""
        stages, new = self.plan.stages, self.plan.build(server, build)
        moved, bolted = differing(old, new), new["stage"] in BOLTED
        if bolted != (old["stage"] in BOLTED):
            used = (recipe.get("profile", {}).get("training") if "input" in recipe else None for recipe in (old, new))
            return {Change("config", f"builds.{owner}.bolt", *map(shown, used))}
        found = keyed(moved, BOLT if bolted else BUILD, owner=owner, server=server)
        if ("toolchain", "name") not in moved:
            found |= keyed(moved, SAME_TOOLCHAIN, toolchain=old.get("toolchain", {}).get("name", ""))
        if (trained := moved.get(("profile", "digest"), (None, None)))[0] and (used := stages.profile(build)):
            parts = (server, used.training, used.stage, owner)
            found |= self._behind("profile", trained[0], *parts, compare=self.profile)
        if ("input", "digest") in moved:
            parts = (server, stages.input(build), owner)
            found |= self._behind("build", moved["input", "digest"][0], *parts, compare=self.build)
        return known(found)

    def _behind(self, kind: str, digest: str, server: str, name: str, *more: str, compare: Callable) -> Found:
        """Compare what an earlier recipe stood on, by its digest, with what the plan has instead."""
        old = self.earlier(kind, server, digest)
        return compare(old, server, name, *more) if old else {Change("unknown", f"{kind} {name}")}

    def profile(self, old: Recipe, server: str, training: str, stage: str, owner: str) -> Found:
        """Return how a profile differs from an earlier one."""
        new = self.plan.profile(server, training, stage)
        before, after = ({load["name"]: load for load in recipe["workloads"]} for recipe in (old, new))
        moved = differing({**old, "names": list(before)}, {**new, "names": list(after)})
        found = keyed(moved, PROFILE, training=training)
        for name in before.keys() & after.keys():
            found |= self.workload(before[name], after[name], server, name, {}, {})
        if ("instrumented", "digest") in moved:
            digest = moved["instrumented", "digest"][0]
            found |= self._behind("build", digest, server, stage, owner, compare=self.build)
        return known(found)

    def workload(self, old: Recipe, new: Recipe, server: str, workload: str, options: dict, data: dict) -> Found:
        """Return how a workload differs from an earlier one, its dataset with these options and data included."""
        dataset = self.plan.study.entries["workloads"][workload]["dataset"]
        moved = differing(old, new)
        names = {"workload": workload, "dataset": dataset, "script": new.get("script", new.get("sql"))}
        found = keyed(moved, {**WORKLOAD, **self._laid(data)}, **names)
        for path in {("dataset", "digest"), ("dataset_digest",)} & moved.keys():
            found |= self._behind("dataset", moved[path][0], server, dataset, options, data, compare=self.dataset)
        return known(found)

    def dataset(self, old: Recipe, server: str, dataset: str, options: dict, data: dict) -> Found:
        """Return how a dataset differs from an earlier one."""
        new = self.plan.dataset(server, dataset, options, data)
        names = {"server": server, "dataset": dataset, "script": new["tables"].get("script", "")}
        return keyed(differing(old, new), {**DATASET, **self._laid(data)}, **names)

    def _laid(self, data: Recipe) -> Keys:
        """Return the keys of what a variant lays over the tables; several that do so alike are one."""
        if not data:
            return {}
        name = next(name for name in self.plan.study.variants if self.plan.data(name) == data)
        paths = [(key,) for key in data if key != "options"] + [("options", key) for key in data.get("options", {})]
        return {("tables", *path): ("config", ".".join(("variants", name, "data", *path))) for path in paths}

    def variant(self, old: Recipe, name: str) -> Found:
        """Return how a variant differs from an earlier one of its name."""
        declared = self.plan.study.variants[name]
        moved = differing(old, self.plan.variant(name))
        found = keyed(moved, VARIANT, variant=name)
        own = {path: values for path, values in moved.items() if path[-1] in declared.get("options", {})}
        written = {path: matrix.written(self.plan.study.config, ("variants", name, *path)) for path in own}
        found |= keyed(own, {path: ("config", ".".join(where)) for path, where in written.items()})
        rest = {path: values for path, values in moved.items() if path not in own}
        found |= keyed(rest, {("options", "*"): ("config", "options.{key}")})
        if ("build_digest",) in moved and not {("server",), ("build",)} & moved.keys():
            parts = (declared["server"], declared["build"], declared["build"])
            found |= self._behind("build", moved["build_digest",][0], *parts, compare=self.build)
        return known(found)

    def load(self, old: Recipe, variant: str, workload: str) -> Found:
        """Return how a variant's load by a workload, and the way of measuring it, differ from earlier ones."""
        new, server = self.plan.load(variant, workload), self.plan.study.variants[variant]["server"]
        found = self.workload(old, new, server, workload, self.plan.options(variant), self.plan.data(variant))
        return known(found | keyed(differing(old, new), LOAD))
