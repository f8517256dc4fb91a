"""Recipes of builds: what is declared about how a server is compiled, taken apart by BOLT, or had ready-made."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scripts.record import digest
from scripts.stages import BOLTED, DEFAULT_BOLT, DEFAULT_TOOLCHAIN, PREBUILT, Stage, Stages, split_flags
from scripts.toolchain import Toolchain

Recipe = dict[str, Any]
# Raised when code changes what a costly step makes from the same declaration.
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
}


@dataclass(frozen=True)
class BuildRecipes:
    """Recipes of the builds of a study.

    `entries` are the study's, `source` gives a server's source recipe, `profile` the recipe of the profile that a
    training of a stage yields, `toolchain` a toolchain by name.
    """

    entries: dict[str, dict[str, Any]]
    stages: Stages
    source: Callable[[str], Recipe]
    profile: Callable[[str, str, str], Recipe]
    toolchain: Callable[[str], Toolchain]

    def of(self, server: str, build: str) -> Recipe:
        """Return the recipe of a build, or of a stage behind one, by its name."""
        stage = self.stages.of(build)
        recipe = {
            "recipe": RECIPES[stage.kind],
            "family": self.entries["servers"][server]["family"],
            "source": self.source(server),
            "server": server,
            "build": build,
            "stage": stage.kind,
            **self._making(server, build, stage),
        }
        if used := self.stages.profile(build):
            made = self.profile(server, used.training, used.stage)
            recipe["profile"] = {"training": used.training, "digest": digest(made)}
        return said(recipe)

    def _making(self, server: str, build: str, stage: Stage) -> Recipe:
        declared = stage.declared
        match stage.kind:
            case _ if stage.kind == PREBUILT:
                return {}
            case _ if stage.kind in BOLTED:
                return {
                    "toolchain": self._tools(declared.get("bolt_toolchain", DEFAULT_BOLT)),
                    "input": {"name": (name := self.stages.input(build)), "digest": digest(self.of(server, name))},
                }
        return {
            "toolchain": self._tools(declared.get("toolchain", DEFAULT_TOOLCHAIN)),
            "flags": split_flags(declared.get("flags", [])),
            "lto": declared.get("lto"),
            "published": declared.get("published"),
            "configure": self.entries["servers"][server].get("configure", []),
            "debug_information": declared.get("debug_information", False),
        }

    def _tools(self, name: str) -> Recipe:
        commands = {key: value for key, value in self.entries["toolchains"][name].items() if key != "packages"}
        return {"name": name, "version": self.toolchain(name).version, "commands": commands}


def said(recipe: Recipe) -> Recipe:
    """Return a recipe without neutral values, so that a new key of a later release leaves old digests as they were."""
    return {key: value for key, value in recipe.items() if value not in (None, False, [], {}, "")}
