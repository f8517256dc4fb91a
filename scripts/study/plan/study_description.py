"""The whole study for its report: resolved entries, and the planned order of its blocks."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from scripts.build.compilation.stages import DEFAULT_BOLT, DEFAULT_TOOLCHAIN, PREBUILT, split_flags
from scripts.build.sources import addresses
from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.vocabulary import RELINKED
from scripts.study.config import expansion
from scripts.study.config.loading import Study
from scripts.study.config.run_time import share_of
from scripts.study.plan import diagnosis_plan, looks, precision_rule
from scripts.study.plan.block_layout import Block
from scripts.study.plan.precision_rule import Stopping
from scripts.study.plan.recipes import Plan
from scripts.study.plan.schedule import Schedule

Facts = dict[str, Any]
AS_DECLARED = (
    *("study", "title", "question", "reference", "clients", "repetitions", "seed", "campaign"),
    *("warmup_s", "measure_s", "placement", "expect", "client"),
)
UNLESS_NEUTRAL = ("rest_s", "restart", "stop", "series")


def describe(paths: Schedule, files: list[Path], decided: list[Block], decision: Facts | None = None) -> ResolvedStudy:
    """Return the study with the options, workloads, datasets and trainings it uses, and the text of its files.

    `decided` are its blocks, all of them unless it stopped by its precision; `decision` is the record of that.
    """
    plan, study = paths.plan, paths.plan.study
    config, asked = study.config, precision_rule.settings(study)
    declared = {key: config[key] for key in AS_DECLARED if key in config}
    declared |= {key: config[key] for key in UNLESS_NEUTRAL if config.get(key)}
    declared |= {"repetitions": max(block.key.repetition for block in decided)} if asked else {}
    builds = list(dict.fromkeys(variant["build"] for variant in study.variants.values()))
    trained = {build: names for build in builds if (names := trainings_of(plan, build))}
    datasets = {study.entries["workloads"][name]["dataset"] for name in study.workloads}
    measured = {name for block in decided for name in block.arms}
    return ResolvedStudy(
        **declared,
        matters=share_of(config["matters"]) if "matters" in config else None,
        stopping=stopped(asked, config["repetitions"], decision or {}) if asked else None,
        looks=looks.earlier(Path(paths.study), decided) or None,
        variants={
            name: {**variant, "options": plan.options(name)}
            for name, variant in study.variants.items()
            if name != RELINKED or name in measured
        },
        workloads={name: study.entries["workloads"][name] for name in study.workloads},
        datasets={name: study.entries["datasets"][name] for name in sorted(datasets)},
        trainings={name: study.entries["trainings"][name] for name in sorted(set().union(*trained.values()))},
        builds={name: build_facts(plan, name) for name in builds},
        trained_on={build: loads_of(plan, names) for build, names in trained.items()},
        matrix=matrix_of(study),
        scaled=scaled_keys(study),
        diagnose=diagnosis_plan.settings(study),
        config_text=config_text(study, files),
        order=[[block.key.workload, block.key.clients, block.key.repetition, paths.order(block)] for block in decided],
        blocks=[block.name for block in decided],
    )


def config_text(study: Study, files: list[Path]) -> str:
    """Return the text of a study's files, without the logins in the addresses of its sources."""
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    servers = study.entries["servers"].values()
    return addresses.redacted(text, [source for server in servers for source in server["sources"]])


def stopped(asked: Stopping, most: int, decision: Facts) -> Facts:
    """Return by what a study with a `precision` stopped; an empty decision: by its last repetition, `most`."""
    reached = {name: decision.get(name) for name in ("decision", "half_width", "spent_s")}
    return {**asdict(asked), "most_repetitions": most, **reached}


def matrix_of(study: Study) -> Facts | None:
    """Return the levels of each factor of a matrix, and those of each arm; None without a matrix."""
    if not (arms := expansion.matrix_levels(study.config)):
        return None
    factors = study.config["matrix"]["factors"]
    return {"factors": {name: list(levels) for name, levels in factors.items()}, "arms": arms}


def scaled_keys(study: Study) -> list[list[Any]] | None:
    """Return dotted key, full and small value of what the small scale changed; None at full scale."""
    if study.config.get("scale") != "small":
        return None
    return [[".".join(map(str, path)), full, small] for path, full, small in study.scaled]


def trainings_of(plan: Plan, build: str) -> list[str]:
    """Return the trainings whose profiles a build is made with, BOLT's included."""
    profiles = map(plan.stages.profile, [build, *plan.stages.behind(build)])
    return list(dict.fromkeys(used.training for used in profiles if used))


def loads_of(plan: Plan, trainings: list[str]) -> list[str]:
    """Return the workloads of these trainings; every other workload is held out."""
    entries = plan.study.entries["trainings"]
    return list(dict.fromkeys(load for name in trainings for load in entries[name]["workloads"]))


def build_facts(plan: Plan, build: str) -> Facts:
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
