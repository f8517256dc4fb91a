"""The diagnoses of a study: extra runs after all measured ones, each with a tool attached to the loaded server."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from scripts.lib.json_record import digest
from scripts.lib.recipe_models import DiagnosisRecipe
from scripts.study.config.loading import Study
from scripts.study.plan.block_layout import Block
from scripts.study.plan.order import BlockKey
from scripts.study.plan.recipes import RECIPES
from scripts.study.plan.schedule import Schedule

TOOLS = ("perf", "waits", "syscalls", "fsyncs")
SECONDS = 10


@dataclass(frozen=True)
class PlannedDiagnosis:
    """One extra run: a variant under a workload with a number of clients, observed with one tool."""

    variant: str
    workload: str
    clients: int
    tool: str


def settings(study: Study) -> dict[str, Any] | None:
    """Return a study's key `diagnose` with its defaults, None without the key; timed SQL has no window to diagnose."""
    if "diagnose" not in study.config:
        return None
    return {
        "tools": list(TOOLS),
        "variants": list(study.config["variants"]),
        "workloads": [name for name in study.workloads if "sql" not in study.entries["workloads"][name]],
        "clients": [max(study.config["clients"])],
        "seconds": SECONDS,
        **study.config["diagnose"],
    }


class Diagnoses:
    """The diagnoses of a plan and their paths; none unless the study has the key `diagnose`."""

    def __init__(self, paths: Schedule) -> None:
        self.paths = paths
        self.plan = paths.plan
        self.settings = settings(paths.plan.study)

    @cached_property
    def of_paths(self) -> dict[str, PlannedDiagnosis]:
        """Return path -> diagnosis, in the order of making: all tools of a cell one after the other."""
        if (asked := self.settings) is None:
            return {}
        every = [
            PlannedDiagnosis(variant, workload, clients, tool)
            for workload in asked["workloads"]
            for clients in asked["clients"]
            for variant in asked["variants"]
            for tool in TOOLS
            if tool in asked["tools"]
        ]
        return {self.path(each): each for each in every}

    def recipe(self, diagnosis: PlannedDiagnosis) -> DiagnosisRecipe:
        """Return the recipe of a diagnosis: a run's recipe with the diagnosis's own window, and the tool."""
        load, asked = self.plan.load(diagnosis.variant, diagnosis.workload), self.settings or {}
        return DiagnosisRecipe(
            recipe=RECIPES["diagnosis"],
            variant=self.plan.variant(diagnosis.variant),
            load=replace(load, measure_s=asked["seconds"]),
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

    def context(self, path: str) -> dict[str, Any]:
        """Return the context of a diagnosis that does not affect its result, as Schedule.context does for a run."""
        made, study = self.of_paths[path], self.plan.study
        key = BlockKey(1, made.workload, study.config["clients"][0])
        alike = self.paths.context(Block(key, (made.variant,), self.folder, finished=True), made.variant)
        variant = study.variants[made.variant]
        return {
            **alike,
            "block": key.path,
            "clients": made.clients,
            "run_number": list(self.of_paths).index(path) + 1,
            "runs_total": len(self.of_paths),
            "log_statements": False,
            "judged": self.paths.judged(variant["server"], variant["build"]),
        }
