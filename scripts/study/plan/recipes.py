"""What a study makes: the recipe of each thing, whose digest is in its path, and the order of the runs.

A recipe holds what is declared: no mirrors, paths, core counts or neutral values. An edit therefore makes a new thing
beside the old one, and an edit taken back finds the old one again.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, wraps
from pathlib import Path
from typing import Any

from scripts.build.compilation import toolchain
from scripts.build.compilation.stages import (
    BOLTED,
    DEFAULT_BOLT,
    DEFAULT_TOOLCHAIN,
    LOADER,
    PREBUILT,
    Stages,
    split_flags,
)
from scripts.build.sources import kinds
from scripts.lib.json_record import digest, file_sha256
from scripts.lib.vocabulary import AUTOMATIC, NEVER, SLOW
from scripts.measure.engine import buffer_pool
from scripts.measure.engine.disk_load import TURN_S
from scripts.measure.loadgen import lua
from scripts.measure.servers import families
from scripts.measure.sql import statement_files
from scripts.study.config.loading import Study
from scripts.study.config.mistakes import Mistake
from scripts.study.config.yaml_lines import ConfigError

Recipe = dict[str, Any]
# Names of databases have 63 characters at most.
LONGEST_STUDY = 40
# Raised when code changes what a costly step makes from the same declaration; those of builds by the kind of stage.
RECIPES = {
    "plain": 1,
    "instrumented": 2,
    "optimised": 2,
    "published_instrumented": 1,
    "published": 1,
    "relocatable": 1,
    "bolt_instrumented": 1,
    "bolted": 1,
    "prebuilt": 1,
    "profile": 1,
    "dataset": 1,
    "run": 1,
    "check": 1,
    "diagnosis": 1,
}


def without_neutral_values(recipe: Recipe) -> Recipe:
    """Return a recipe without neutral values, so that a key added by a later release leaves old digests as they are."""
    return {key: value for key, value in recipe.items() if value not in (None, False, [], {}, "")}


def once(method: Callable) -> Callable:
    """Cache a method's results by positional arguments, on its object; callers share a result and never change it."""
    store = f"_once_{method.__name__}"

    @wraps(method)
    def known(self: Any, *arguments: Any) -> Any:
        # Like cached_property, this writes past a frozen dataclass.
        answers = vars(self).setdefault(store, {})
        if arguments not in answers:
            answers[arguments] = method(self, *arguments)
        return answers[arguments]

    return known


@dataclass(frozen=True)
class LoadRecipes:
    """Recipes of a study's loads; `root` is the checkout, whose scripts they contain by content."""

    study: Study
    root: Path

    @once
    def workload(self, name: str) -> Recipe:
        """Return the recipe of a workload: script, options, tables, and the content of a script of ours."""
        declared = self.study.entries["workloads"][name]
        if "sql" in declared:
            return statement_files.timed_sql_recipe(self.root, declared, self.tables(declared["dataset"]))
        return without_neutral_values(
            {
                "script": self._script(declared["script"]),
                "rows": declared.get("rows"),
                "options": declared.get("options", {}),
                "tables": self.tables(declared["dataset"]),
                "content": self.content(declared["script"]),
            }
        )

    def dataset_of(self, workload: str) -> str:
        """Return the name of the dataset that a workload runs on."""
        return self.study.entries["workloads"][workload]["dataset"]

    def tables(self, dataset: str, data: Recipe | None = None) -> Recipe:
        """Return the declaration of a dataset with a variant's `data` laid over it, option by option."""
        declared, own = self.study.entries["datasets"][dataset], data or {}
        laid = {**declared, **own, "options": {**declared.get("options", {}), **own.get("options", {})}}
        script = self._script(laid["script"]) if "script" in laid else None
        return without_neutral_values({**laid, "script": script, "fill": None})

    def fill(self, workload: str, data: Recipe) -> str | None:
        """Return whether tables are read into the pool before warm-up; None where that depends on the pool's size."""
        declared = self.study.entries["workloads"][workload]
        dataset = {**self.study.entries["datasets"][declared["dataset"]], **data}
        return {True: buffer_pool.ALWAYS, False: buffer_pool.NEVER, None: None}[
            declared.get("fill", dataset.get("fill"))
        ]

    def content(self, script: str | None) -> str | None:
        """Return the SHA-256 (hex) of a script of ours, None for another one."""
        ours = self.root / "workloads" / (script or "")
        return file_sha256(ours) if ours.is_file() and not lua.is_outside(script) else None

    @once
    def _script(self, script: str) -> str:
        """Return a script's name in recipes; a script outside the checkout is named by its content, not its path."""
        return lua.recipe_name(script)

    def window(self, workload: str) -> Recipe:
        """Return the seconds of a workload's warm-up and windows; timed SQL has neither."""
        timed = "sql" in self.study.entries["workloads"][workload]
        if timed:
            return {}
        turn_s = self.study.config.get("turn_s", TURN_S)
        own = {"turn_s": turn_s} if turn_s != TURN_S else {}
        return {**{key: self.study.config[key] for key in ("warmup_s", "measure_s")}, **own}


