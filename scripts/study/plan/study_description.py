"""The whole study for its report: resolved entries, and the planned order of its blocks."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scripts.build.compilation.stages import DEFAULT_BOLT, DEFAULT_TOOLCHAIN, PREBUILT, split_flags
from scripts.build.sources import addresses
from scripts.lib.vocabulary import RELINKED
from scripts.study.config import expansion
from scripts.study.config.loading import Study
from scripts.study.config.run_time import share_of
from scripts.study.plan import diagnosis_plan, looks, precision_rule
from scripts.study.plan.block_layout import Block
from scripts.study.plan.paths import Paths
from scripts.study.plan.recipes import Plan

Facts = dict[str, Any]


def describe(paths: Paths, files: list[Path], decided: list[Block], decision: Facts | None = None) -> Facts:
    """Return the study with the options, workloads, datasets and trainings it uses, and the text of its files.

    `decided` are its blocks, all of them unless it stopped by its precision; `decision` is the record of that.
    """
    plan = paths.plan
    study, config = plan.study, plan.study.config
    builds = list(dict.fromkeys(variant["build"] for variant in study.variants.values()))
    trained = {name: trainings_of(plan, name) for name in builds}
    used = {training for names in trained.values() for training in names}
    datasets = {study.entries["workloads"][name]["dataset"] for name in study.workloads}
    keys = "study title question reference clients repetitions seed campaign warmup_s measure_s placement"
    return {
        **{key: config[key] for key in keys.split()},
        **{key: config[key] for key in ("rest_s", "restart", "stop", "series") if config.get(key)},
        **({"matters": share_of(config["matters"])} if "matters" in config else {}),
        **({"expect": config["expect"]} if "expect" in config else {}),
        **stopped(paths, decided, decision),
        **looked(paths, decided),
        "variants": {name: {**variant, "options": plan.options(name)} for name, variant in shown(study, decided)},
        "workloads": {name: study.entries["workloads"][name] for name in study.workloads},
        "datasets": {name: study.entries["datasets"][name] for name in sorted(datasets)},
        "trainings": {name: study.entries["trainings"][name] for name in sorted(used)},
        "builds": {name: build_facts(plan, name) for name in builds},
        "trained_on": {name: loads_of(plan, trained[name]) for name in builds if trained[name]},
        **extras(study),
        **({"diagnose": asked} if (asked := diagnosis_plan.settings(study)) else {}),
        "config_text": config_text(study, files),
        "order": [
            [block.key.workload, block.key.clients, block.key.repetition, paths.order(block)] for block in decided
        ],
        "blocks": [block.name for block in decided],
    }


def config_text(study: Study, files: list[Path]) -> str:
    """Return the text of a study's files, without the logins in the addresses of its sources."""
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    servers = study.entries["servers"].values()
    return addresses.redacted(text, [source for server in servers for source in server["sources"]])


def shown(study: Study, decided: list[Block]) -> Iterator[tuple[str, Facts]]:
    """Yield the variants of a study by name, `relinked` only where a block has it."""
    for name, variant in study.variants.items():
        if name != RELINKED or any(name in block.arms for block in decided):
            yield name, variant


def stopped(paths: Paths, decided: list[Block], decision: Facts | None) -> Facts:
    """Return by what a study with a `precision` stopped, and its `repetitions`.

    `decision` is None when it was measured to its last repetition.
    """
    if not (asked := precision_rule.settings(paths.plan.study)):
        return {}
    most, number = paths.plan.study.config["repetitions"], max(block.key.repetition for block in decided)
    names = ("decision", "half_width", "spent_s")
    facts = {**asdict(asked), "most_repetitions": most, **{name: (decision or {}).get(name) for name in names}}
    return {"repetitions": number, "stopping": facts}


def looked(paths: Paths, decided: list[Block]) -> Facts:
    """Return after which other repetitions these blocks were reported before; empty for the first report."""
    found = looks.earlier(Path(paths.study), decided)
    return {"looks": found} if found else {}


def extras(study: Study) -> dict[str, Any]:
    """Return the matrix, the client host and the settings of the small scale, where a study has them."""
    arms = expansion.matrix_levels(study.config)
    scaled = [[".".join(map(str, path)), full, small] for path, full, small in study.scaled]
    factors = {name: list(levels) for name, levels in study.config["matrix"]["factors"].items()} if arms else {}
    return {
        **({"matrix": {"factors": factors, "arms": arms}} if arms else {}),
        **({"client": study.config["client"]} if "client" in study.config else {}),
        **({"scaled": scaled} if study.config.get("scale") == "small" else {}),
    }


def trainings_of(plan: Plan, build: str) -> list[str]:
    """Return the trainings whose profiles a build is made with, BOLT's included."""
    found = [plan.stages.profile(name) for name in [build, *plan.stages.behind(build)]]
    return list(dict.fromkeys(used.training for used in found if used))


def loads_of(plan: Plan, trainings: list[str]) -> list[str]:
    """Return the workloads of these trainings; every other workload is held out."""
    entries = plan.study.entries["trainings"]
    return list(dict.fromkeys(load for name in trainings for load in entries[name]["workloads"]))


def build_facts(plan: Plan, build: str) -> dict[str, Any]:
    """Return a build's declaration with all defaults, by which factor tables distinguish builds."""
    if build == PREBUILT:
        return {"prebuilt": True}
    declared = plan.study.entries["builds"][build]
    return {
        "flags": split_flags(declared.get("flags", [])),
        "lto": declared.get("lto", False),
        "profile": declared.get("profile"),
        "bolt": declared.get("bolt"),
        "bolt_toolchain": declared.get("bolt_toolchain", DEFAULT_BOLT) if "bolt" in declared else None,
        "toolchain": declared.get("toolchain", DEFAULT_TOOLCHAIN),
        "published": declared.get("published", False),
        "debug_information": declared.get("debug_information", False),
    }
