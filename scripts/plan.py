"""What a study makes: the recipe of each thing, the digest in its path, and the order of the runs.

A recipe is what is declared and nothing else: no mirrors, paths, core counts or values that say nothing. Its digest
is in the path, so an edit makes something new beside the old, and going back finds the old again.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from scripts import families, toolchain
from scripts.order import Run, runs_in_order
from scripts.record import digest, file_sha256
from scripts.study import DEFAULT_TOOLCHAIN, INSTRUMENTED, Study

# Raised when code changes what a costly step makes from the same declaration.
RECIPES = {"plain": 1, "instrumented": 2, "optimised": 2, "profile": 1, "dataset": 1, "run": 1}
LOADER = "baseline"


@dataclass(frozen=True)
class Plan:
    """Recipes, paths and order of one study; `root` is the checkout, whose Lua scripts recipes contain."""

    study: Study
    root: Path

    def source(self, server: str) -> dict[str, Any]:
        """Return the recipe of a server's sources: the checksum is that of the first; the others stand in for it."""
        entry = self.study.entries["servers"][server]
        names = {"server": server, "product": entry["product"], "version": entry["version"]}
        return said({**names, "sha256": entry["sources"][0].get("sha256")})

    def build(self, server: str, build: str) -> dict[str, Any]:
        """Return the recipe of a build, or of an instrumented stage by the name that `instrumented` gives it."""
        entry = self.study.entries["servers"][server]
        stage, declared = self._declared(build)
        chosen = declared.get("toolchain", DEFAULT_TOOLCHAIN)
        commands = self.study.entries["toolchains"][chosen]
        flags = declared.get("flags", [])
        recipe = {
            "recipe": RECIPES[stage],
            "family": entry["family"],
            "source": self.source(server),
            "server": server,
            "build": build,
            "stage": stage,
            "toolchain": {"name": chosen, "version": self.toolchains[chosen].version, "commands": commands},
            "flags": flags.split() if isinstance(flags, str) else flags,
            "configure": entry.get("configure", []),
            "debug_information": declared.get("debug_information", False),
        }
        if "profile" in declared:
            training = declared["profile"]
            recipe["profile"] = {"training": training, "digest": digest(self.profile(server, training, build))}
        return said(recipe)

    def _declared(self, build: str) -> tuple[str, dict[str, Any]]:
        """Return stage and declaration of a build; an instrumented one has the flags of the builds it serves."""
        if build in self._instrumented:
            return "instrumented", self._instrumented[build]
        declared = self.study.entries["builds"][build]
        return ("optimised" if "profile" in declared else "plain"), declared

    @cached_property
    def toolchains(self) -> dict[str, toolchain.Toolchain]:
        """Return the compilers on this machine that the study's builds name."""
        builds = {variant["build"] for variant in self.study.variants.values()} | {LOADER}
        names = {self.study.entries["builds"][build].get("toolchain", DEFAULT_TOOLCHAIN) for build in builds}
        return {name: toolchain.find(name, self.study.entries["toolchains"][name]) for name in sorted(names)}

    def instrumented(self, build: str) -> str:
        """Return the name of the instrumented build that serves a build: it follows from compiler and flags alone."""
        declared = self._served(build)
        flags = {key: value for key, value in declared.items() if key != "toolchain"}
        name = f"{INSTRUMENTED}_{declared.get('toolchain', DEFAULT_TOOLCHAIN)}"
        return f"{name}_{digest(flags)[:6]}" if flags else name

    def _served(self, build: str) -> dict[str, Any]:
        """Return what an instrumented build has in common with the build it serves."""
        declared = self.study.entries["builds"][build]
        flags = declared.get("flags", [])
        split = flags.split() if isinstance(flags, str) else flags
        return said({**{key: declared.get(key) for key in ("toolchain", "debug_information")}, "flags": split})

    @cached_property
    def _instrumented(self) -> dict[str, dict[str, Any]]:
        """Return the declarations of the instrumented builds of all builds with a profile, by name."""
        named = [name for name, declared in self.study.entries["builds"].items() if "profile" in declared]
        return {self.instrumented(name): self._served(name) for name in named}

    def profile(self, server: str, training: str, build: str) -> dict[str, Any]:
        """Return the recipe of the profile that a training of a build's instrumented stage yields."""
        declared = self.study.entries["trainings"][training]
        instrumented = self.instrumented(build)
        compiler = self.build(server, instrumented)["toolchain"]
        workloads = [
            {
                "name": name,
                **self.workload(name),
                "dataset_digest": self.dataset_digest(server, self._dataset_of(name), {}),
            }
            for name in declared["workloads"]
        ]
        return said(
            {
                "recipe": RECIPES["profile"],
                "server": server,
                "family": self.family(server),
                "training": training,
                "instrumented": {"name": instrumented, "digest": digest(self.build(server, instrumented))},
                "toolchain": compiler,
                "workloads": workloads,
                "clients": declared["clients"],
                "seconds": declared["seconds"],
            }
        )

    def workload(self, name: str) -> dict[str, Any]:
        """Return what a workload sends: script, options, dataset, and the content of a script of ours."""
        declared = self.study.entries["workloads"][name]
        ours = self.root / "workloads" / declared["script"]
        content = file_sha256(ours) if ours.is_file() else None
        return said(
            {
                "script": declared["script"],
                "options": declared.get("options", {}),
                "tables": self.study.entries["datasets"][declared["dataset"]],
                "content": content,
            }
        )

    def _dataset_of(self, workload: str) -> str:
        return self.study.entries["workloads"][workload]["dataset"]

    def dataset(self, server: str, name: str, options: dict[str, Any]) -> dict[str, Any]:
        """Return the recipe of a dataset: tables, and those server options that shape a data directory."""
        shaping = families.of(self.family(server)).DATA_OPTIONS
        return said(
            {
                "recipe": RECIPES["dataset"],
                "server": server,
                "family": self.family(server),
                "source": self.source(server),
                "dataset": name,
                "tables": self.study.entries["datasets"][name],
                "options": {key: value for key, value in options.items() if key in shaping},
            }
        )

    def dataset_digest(self, server: str, name: str, options: dict[str, Any]) -> str:
        """Return the digest in a dataset's path."""
        return digest(self.dataset(server, name, options))

    def options(self, variant: str) -> dict[str, Any]:
        """Return the server options of a variant: the study's, the variant's laid over them."""
        return {**self.study.config.get("options", {}), **self.study.variants[variant].get("options", {})}

    def family(self, server: str) -> str:
        """Return a server's family."""
        return self.study.entries["servers"][server]["family"]

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

    def load(self, variant: str, workload: str) -> dict[str, Any]:
        """Return the recipe of a workload as a variant meets it, and how it is measured."""
        server, config = self.study.variants[variant]["server"], self.study.config
        dataset = self._dataset_of(workload)
        return said(
            {
                "recipe": RECIPES["run"],
                **self.workload(workload),
                "dataset": {"name": dataset, "digest": self.dataset_digest(server, dataset, self.options(variant))},
                "warmup_s": config["warmup_s"],
                "measure_s": config["measure_s"],
                "placement": config["placement"],
                "campaign": config["campaign"],
            }
        )

    @cached_property
    def runs(self) -> list[Run]:
        """Return all runs in the order of measuring."""
        return runs_in_order(self.study)


def said(recipe: dict[str, Any]) -> dict[str, Any]:
    """Return a recipe without neutral values, so that a new key of a later release leaves old digests as they were."""
    return {key: value for key, value in recipe.items() if value not in (None, False, [], {}, "")}
