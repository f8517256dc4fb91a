"""A made-up results folder in the working directory: everything a plan asks for, as if it had been made."""

import os
from pathlib import Path
from typing import Any

from scripts.lib import json_record
from scripts.lib.recipe_models import BuildRecipe, CompileRecipe
from scripts.study.plan.schedule import Schedule
from tests.made.laid_out import keep

BOOT = "11111111-1111-1111-1111-111111111111"
CPU_S = 200.0
MIB = 2**20


def finish(paths: Schedule, *, told: bool = True, boot_id: str = BOOT, age_s: float = 0, now_s: float = 0) -> None:
    """Write all records of a finished study; `told`: with the recipes, as every release since the first plan does."""
    for folder, pair in {**paths.builds, **paths.stages}.items():
        recipe = paths.plan.build(*pair)
        source(paths, pair[0])
        write(f"{folder}/identity.json", {"server": pair[0], "build": pair[1]})
        write(f"{folder}/facts.json", {**build_facts(recipe), **({"recipe": recipe.dump()} if told else {})})
    for folder, parts in paths.profiles.items():
        trained = {"trained": parts[2]}
        write(f"{folder}/profile.json", {**trained, **({"recipe": paths.plan.profile(*parts).dump()} if told else {})})
    for folder, parts in paths.datasets.items():
        recipe = paths.plan.dataset(*parts)
        facts = {**recipe.tables.dump(), "bytes": 150 * MIB, "load_s": 7.0}
        write(f"{folder}/dataset.json", {**facts, **({"recipe": recipe.dump()} if told else {})})
    for path in [*paths.checks, *paths.audits, f"{paths.study}/proofs.json", f"{paths.study}/report.html"]:
        write(path, {})
    for path in paths.runs:
        write_run(paths, path, boot_id)
    for block in paths.blocks:
        keep(paths, block)
    for path in paths.runs:
        if age_s:
            os.utime(path, (now_s - age_s, now_s - age_s))


def write_run(paths: Schedule, path: str, boot_id: str = BOOT) -> None:
    """Write the record of one run."""
    run = paths.runs[path]
    recipe = paths.plan.run(run.variant, run.workload).dump()
    phases_s = {"clone": 1.0, "warmup": 2.0, "measure": 7.0, "stop": 1.0}
    write(path, {"recipe": recipe, "outcome": "ok", "host": {"boot_id": boot_id}, "phases_s": phases_s})


def source(paths: Schedule, server: str) -> None:
    """Write the record of a server's fetched sources."""
    names = {key: value for key, value in paths.plan.source(server).dump().items() if key != "sha256"}
    write(paths.source(server), {**names, "kind": "debian", "files": []})


def build_facts(recipe: BuildRecipe) -> dict[str, Any]:
    """Return the facts of a build that the plan's estimates rest on."""
    flags = {"lto": ["-flto=2"] if isinstance(recipe, CompileRecipe) and recipe.lto else []}
    spent = {"cpu_s": CPU_S, "wall_s": CPU_S, "threads": 1, "install_bytes": 20 * MIB}
    return {"stage": recipe.stage, "flags": flags, **spent}


def write(path: str, facts: dict[str, Any]) -> None:
    """Write a record."""
    json_record.write(Path(path), facts)
