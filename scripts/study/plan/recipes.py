"""What a study makes: the recipe of each thing, whose digest is in its path."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from scripts.build.compilation import toolchain
from scripts.build.compilation.stages import LOADER, PREBUILT, Stage, Stages
from scripts.build.compilation.toolchain import Toolchain
from scripts.build.sources import kinds
from scripts.build.sources.declared import SourceContent
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
from scripts.lib.vocabulary import NEVER, RELINKED, SLOW
from scripts.measure.engine import buffer_pool
from scripts.measure.engine.disk_load import TURN_S
from scripts.measure.loadgen import lua
from scripts.measure.servers import families
from scripts.measure.sql import statement_files
from scripts.study.config.declared_loads import DatasetDeclaration
from scripts.study.config.loading import Study
from scripts.study.config.mistakes import Mistake
from scripts.study.config.scalars import as_written
from scripts.study.config.yaml_lines import ConfigError

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


class DatasetParts(NamedTuple):
    """The arguments of `Plan.dataset`: a server's dataset with its server options, and the keys laid over it."""

    server: str
    dataset: str
    options: Options
    data: DatasetDeclaration | None = None


class LoadRecipes:
    """Recipes of a study's loads; `root` is the checkout, whose scripts they contain by content."""

    def __init__(self, study: Study, root: Path) -> None:
        self.study, self.root = study, root
        # A script outside the checkout is named by its content, not its path.
        self._script: Callable[[str], str] = cache(lua.recipe_name)
        self.workload: Callable[[str], WorkloadRecipe] = cache(self._workload)

    def _workload(self, name: str) -> WorkloadRecipe:
        """Return the recipe of a workload: script, options, tables, and the content of a script of ours."""
        declared = self.study.declared.workloads[name]
        tables = self.tables(declared.dataset)
        if declared.sql:
            content = file_sha256(statement_files.timed_sql_path(self.root, declared.sql))
            return WorkloadRecipe(sql=Path(declared.sql).name, passes=declared.passes, tables=tables, content=content)
        script = declared.script or ""
        return WorkloadRecipe(
            script=self._script(script),
            rows=declared.rows,
            options=declared.options,
            tables=tables,
            content=self.content(script),
        )

    def tables(self, dataset: str, data: DatasetDeclaration | None = None) -> TablesRecipe:
        """Return the declaration of a dataset with a variant's `data` laid over it, option by option."""
        declared = self.study.declared.datasets[dataset].laid_under(data)
        script = self._script(declared.script) if "script" in declared.model_fields_set else None
        return TablesRecipe(
            tables=declared.tables, rows=declared.rows, script=script, options=declared.options, fresh=declared.fresh
        )

    def fill(self, workload: str, data: DatasetDeclaration | None) -> str | None:
        """Return whether tables are read into the pool before warm-up; None where that depends on the pool's size."""
        load = self.study.declared.workloads[workload]
        of_dataset = self.study.declared.datasets[load.dataset].laid_under(data).fill
        fill = of_dataset if load.fill is None else load.fill
        return None if fill is None else buffer_pool.ALWAYS if fill else buffer_pool.NEVER

    def content(self, script: str | None) -> str | None:
        """Return the SHA-256 (hex) of a script of ours, None for another one."""
        own_file = self.root / "workloads" / (script or "")
        return file_sha256(own_file) if script and own_file.is_file() and not lua.is_outside(script) else None


