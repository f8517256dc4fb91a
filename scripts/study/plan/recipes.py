"""What a study makes: the recipe of each thing, whose digest is in its path."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from scripts.build.compilation import toolchain
from scripts.build.compilation.stages import (
    DEFAULT_BOLT,
    DEFAULT_TOOLCHAIN,
    LOADER,
    PREBUILT,
    Stage,
    Stages,
    split_flags,
)
from scripts.build.compilation.toolchain import Toolchain
from scripts.build.sources import kinds
from scripts.lib.json_record import digest, file_sha256
from scripts.lib.recipe_models import (
    BoltRecipe,
    BuildRecipe,
    CheckRecipe,
    CompileRecipe,
    DatasetRecipe,
    LoadRecipe,
    MadeFrom,
    Options,
    PrebuiltRecipe,
    ProfileRecipe,
    RunRecipe,
    Scalar,
    ServerSourceRecipe,
    StageKind,
    TablesRecipe,
    ToolchainRecipe,
    TrainedWorkload,
    UsedProfile,
    VariantRecipe,
    WorkloadRecipe,
)
from scripts.lib.vocabulary import AUTOMATIC, NEVER, SLOW
from scripts.measure.engine import buffer_pool
from scripts.measure.engine.disk_load import TURN_S
from scripts.measure.loadgen import lua
from scripts.measure.servers import families
from scripts.measure.sql import statement_files
from scripts.study.config.loading import Study
from scripts.study.config.mistakes import Mistake
from scripts.study.config.yaml_lines import ConfigError

Declared = dict[str, Any]
# Names of databases have 63 characters at most.
LONGEST_STUDY = 40
# Raised when code changes what a costly step makes from the same declaration; those of builds by the kind of stage.
RECIPES: dict[str, int] = {
    **dict.fromkeys(StageKind, 1),
    StageKind.INSTRUMENTED: 2,
    StageKind.OPTIMISED: 2,
    "profile": 1,
    "dataset": 1,
    "run": 1,
    "check": 1,
    "diagnosis": 1,
}


class LoadRecipes:
    """Recipes of a study's loads; `root` is the checkout, whose scripts they contain by content."""

    def __init__(self, study: Study, root: Path) -> None:
        self.study, self.root = study, root
        # A script outside the checkout is named by its content, not its path.
        self._script: Callable[[str], str] = cache(lua.recipe_name)
        self.workload: Callable[[str], WorkloadRecipe] = cache(self._workload)

    def _workload(self, name: str) -> WorkloadRecipe:
        """Return the recipe of a workload: script, options, tables, and the content of a script of ours."""
        declared = self.study.entries["workloads"][name]
        tables = self.tables(declared["dataset"])
        if "sql" in declared:
            return statement_files.timed_sql_recipe(self.root, declared, tables)
        return WorkloadRecipe(
            script=self._script(declared["script"]),
            rows=declared.get("rows"),
            options=declared.get("options", {}),
            tables=tables,
            content=self.content(declared["script"]),
        )

    def dataset_of(self, workload: str) -> str:
        """Return the name of the dataset that a workload runs on."""
        name: str = self.study.entries["workloads"][workload]["dataset"]
        return name

    def tables(self, dataset: str, data: Mapping[str, Any] | None = None) -> TablesRecipe:
        """Return the declaration of a dataset with a variant's `data` laid over it, option by option."""
        declared, own = self.study.entries["datasets"][dataset], data or {}
        laid = {**declared, **own, "options": {**declared.get("options", {}), **own.get("options", {})}}
        script = self._script(laid["script"]) if "script" in laid else None
        return TablesRecipe(**{key: value for key, value in {**laid, "script": script}.items() if key != "fill"})

    def fill(self, workload: str, data: Mapping[str, Any]) -> str | None:
        """Return whether tables are read into the pool before warm-up; None where that depends on the pool's size."""
        declared = self.study.entries["workloads"][workload]
        dataset = {**self.study.entries["datasets"][declared["dataset"]], **data}
        return {True: buffer_pool.ALWAYS, False: buffer_pool.NEVER, None: None}[
            declared.get("fill", dataset.get("fill"))
        ]

    def content(self, script: str | None) -> str | None:
        """Return the SHA-256 (hex) of a script of ours, None for another one."""
        ours = self.root / "workloads" / (script or "")
        return file_sha256(ours) if script and ours.is_file() and not lua.is_outside(script) else None

    def window(self, workload: str) -> dict[str, Any]:
        """Return the seconds of a workload's warm-up and windows; timed SQL has neither."""
        if "sql" in self.study.entries["workloads"][workload]:
            return {}
        turn_s = self.study.config.get("turn_s", TURN_S)
        own = {"turn_s": turn_s} if turn_s != TURN_S else {}
        return {**{key: self.study.config[key] for key in ("warmup_s", "measure_s")}, **own}