@dataclass(frozen=True)
class Plan:
    """Recipes and order of one study; `root` is the checkout, whose scripts recipes contain by content."""

    study: Study
    root: Path

    # Reading a working tree takes a while.
    @once
    def source(self, server: str) -> Recipe:
        """Return the recipe of a server's sources; its checksum is that of the first source."""
        entry = self.study.entries["servers"][server]
        names = {"server": server, "product": entry["product"], "version": entry["version"]}
        declared = self._declared_source(server)
        asked = {"family": entry["family"]} if self.is_running(server) else {}
        return without_neutral_values({**names, **asked, **declared})

    def _declared_source(self, server: str) -> Recipe:
        """Return what the first source of a server declares. Raises ConfigError with the line that names it."""
        entry = self.study.entries["servers"][server]
        try:
            return kinds.declared_source(entry["sources"], entry["version"], families.products())
        except (OSError, ValueError) as error:
            kind = kinds.kind_of(entry["sources"][0])
            text, declared = str(error).removeprefix(f"{kind}: "), str(entry["sources"][0][kind])
            shown = text if declared in text else f"{declared!r}: {text}"
            mistake = Mistake(("servers", server, "sources", 0, kind), shown)
            raise ConfigError(f"study {self.study.name}: {self.study.line(mistake)}") from error

    def is_running(self, server: str) -> bool:
        """Return whether a server already runs."""
        return kinds.is_running(self.study.entries["servers"][server]["sources"])

    @once
    def build(self, server: str, build: str) -> Recipe:
        """Return the recipe of a build, or of a stage behind one, by its name."""
        stage = self.stages.of(build)
        recipe = {
            "recipe": RECIPES[stage.kind],
            "family": self.family(server),
            "source": self.source(server),
            "server": server,
            "build": build,
            "stage": stage.kind,
        }
        if stage.kind in BOLTED:
            recipe["toolchain"] = self._tools(stage.declared.get("bolt_toolchain", DEFAULT_BOLT))
            before = self.stages.input(build)
            recipe["input"] = {"name": before, "digest": digest(self.build(server, before))}
        elif stage.kind != PREBUILT:
            recipe |= self._compiled(server, stage.declared)
        if used := self.stages.profile(build):
            made = self.profile(server, used.training, used.stage)
            recipe["profile"] = {"training": used.training, "digest": digest(made)}
        return without_neutral_values(recipe)

    def _compiled(self, server: str, declared: Recipe) -> Recipe:
        """Return the part of a recipe that compiles sources: toolchain, flags and options of configure."""
        return {
            "toolchain": self._tools(declared.get("toolchain", DEFAULT_TOOLCHAIN)),
            "flags": split_flags(declared.get("flags", [])),
            "lto": declared.get("lto"),
            "published": declared.get("published"),
            "configure": self.study.entries["servers"][server].get("configure", []),
            "debug_information": declared.get("debug_information", False),
            "libraries": self._libraries(server),
        }

    def _libraries(self, server: str) -> list[str]:
        """Return the libraries that a server's builds have because options of the study or of a training name them."""
        family, variants = families.of(self.family(server)), self.study.variants
        options = [self.options(name) for name, variant in variants.items() if variant["server"] == server]
        options += [self.training_options(training) for training in self.study.entries["trainings"]]
        return sorted(family.ADDED_LIBRARIES & set().union(*map(family.named_libraries, options)))

    def _tools(self, name: str) -> Recipe:
        entry = self.study.entries["toolchains"][name]
        commands = {key: value for key, value in entry.items() if key != "packages"}
        return {"name": name, "version": self.toolchain(name).version, "commands": commands}

    @cached_property
    def stages(self) -> Stages:
        """Return the stages behind the study's builds."""
        return Stages(self.study.entries["builds"])

    @once
    def toolchain(self, name: str) -> toolchain.Toolchain:
        """Return a toolchain of this machine by its name. Raises ValueError naming a command that is missing."""
        return toolchain.find(name, self.study.entries["toolchains"][name])

    def loader(self, server: str) -> str:
        """Return the name of the build that loads a server's datasets."""
        return PREBUILT if kinds.prebuilt(self.study.entries["servers"][server]["sources"]) else LOADER

    def check(self, server: str, build: str) -> Recipe:
        """Return the recipe of a build's answers to the statements of the differential check."""
        family = self.family(server)
        return {
            "recipe": RECIPES["check"],
            "server": server,
            "family": family,
            "build_digest": digest(self.build(server, build)),
            "statements_sha256": statement_files.statements_sha256(self.root, family),
        }

    def check_reference(self, server: str) -> str:
        """Return the build whose answers a server's other builds must give: its baseline if a variant uses it, else the
        first that may not fail, else the first.
        """
        used = [variant["build"] for variant in self.study.variants.values() if variant["server"] == server]
        entries = self.study.entries["builds"]
        sound = [build for build in used if not entries.get(build, {}).get("may_fail")]
        return self.loader(server) if self.loader(server) in used else (sound or used)[0]

    @once
    def profile(self, server: str, training: str, stage: str) -> Recipe:
        """Return the recipe of the profile that a training of an instrumented stage yields."""
        declared = self.study.entries["trainings"][training]
        made = self.build(server, stage)
        workloads = []
        for name in declared["workloads"]:
            dataset = self._loads.dataset_of(name)
            made_of = self.training_data(server, training, dataset)
            own = {"tables": self.tables(dataset, made_of[-1]), "dataset_digest": self.dataset_digest(*made_of)}
            workloads.append({"name": name, **self.workload(name), **own})
        return without_neutral_values(
            {
                "recipe": RECIPES["profile"],
                "server": server,
                "family": self.family(server),
                "training": training,
                "instrumented": {"name": stage, "digest": digest(made)},
                "toolchain": made["toolchain"],
                "options": self.training_options(training),
                "workloads": workloads,
                "clients": declared["clients"],
                "seconds": declared["seconds"],
            }
        )

    def training_options(self, training: str) -> Recipe:
        """Return the server options of a training: its own, else those of the study."""
        return self.study.entries["trainings"][training].get("options", self.study.config.get("options", {}))

    def training_data(self, server: str, training: str, dataset: str) -> tuple[str, str, Recipe, Recipe]:
        """Return the arguments of `dataset` for a dataset of a training; one that is trained with is loaded anew."""
        load = self.study.entries["trainings"][training].get("load")
        return server, dataset, self.training_options(training), {"fresh": True} if load else {}

    @cached_property
    def _loads(self) -> LoadRecipes:
        return LoadRecipes(self.study, self.root)

    def workload(self, name: str) -> Recipe:
        """Return the recipe of a workload: script, options, tables, and the content of a script of ours."""
        return self._loads.workload(name)

    def tables(self, dataset: str, data: Recipe | None = None) -> Recipe:
        """Return the declaration of a dataset with a variant's `data` laid over it, option by option."""
        return self._loads.tables(dataset, data)

    def data(self, variant: str) -> Recipe:
        """Return the keys that a variant lays over every dataset."""
        return self.study.variants[variant].get("data", {})

    def dataset(self, server: str, name: str, options: Recipe, data: Recipe | None = None) -> Recipe:
        """Return the recipe of a dataset: its tables with `data` laid over them, and the server options that shape a
        data directory.
        """
        shaping = families.of(self.family(server)).DATA_OPTIONS
        made = without_neutral_values(
            {
                "recipe": RECIPES["dataset"],
                "server": server,
                "family": self.family(server),
                "source": self.source(server),
                "dataset": name,
                "tables": (tables := self.tables(name, data)),
                "content": self._loads.content(tables.get("script")),
                "options": {key: value for key, value in options.items() if key in shaping},
            }
        )
        return {**made, "database": self._own_database(made)} if self.is_running(server) else made

    def _own_database(self, dataset: Recipe) -> str:
        """Return the name of the database of ours with a dataset on a server that already runs: the study's own."""
        plain = re.sub(r"[^a-z0-9]", "_", self.study.name)[:LONGEST_STUDY]
        return f"pgobench_{plain}_{digest({'study': self.study.name, **dataset})}"

    def dataset_digest(self, *parts: Any) -> str:
        """Return the digest in a dataset's path, from the arguments of `dataset`."""
        return digest(self.dataset(*parts))

    def options(self, variant: str) -> Recipe:
        """Return the server options of a variant: the study's, the variant's laid over them."""
        return {**self.study.config.get("options", {}), **self.study.variants[variant].get("options", {})}

    def environment(self, variant: str) -> Recipe:
        """Return the environment variables of a variant's server: its build's, the variant's laid over them."""
        declared = self.study.variants[variant]
        build = self.study.entries["builds"].get(declared["build"], {})
        return {**build.get("environment", {}), **declared.get("environment", {})}

    def family(self, server: str) -> str:
        """Return a server's family."""
        return self.study.entries["servers"][server]["family"]

    @once
    def variant(self, name: str) -> Recipe:
        """Return the recipe of a variant."""
        declared = self.study.variants[name]
        server, build = declared["server"], declared["build"]
        return without_neutral_values(
            {
                "server": server,
                "family": self.family(server),
                "build": build,
                "options": self.options(name),
                "environment": self.environment(name),
                "build_digest": digest(self.build(server, build)),
                "storage": declared.get("storage"),
                "relinked": declared.get("relinked"),
            }
        )

    @once
    def load(self, variant: str, workload: str) -> Recipe:
        """Return the recipe of measuring a variant under a workload."""
        server, config = self.study.variants[variant]["server"], self.study.config
        dataset, data = self._loads.dataset_of(workload), self.data(variant)
        made = self.dataset_digest(server, dataset, self.options(variant), data)
        timed = "sql" in self.study.entries["workloads"][workload]
        return without_neutral_values(
            {
                "recipe": RECIPES["run"],
                **self.workload(workload),
                "tables": self.tables(dataset, data),
                "dataset": {"name": dataset, "digest": made},
                **self._loads.window(workload),
                "fill": self._loads.fill(workload, data),
                **{key: config.get(key) for key in ("rest_s", "series", "client", "rounds")},
                "slice_s": None if config.get("slice_s") == AUTOMATIC else config.get("slice_s"),
                # What a server did before a level is part of what is measured.
                "ladder": sorted(config["clients"]) if config.get("restart") == NEVER else None,
                "stop": SLOW if config.get("stop") == SLOW else None,
                # The workflow itself sends timed SQL, so sysbench's environment is not in it.
                "client_environment": None if timed else config.get("client_environment"),
                "placement": config["placement"],
                "campaign": config["campaign"],
            }
        )