class Plan:
    """Recipes of one study; `root` is the checkout, whose scripts recipes contain by content."""

    def __init__(self, study: Study, root: Path) -> None:
        self.study, self.root = study, root
        self.stages = Stages({name: build.compiled for name, build in study.declared.builds.items()})
        self.loads = LoadRecipes(study, root)
        # Each is asked for by every block, and reading a working tree takes a while.
        self.source: Callable[[str], ServerSourceRecipe] = cache(self._source)
        self.build: Callable[[str, str], BuildRecipe] = cache(self._build)
        # A toolchain of this machine by its name. Raises ValueError naming a command that is missing.
        self.toolchain: Callable[[str], Toolchain] = cache(
            lambda name: toolchain.find(name, study.declared.toolchains[name].written())
        )
        self.profile: Callable[[str, str, str], ProfileRecipe] = cache(self._profile)
        self.variant: Callable[[str], VariantRecipe] = cache(self._variant)
        self.load: Callable[[str, str], LoadRecipe] = cache(self._load)

    def _source(self, server: str) -> ServerSourceRecipe:
        """Return the recipe of a server's sources; its checksum is that of the first source."""
        declared = self.study.declared.servers[server]
        return ServerSourceRecipe(
            server=server,
            product=declared.product,
            version=declared.version,
            family=declared.family if declared.is_running else None,
            **self._declared_source(server),
        )

    def _declared_source(self, server: str) -> SourceContent:
        """Return what the first source of a server declares. Raises ConfigError with the line that names it."""
        declared = self.study.declared.servers[server]
        try:
            return kinds.declared_source(declared.entries, declared.version, families.products())
        except (OSError, ValueError) as error:
            kind = declared.sources[0].kind
            text, value = str(error).removeprefix(f"{kind}: "), str(getattr(declared.sources[0], kind))
            shown = text if value in text else f"{value!r}: {text}"
            mistake = Mistake(("servers", server, "sources", 0, kind), shown)
            raise ConfigError(f"study {self.study.name}: {self.study.line(mistake)}") from error

    def is_running(self, server: str) -> bool:
        """Return whether a server already runs."""
        return self.study.declared.servers[server].is_running

    def _build(self, server: str, build: str) -> BuildRecipe:
        """Return the recipe of a build, or of a stage behind one, by its name."""
        stage = self.stages.of(build)
        recipe = BuildRecipe(
            recipe=RECIPES[stage.kind],
            family=self.family(server),
            source=self.source(server),
            server=server,
            build=build,
            stage=stage.kind,
            profile=self._used_profile(server, build),
        )
        if before := self.stages.input(build):
            rewritten = MadeFrom(name=before, digest=self.build(server, before).digest)
            return BoltRecipe(**vars(recipe), toolchain=self._tools(stage), input=rewritten)
        return self._compiled(recipe, stage) if stage.kind.is_compiled else PrebuiltRecipe(**vars(recipe))

    def _used_profile(self, server: str, build: str) -> UsedProfile | None:
        if not (used := self.stages.profile(build)):
            return None
        return UsedProfile(training=used.training, digest=self.profile(server, used.training, used.stage).digest)

    def _compiled(self, recipe: BuildRecipe, stage: Stage) -> CompileRecipe:
        return CompileRecipe(
            **vars(recipe),
            toolchain=self._tools(stage),
            flags=stage.declared.flags,
            lto=stage.declared.lto,
            published=stage.declared.published,
            configure=tuple(self.study.declared.servers[recipe.server].configure),
            debug_information=stage.declared.debug_information,
            libraries=tuple(self._libraries(recipe.server)),
        )

    def _libraries(self, server: str) -> list[str]:
        """Return the libraries that a server's builds have because options of the study or of a training name them."""
        family, arms = families.of(self.family(server)), self.study.arms
        options = [self.options(name) for name, arm in arms.items() if arm.server == server]
        options += [self.training_options(training) for training in self.study.declared.trainings]
        return sorted(family.ADDED_LIBRARIES & set().union(*map(family.named_libraries, options)))

    def _tools(self, stage: Stage) -> ToolchainRecipe:
        """Return the toolchain that makes a stage: a compiler or BOLT."""
        name = stage.declared.bolt_toolchain if stage.kind.is_bolted else stage.declared.toolchain
        entry = self.study.declared.toolchains[name].written()
        commands = {key: value for key, value in entry.items() if key != "packages"}
        return ToolchainRecipe(name=name, version=self.toolchain(name).version, commands=commands)

    def loader(self, server: str) -> str:
        """Return the name of the build that loads a server's datasets."""
        return PREBUILT if self.study.declared.servers[server].is_prebuilt else LOADER

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
        used = [arm.build for arm in self.study.arms.values() if arm.server == server]
        sound = [build for build in used if not self.may_fail(build)]
        return self.loader(server) if self.loader(server) in used else (sound or used)[0]

    def may_fail(self, build: str) -> bool:
        """Return whether the failure of a build is a result."""
        declared = self.study.declared.builds.get(build)
        return declared is not None and declared.may_fail

    def _profile(self, server: str, training: str, stage: str) -> ProfileRecipe:
        """Return the recipe of the profile that a training of an instrumented stage yields."""
        declared = self.study.declared.trainings[training]
        return ProfileRecipe(
            recipe=RECIPES["profile"],
            server=server,
            family=self.family(server),
            training=training,
            instrumented=MadeFrom(name=stage, digest=self.build(server, stage).digest),
            toolchain=self._tools(self.stages.of(stage)),
            options=self.training_options(training),
            workloads=tuple(self._trained(server, training, name) for name in declared.workloads),
            clients=declared.clients,
            seconds=declared.seconds,
        )

    def _trained(self, server: str, training: str, workload: str) -> TrainedWorkload:
        loaded = self.training_data(server, training, self.study.declared.workloads[workload].dataset)
        tables = self.loads.tables(loaded.dataset, loaded.data)
        fields = {**vars(self.loads.workload(workload)), "tables": tables}
        return TrainedWorkload(name=workload, **fields, dataset_digest=self.dataset(*loaded).digest)

    def training_options(self, training: str) -> dict[str, Scalar]:
        """Return the server options of a training: its own, else those of the study."""
        options = self.study.declared.trainings[training].options
        return {**(self.study.declared.options if options is None else options)}

    def training_data(self, server: str, training: str, dataset: str) -> DatasetParts:
        """Return the arguments of `dataset` for a dataset of a training; one that is trained with is loaded anew."""
        data = DatasetDeclaration(fresh=True) if self.study.declared.trainings[training].load else None
        return DatasetParts(server, dataset, self.training_options(training), data)

    def dataset_parts(self, variant: str, workload: str) -> DatasetParts:
        """Return the arguments of `dataset` for that of a variant under a workload."""
        arm, name = self.study.arms[variant], self.study.declared.workloads[workload].dataset
        return DatasetParts(arm.server, name, self.options(variant), arm.data)

    def dataset(
        self, server: str, name: str, options: Options, data: DatasetDeclaration | None = None
    ) -> DatasetRecipe:
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
        return {**self.study.declared.options, **self.study.arms[variant].options}

    def environment(self, variant: str) -> dict[str, str]:
        """Return the environment variables of a variant's server: its build's, the variant's laid over them."""
        arm = self.study.arms[variant]
        build = self.study.declared.builds.get(arm.build)
        return {**(build.environment if build else {}), **arm.environment}

    def family(self, server: str) -> str:
        """Return a server's family."""
        return self.study.declared.servers[server].family

    def _variant(self, name: str) -> VariantRecipe:
        """Return the recipe of a variant."""
        arm = self.study.arms[name]
        return VariantRecipe(
            server=arm.server,
            family=self.family(arm.server),
            build=arm.build,
            options=self.options(name),
            environment=self.environment(name),
            build_digest=self.build(arm.server, arm.build).digest,
            storage=arm.storage,
            relinked=name == RELINKED,
        )

    def _load(self, variant: str, workload: str) -> LoadRecipe:
        """Return the recipe of measuring a variant under a workload."""
        declared, parts = self.study.declared, self.dataset_parts(variant, workload)
        placement, slice_s, timed = declared.placement, declared.slice_s, declared.workloads[workload].sql
        return LoadRecipe(
            recipe=RECIPES["run"],
            **{**vars(self.loads.workload(workload)), "tables": self.loads.tables(parts.dataset, parts.data)},
            dataset=MadeFrom(name=parts.dataset, digest=self.dataset(*parts).digest),
            warmup_s=None if timed else declared.warmup_s,
            measure_s=None if timed else declared.measure_s,
            turn_s=None if timed or declared.turn_s == TURN_S else declared.turn_s,
            fill=self.loads.fill(workload, parts.data),
            rest_s=declared.rest_s or None,
            series=declared.series,
            client=declared.client.written() if declared.client else None,
            rounds=declared.rounds,
            slice_s=None if isinstance(slice_s, str) else slice_s,
            # What a server did before a level is part of what is measured.
            ladder=tuple(sorted(declared.clients)) if declared.restart == NEVER else (),
            stop=SLOW if declared.stop == SLOW else None,
            # The workflow itself sends timed SQL, so sysbench's environment is not in it.
            client_environment={} if timed else declared.client_environment,
            placement=as_written(placement),
            campaign=declared.campaign,
        )

    def run(self, variant: str, workload: str) -> RunRecipe:
        """Return the recipe of a run: of a variant under a workload."""
        return RunRecipe(variant=self.variant(variant), load=self.load(variant, workload))
