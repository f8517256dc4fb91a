"""The diagnoses of a study: extra runs after all measured ones, each with a tool attached to the loaded server."""

from dataclasses import dataclass, replace
from functools import cached_property

from scripts.lib.json_record import digest
from scripts.lib.recipe_models import DiagnosisRecipe
from scripts.measure.engine.planned import RunContext
from scripts.study.config.loading import Study
from scripts.study.plan.block_layout import Block
from scripts.study.plan.order import BlockKey
from scripts.study.plan.recipes import RECIPES
from scripts.study.plan.schedule import Schedule

TOOLS = ("perf", "waits", "syscalls", "fsyncs")


@dataclass(frozen=True)
class DiagnosisSettings:
    """A study's key `diagnose` with its defaults; `seconds` are those of each window."""

    tools: list[str]
    variants: list[str]
    workloads: list[str]
    clients: list[int]
    seconds: int


@dataclass(frozen=True)
class PlannedDiagnosis:
    """One extra run: a variant under a workload with a number of clients, observed with one tool."""

    variant: str
    workload: str
    clients: int
    tool: str


def settings(study: Study) -> DiagnosisSettings | None:
    """Return what a study asks of diagnoses, None without the key; timed SQL has no window to diagnose."""
    if (declared := study.declared.diagnose) is None:
        return None
    return DiagnosisSettings(
        tools=[*(declared.tools or TOOLS)],
        variants=[*(declared.variants or study.declared.variants)],
        workloads=declared.workloads or [name for name, load in study.loads.items() if not load.sql],
        clients=declared.clients or [max(study.declared.clients)],
        seconds=declared.seconds,
    )


class Diagnoses:
    """The diagnoses of a plan and their paths; none unless the study has the key `diagnose`."""

    def __init__(self, paths: Schedule) -> None:
        self.paths = paths
        self.plan = paths.plan
        self.settings = settings(paths.plan.study)

    @cached_property
    def of_paths(self) -> dict[str, PlannedDiagnosis]:
        """Return path -> diagnosis, in the order of making: all tools of a cell one after the other."""
        if self.settings is None:
            return {}
        planned = [
            PlannedDiagnosis(variant, workload, clients, tool)
            for workload in self.settings.workloads
            for clients in self.settings.clients
            for variant in self.settings.variants
            for tool in TOOLS
            if tool in self.settings.tools
        ]
        return {self.path(diagnosis): diagnosis for diagnosis in planned}

    def recipe(self, diagnosis: PlannedDiagnosis) -> DiagnosisRecipe:
        """Return the recipe of a diagnosis: a run's recipe with the diagnosis's own window, and the tool."""
        load = self.plan.load(diagnosis.variant, diagnosis.workload)
        return DiagnosisRecipe(
            recipe=RECIPES["diagnosis"],
            variant=self.plan.variant(diagnosis.variant),
            load=replace(load, measure_s=self.settings.seconds if self.settings else None),
            tool=diagnosis.tool,
        )

    def path(self, diagnosis: PlannedDiagnosis) -> str:
        """Return the record of a diagnosis."""
        recipe = self.recipe(diagnosis)
        load = digest({"recipe": recipe.recipe, "load": recipe.load.dump()})
        folder = f"{self.folder}/{self.paths.variant_part(diagnosis.variant)}/{diagnosis.workload}-{load}"
        return f"{folder}/{diagnosis.clients}/{diagnosis.tool}.json"

    @property
    def folder(self) -> str:
        """Return the folder of the study's diagnoses."""
        return f"{self.paths.study}/diagnoses"

    def context(self, path: str) -> RunContext:
        """Return the context of a diagnosis that does not affect its result, as Schedule.context does for a run."""
        diagnosis = self.of_paths[path]
        key = BlockKey(1, diagnosis.workload, self.plan.study.declared.clients[0])
        block = Block(key, (diagnosis.variant,), self.folder, finished=True)
        return replace(
            self.paths.context(block, diagnosis.variant),
            block=key.path,
            clients=diagnosis.clients,
            run_number=list(self.of_paths).index(path) + 1,
            runs_total=len(self.of_paths),
            log_statements=False,
        )
