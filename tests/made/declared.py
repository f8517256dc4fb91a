"""Recipes of a made-up server, with what a test says of them."""

from typing import Any

from scripts.lib.recipe_models import BoltRecipe, CompileRecipe, PrebuiltRecipe, ProfileRecipe

SOURCE = {"server": "tiny", "product": "tiny", "version": "1"}
BUILD = {"recipe": 1, "family": "mysql", "source": SOURCE, "server": "tiny", "build": "baseline"}
TOOLS = {"name": "here", "version": "1", "commands": {}}


def compiled(**said: Any) -> CompileRecipe:
    """Return the recipe of a compiled build."""
    return CompileRecipe.of({**BUILD, "stage": "plain", "toolchain": TOOLS, **said})


def bolted(**said: Any) -> BoltRecipe:
    """Return the recipe of a build that BOLT makes."""
    before = {"name": "before", "digest": "0" * 12}
    return BoltRecipe.of({**BUILD, "stage": "bolted", "build": "pgo_bolt", "toolchain": TOOLS, "input": before, **said})


def prebuilt(**said: Any) -> PrebuiltRecipe:
    """Return the recipe of a ready-made server."""
    return PrebuiltRecipe.of({**BUILD, "build": "prebuilt", "stage": "prebuilt", **said})


def trained(**said: Any) -> ProfileRecipe:
    """Return the recipe of a profile."""
    names = {"recipe": 1, "server": "tiny", "family": "mysql", "training": "mixed", "toolchain": TOOLS}
    asked = {"instrumented": {"name": "instrumented_here", "digest": "0" * 12}, "workloads": []}
    return ProfileRecipe.of({**names, **asked, "clients": 1, "seconds": 1, **said})
