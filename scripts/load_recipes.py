"""Recipes of workloads and of the tables they run on: what is declared, and the content of scripts of ours."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts import outside_lua, sqlscript
from scripts.build_recipes import said
from scripts.once import once
from scripts.record import file_sha256
from scripts.study import Study


@dataclass(frozen=True)
class LoadRecipes:
    """Recipes of the loads of one study; `root` is the checkout, whose scripts they contain."""

    study: Study
    root: Path

    @once
    def workload(self, name: str) -> dict[str, Any]:
        """Return what a workload sends: script, options, dataset, and the content of a script of ours."""
        declared = self.study.entries["workloads"][name]
        if "sql" in declared:
            return sqlscript.recipe(self.root, declared, self.tables(declared["dataset"]))
        return said(
            {
                "script": self._script(declared["script"]),
                "options": declared.get("options", {}),
                "tables": self.tables(declared["dataset"]),
                "content": self.content(declared["script"]),
            }
        )

    def dataset_of(self, workload: str) -> str:
        """Return the name of the dataset that a workload runs on."""
        return self.study.entries["workloads"][workload]["dataset"]

    def tables(self, dataset: str, data: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return what a dataset declares, with the `data` of a variant laid over it, option by option."""
        declared, own = self.study.entries["datasets"][dataset], data or {}
        laid = {**declared, **own, "options": {**declared.get("options", {}), **own.get("options", {})}}
        return said({**laid, "script": self._script(laid["script"]) if "script" in laid else None})

    def content(self, script: str | None) -> str | None:
        """Return the SHA-256 (hex) of a script of ours; sysbench's own belong to sysbench."""
        ours = self.root / "workloads" / (script or "")
        return file_sha256(ours) if ours.is_file() and not outside_lua.is_outside(script) else None

    @once
    def _script(self, script: str) -> str:
        """Return what recipes call a script; one outside the checkout by its content, wherever it is."""
        return outside_lua.named(script)

    def window(self, workload: str) -> dict[str, Any]:
        """Return the seconds of a workload's warm-up and window; timed SQL has neither."""
        timed = "sql" in self.study.entries["workloads"][workload]
        return {} if timed else {key: self.study.config[key] for key in ("warmup_s", "measure_s")}