class Plan:
    """Recipes of one study; `root` is the checkout, whose scripts recipes contain by content."""

    def __init__(self, study: Study, root: Path) -> None:
        self.study, self.root = study, root
        self.stages = Stages(study.entries["builds"])
        self.loads = LoadRecipes(study, root)
        # Each is asked for by every block, and reading a working tree takes a while.
        self.source: Callable[[str], ServerSourceRecipe] = cache(self._source)
        self.build: Callable[[str, str], BuildRecipe] = cache(self._build)
        self.toolchain: Callable[[str], Toolchain] = cache(self._toolchain)
        self.profile: Callable[[str, str, str], ProfileRecipe] = cache(self._profile)
        self.variant: Callable[[str], VariantRecipe] = cache(self._variant)
        self.load: Callable[[str, str], LoadRecipe] = cache(self._load)

    def _source(self, server: str) -> ServerSourceRecipe:
        """Return the recipe of a server's sources; its checksum is that of the first source."""
        entry = self.study.entries["servers"][server]
        return ServerSourceRecipe(
            server=server,
            product=entry["product"],
            version=entry["version"],
            family=entry["family"] if self.is_running(server) else None,
            **self._declared_source(server),
        )

    def _declared_source(self, server: str) -> dict[str, Any]:
        """Return what the first source of a server declares. Raises ConfigError with the line that names it."""
        entry = self.study.entries["servers"][server]
        try:
            return dict(kinds.declared_source(entry["sources"], entry["version"], families.products()))
        except (OSError, ValueError) as error:
            kind = kinds.kind_of(entry["sources"][0])
            text, declared = str(error).removeprefix(f"{kind}: "), str(entry["sources"][0][kind])
            shown = text if declared in text else f"{declared!r}: {text}"
            mistake = Mistake(("servers", server, "sources", 0, kind), shown)
            raise ConfigError(f"study {self.study.name}: {self.study.line(mistake)}") from error

    def is_running(self, server: str) -> bool:
        """Return whether a server already runs."""
        return kinds.is_running(self.study.entries["servers"][server]["sources"])

    def _build(self, server: str, build: str) -> BuildRecipe:
        """Return the recipe of a build, or of a stage behind one, by its name."""
        stage = self.stages.of(build)
        recipe: dict[str, Any] = {
            "recipe": RECIPES[stage.kind],
            "family": self.family(server),
            "source": self.source(server),
            "server": server,
            "build": build,
            "stage": stage.kind,
            "profile": self._used_profile(server, build),
        }
        if before := self.stages.input(build):
            rewritten = MadeFrom(name=before, digest=self.build(server, before).digest)
            return BoltRecipe(**recipe, toolchain=self._tools(stage), input=rewritten)
        if stage.kind.is_compiled:
            return CompileRecipe(**recipe, toolchain=self._tools(stage), **self._compiled(server, stage.declared))
        return PrebuiltRecipe(**recipe)

    def _used_profile(self, server: str, build: str) -> UsedProfile | None:
        if not (used := self.stages.profile(build)):
            return None
        return UsedProfile(training=used.training, digest=self.profile(server, used.training, used.stage).digest)

    def _compiled(self, server: str, declared: Declared) -> dict[str, Any]:
        """Return the part of a recipe that compiles sources: flags and options of configure."""
        return {
            "flags": tuple(split_flags(declared.get("flags", []))),
            "lto": declared.get("lto", False),
            "published": declared.get("published", False),
            "configure": tuple(self.study.entries["servers"][server].get("configure", [])),
            "debug_information": declared.get("debug_information", False),
            "libraries": tuple(self._libraries(server)),
        }

    def _libraries(self, server: str) -> list[str]:
        """Return the libraries that a server's builds have because options of the study or of a training name them."""
        family, variants = families.of(self.family(server)), self.study.variants
        options = [self.options(name) for name, variant in variants.items() if variant["server"] == server]
        options += [self.training_options(training) for training in self.study.entries["trainings"]]
        return sorted(family.ADDED_LIBRARIES & set().union(*map(family.named_libraries, options)))

    def _tools(self, stage: Stage) -> ToolchainRecipe:
        """Return the toolchain that makes a stage: a compiler or BOLT."""
        key, usual = ("bolt_toolchain", DEFAULT_BOLT) if stage.kind.is_bolted else ("toolchain", DEFAULT_TOOLCHAIN)
        name = stage.declared.get(key, usual)
        entry = self.study.entries["toolchains"][name]
        commands = {key: value for key, value in entry.items() if key != "packages"}
        return ToolchainRecipe(name=name, version=self.toolchain(name).version, commands=commands)

    def _toolchain(self, name: str) -> Toolchain:
        """Return a toolchain of this machine by its name. Raises ValueError naming a command that is missing."""
        return toolchain.find(name, self.study.entries["toolchains"][name])

    def loader(self, server: str) -> str:
        """Return the name of the build that loads a server's datasets."""
        return PREBUILT if kinds.prebuilt(self.study.entries["servers"][server]["sources"]) else LOADER

    def check(self, server: str, build: str) -> CheckRecipe:
        """Return the recipe of a build's answers to the statements of the differential check."""
        family = self.family(server)
        return CheckRecipe(
            recipe=RECIPES["check"],
            server=server,
            family=family,
            build_digest=self.build(server, build).digest,
            statements_sha256=statement_files.statements_sha256(self.root, family),
        )

    def check_reference(self, server: str) -> str:
        """Return the build whose answers a server's other builds must give: its baseline if a variant uses it, else the
        first that may not fail, else the first.
        """
        used = [variant["build"] for variant in self.study.variants.values() if variant["server"] == server]
        entries = self.study.entries["builds"]
        sound = [build for build in used if not entries.get(build, {}).get("may_fail")]
        return self.loader(server) if self.loader(server) in used else (sound or used)[0]

    def _profile(self, server: str, training: str, stage: str) -> ProfileRecipe:
        """Return the recipe of the profile that a training of an instrumented stage yields."""
        declared = self.study.entries["trainings"][training]
        return ProfileRecipe(
            recipe=RECIPES["profile"],
            server=server,
            family=self.family(server),
            training=training,
            instrumented=MadeFrom(name=stage, digest=self.build(server, stage).digest),
            toolchain=self._tools(self.stages.of(stage)),
            options=self.training_options(training),
            workloads=tuple(self._trained(server, training, name) for name in declared["workloads"]),
            clients=declared["clients"],
            seconds=declared["seconds"],
        )

    def _trained(self, server: str, training: str, workload: str) -> TrainedWorkload:
        dataset = self.loads.dataset_of(workload)
        loaded = self.training_data(server, training, dataset)
        fields = {**vars(self.loads.workload(workload)), "tables": self.loads.tables(dataset, loaded[-1])}
        return TrainedWorkload(name=workload, **fields, dataset_digest=self.dataset(*loaded).digest)

    def training_options(self, training: str) -> dict[str, Scalar]:
        """Return the server options of a training: its own, else those of the study."""
        declared = self.study.entries["trainings"][training]
        return {**declared.get("options", self.study.config.get("options", {}))}

    def training_data(self, server: str, training: str, dataset: str) -> tuple[str, str, Options, Declared]:
        """Return the arguments of `dataset` for a dataset of a training; one that is trained with is loaded anew."""
        load = self.study.entries["trainings"][training].get("load")
        return server, dataset, self.training_options(training), {"fresh": True} if load else {}

    def data(self, variant: str) -> Declared:
        """Return the keys that a variant lays over every dataset."""
        return {**self.study.variants[variant].get("data", {})}

    def dataset(self, server: str, name: str, options: Options, data: Declared | None = None) -> DatasetRecipe:
        """Return the recipe of a dataset: its tables with `data` laid over them, and the server options that shape a
        data directory.
        """
        shaping, tables = families.of(self.family(server)).DATA_OPTIONS, self.loads.tables(name, data)
        recipe = DatasetRecipe(
            recipe=RECIPES["dataset"],
            server=server,
            family=self.family(server),
            source=self.source(server),
            dataset=name,
            tables=tables,
            content=self.loads.content(tables.script),
            options={key: value for key, value in options.items() if key in shaping},
        )
        return replace(recipe, database=self._own_database(recipe)) if self.is_running(server) else recipe

    def _own_database(self, dataset: DatasetRecipe) -> str:
        """Return the name of the database of ours with a dataset on a server that already runs: the study's own."""
        plain = re.sub(r"[^a-z0-9]", "_", self.study.name)[:LONGEST_STUDY]
        return f"pgobench_{plain}_{digest({'study': self.study.name, **dataset.dump()})}"

    def options(self, variant: str) -> dict[str, Scalar]:
        """Return the server options of a variant: the study's, the variant's laid over them."""
        return {**self.study.config.get("options", {}), **self.study.variants[variant].get("options", {})}

    def environment(self, variant: str) -> dict[str, str]:
        """Return the environment variables of a variant's server: its build's, the variant's laid over them."""
        declared = self.study.variants[variant]
        build = self.study.entries["builds"].get(declared["build"], {})
        return {**build.get("environment", {}), **declared.get("environment", {})}

    def family(self, server: str) -> str:
        """Return a server's family."""
        name: str = self.study.entries["servers"][server]["family"]
        return name

    def _variant(self, name: str) -> VariantRecipe:
        """Return the recipe of a variant."""
        declared = self.study.variants[name]
        server, build = declared["server"], declared["build"]
        return VariantRecipe(
            server=server,
            family=self.family(server),
            build=build,
            options=self.options(name),
            environment=self.environment(name),
            build_digest=self.build(server, build).digest,
            storage=declared.get("storage"),
            relinked=declared.get("relinked", False),
        )

    def _load(self, variant: str, workload: str) -> LoadRecipe:
        """Return the recipe of measuring a variant under a workload."""
        server, config = self.study.variants[variant]["server"], self.study.config
        dataset, data = self.loads.dataset_of(workload), self.data(variant)
        timed = "sql" in self.study.entries["workloads"][workload]
        return LoadRecipe(
            recipe=RECIPES["run"],
            **{**vars(self.loads.workload(workload)), "tables": self.loads.tables(dataset, data)},
            dataset=MadeFrom(name=dataset, digest=self.dataset(server, dataset, self.options(variant), data).digest),
            **self.loads.window(workload),
            fill=self.loads.fill(workload, data),
            rest_s=config.get("rest_s"),
            series=config.get("series", False),
            client=config.get("client"),
            rounds=config.get("rounds"),
            slice_s=None if config.get("slice_s") == AUTOMATIC else config.get("slice_s"),
            # What a server did before a level is part of what is measured.
            ladder=tuple(sorted(config["clients"])) if config.get("restart") == NEVER else (),
            stop=SLOW if config.get("stop") == SLOW else None,
            # The workflow itself sends timed SQL, so sysbench's environment is not in it.
            client_environment={} if timed else config.get("client_environment", {}),
            placement=config["placement"],
            campaign=config["campaign"],
        )

    def run(self, variant: str, workload: str) -> RunRecipe:
        """Return the recipe of a run: of a variant under a workload."""
        return RunRecipe(variant=self.variant(variant), load=self.load(variant, workload))
