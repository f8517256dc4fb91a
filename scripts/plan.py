"""What a study makes: the recipe of each thing, the digest in its path, and the order of the runs.

A recipe is what is declared and nothing else: no mirrors, paths, core counts or values that say nothing. Its digest
is in the path, so an edit makes something new beside the old, and going back finds the old again.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from scripts import families, source_kinds, statements, toolchain
from scripts.build_recipes import BuildRecipes, said
from scripts.load_recipes import LoadRecipes
from scripts.once import once
from scripts.order import Run, runs_in_order
from scripts.record import digest
from scripts.stages import LOADER, PREBUILT, Stages
from scripts.study import Study

# Raised when code changes what a costly step makes from the same declaration.
RECIPES = {"profile": 1, "dataset": 1, "run": 1, "check": 1}


@dataclass(frozen=True)
class Plan:
    """Recipes, paths and order of one study; `root` is the checkout, whose Lua scripts recipes contain."""

    study: Study
    root: Path

    # Reading a working tree takes a while.
    @once
    def source(self, server: str) -> dict[str, Any]:
        """Return the recipe of a server's sources: the checksum is that of the first; the others stand in for it."""
        entry = self.study.entries["servers"][server]
        names = {"server": server, "product": entry["product"], "version": entry["version"]}
        return said({**names, **source_kinds.declared(entry["sources"], entry["version"])})

    @once
    def build(self, server: str, build: str) -> dict[str, Any]:
        """Return the recipe of a build, or of a stage behind one, by its name."""
        return self._builds.of(server, build)

    @cached_property
    def stages(self) -> Stages:
        """Return the stages behind the study's builds."""
        return Stages(self.study.entries["builds"])

    @cached_property
    def _builds(self) -> BuildRecipes:
        entries = self.study.entries
        return BuildRecipes(entries, self.stages, self.source, self.profile, self.toolchain)

    @once
    def toolchain(self, name: str) -> toolchain.Toolchain:
        """Return a toolchain of this machine by its name. Raises ValueError naming a command that is missing."""
        return toolchain.find(name, self.study.entries["toolchains"][name])

    def loader(self, server: str) -> str:
        """Return the name of the build that loads a server's datasets."""
        return PREBUILT if source_kinds.prebuilt(self.study.entries["servers"][server]["sources"]) else LOADER

    def check(self, server: str, build: str) -> dict[str, Any]:
        """Return the recipe of a build's answers to the statements of the differential check."""
        family = self.family(server)
        return {
            "recipe": RECIPES["check"],
            "server": server,
            "family": family,
            "build_digest": digest(self.build(server, build)),
            "statements_sha256": statements.statements_sha256(self.root, family),
        }

    def check_reference(self, server: str) -> str:
        """Return the build a server's others must answer like: its baseline if a variant uses it, else the first.

        One that may fail is taken last.
        """
        used = [variant["build"] for variant in self.study.variants.values() if variant["server"] == server]
        entries = self.study.entries["builds"]
        sound = [build for build in used if not entries.get(build, {}).get("may_fail")]
        return self.loader(server) if self.loader(server) in used else (sound or used)[0]

    @once
    def profile(self, server: str, training: str, stage: str) -> dict[str, Any]:
        """Return the recipe of the profile that a training of an instrumented stage yields."""
        declared = self.study.entries["trainings"][training]
        made = self.build(server, stage)
        workloads = [
            {
                "name": name,
                **self.workload(name),
                "dataset_digest": self.dataset_digest(server, self._loads.dataset_of(name), {}),
            }
            for name in declared["workloads"]
        ]
        return said(
            {
                "recipe": RECIPES["profile"],
                "server": server,
                "family": self.family(server),
                "training": training,
                "instrumented": {"name": stage, "digest": digest(made)},
                "toolchain": made["toolchain"],
                "workloads": workloads,
                "clients": declared["clients"],
                "seconds": declared["seconds"],
            }
        )

    @cached_property
    def _loads(self) -> LoadRecipes:
        return LoadRecipes(self.study, self.root)

    def workload(self, name: str) -> dict[str, Any]:
        """Return what a workload sends: script, options, dataset, and the content of a script of ours."""
        return self._loads.workload(name)

    def tables(self, dataset: str, data: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return what a dataset declares, with the `data` of a variant laid over it, option by option."""
        return self._loads.tables(dataset, data)

    def data(self, variant: str) -> dict[str, Any]:
        """Return the keys that a variant lays over every dataset."""
        return self.study.variants[variant].get("data", {})

    def dataset(
        self, server: str, name: str, options: dict[str, Any], data: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return the recipe of a dataset: tables, and those server options that shape a data directory.

        `data` is laid over what is declared of the tables.
        """
        shaping = families.of(self.family(server)).DATA_OPTIONS
        return said(
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

    def dataset_digest(self, *parts: Any) -> str:
        """Return the digest in a dataset's path, of the arguments of `dataset`."""
        return digest(self.dataset(*parts))

    def options(self, variant: str) -> dict[str, Any]:
        """Return the server options of a variant: the study's, the variant's laid over them."""
        return {**self.study.config.get("options", {}), **self.study.variants[variant].get("options", {})}

    def family(self, server: str) -> str:
        """Return a server's family."""
        return self.study.entries["servers"][server]["family"]

    @once
    def variant(self, name: str) -> dict[str, Any]:
        """Return the recipe of a variant."""
        declared = self.study.variants[name]
        server, build = declared["server"], declared["build"]
        return said(
            {
                "server": server,
                "family": self.family(server),
                "build": build,
                "options": self.options(name),
                "build_digest": digest(self.build(server, build)),
                "storage": declared.get("storage"),
            }
        )

    @once
    def load(self, variant: str, workload: str) -> dict[str, Any]:
        """Return the recipe of a workload as a variant meets it, and how it is measured."""
        server, config = self.study.variants[variant]["server"], self.study.config
        dataset, data = self._loads.dataset_of(workload), self.data(variant)
        made = self.dataset_digest(server, dataset, self.options(variant), data)
        return said(
            {
                "recipe": RECIPES["run"],
                **self.workload(workload),
                "tables": self.tables(dataset, data),
                "dataset": {"name": dataset, "digest": made},
                **self._loads.window(workload),
                **{key: config.get(key) for key in ("rest_s", "series", "client")},
                "placement": config["placement"],
                "campaign": config["campaign"],
            }
        )

    @cached_property
    def runs(self) -> list[Run]:
        """Return all runs in the order of measuring."""
        return runs_in_order(self.study)
