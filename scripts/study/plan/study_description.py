"""The whole study for its report, read by `ResolvedStudy`: resolved entries, and the planned order of its blocks."""

from dataclasses import asdict
from pathlib import Path

from scripts.build.compilation.stages import PREBUILT
from scripts.build.sources import addresses
from scripts.lib.json_record import Json
from scripts.lib.vocabulary import RELINKED
from scripts.study.config import expansion
from scripts.study.config.loading import Study
from scripts.study.config.run_time import share_of
from scripts.study.config.scalars import as_written
from scripts.study.plan import diagnosis_plan, looks, precision_rule
from scripts.study.plan.block_layout import Block
from scripts.study.plan.precision_rule import Stopping
from scripts.study.plan.recipes import Plan
from scripts.study.plan.schedule import Schedule

Facts = dict[str, Json]
AS_DECLARED = (
    *("study", "title", "question", "reference", "clients", "repetitions", "seed", "campaign"),
    *("warmup_s", "measure_s", "placement"),
)
UNLESS_NEUTRAL = ("rest_s", "restart", "stop", "series")


def describe(paths: Schedule, files: list[Path], decided: list[Block], decision: Facts | None = None) -> Facts:
    """Return study.json: the options, workloads, datasets and trainings that a study uses, and the text of its files.

    `decided` are its blocks, all of them unless it stopped by its precision; `decision` is the record of that.
    """
    plan, study = paths.plan, paths.plan.study
    declared, stopping = study.declared, precision_rule.settings(study)
    written = declared.model_fields_set
    stated: Facts = {key: as_written(getattr(declared, key)) for key in AS_DECLARED if key in written}
    stated |= {key: value for key in UNLESS_NEUTRAL if key in written and (value := getattr(declared, key))}
    stated |= {"repetitions": max(block.key.repetition for block in decided)} if stopping else {}
    builds = list(dict.fromkeys(arm.build for arm in study.arms.values()))
    trained = {build: names for build in builds if (names := trainings_of(plan, build))}
    datasets = sorted({load.dataset for load in study.loads.values()})
    measured = {name for block in decided for name in block.arms}
    described: dict[str, object] = {
        **stated,
        "matters": share_of(declared.matters) if "matters" in written else None,
        "expect": as_written(declared.expect) if "expect" in written else None,
        "stopping": stopped(stopping, declared.repetitions, decision or {}) if stopping else None,
        "looks": looks.earlier(Path(paths.study), decided) or None,
        "variants": {
            name: {**arm.written(), **({"relinked": True} if name == RELINKED else {}), "options": plan.options(name)}
            for name, arm in study.arms.items()
            if name != RELINKED or name in measured
        },
        "workloads": {name: load.written() for name, load in study.loads.items()},
        "datasets": {name: declared.datasets[name].written() for name in datasets},
        "trainings": {name: declared.trainings[name].written() for name in sorted(set().union(*trained.values()))},
        "builds": {name: build_facts(plan, name) for name in builds},
        "trained_on": {build: loads_of(plan, names) for build, names in trained.items()},
        "matrix": matrix_of(study),
        "client": as_written(declared.client) if "client" in written else None,
        "scaled": scaled_keys(study),
        "diagnose": asdict(diagnoses) if (diagnoses := diagnosis_plan.settings(study)) else None,
        "config_text": config_text(study, files),
        "order": [
            [block.key.workload, block.key.clients, block.key.repetition, paths.order(block)] for block in decided
        ],
        "blocks": [block.name for block in decided],
    }
    return {name: as_written(value) for name, value in described.items() if value is not None}


def config_text(study: Study, files: list[Path]) -> str:
    """Return the text of a study's files, without the logins in the addresses of its sources."""
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    return addresses.redacted(text, [source for server in study.declared.servers.values() for source in server.entries])


def stopped(stopping: Stopping, most: int, decision: Facts) -> Facts:
    """Return by what a study with a `precision` stopped; an empty decision: by its last repetition, `most`."""
    reached = {name: decision.get(name) for name in ("decision", "half_width", "spent_s")}
    return {**asdict(stopping), "most_repetitions": most, **reached}


def matrix_of(study: Study) -> Json:
    """Return the levels of each factor of a matrix, and those of each arm; None without a matrix."""
    if (matrix := study.declared.matrix) is None:
        return None
    factors = {name: list(levels) for name, levels in matrix.factors.items()}
    return as_written({"factors": factors, "arms": expansion.combinations_of(factors)})


def scaled_keys(study: Study) -> list[Json] | None:
    """Return dotted key, full and small value of what the small scale changed; None at full scale."""
    if study.declared.scale != expansion.SMALL:
        return None
    return [[".".join(map(str, path)), full, small] for path, full, small in study.scaled]


def trainings_of(plan: Plan, build: str) -> list[str]:
    """Return the trainings whose profiles a build is made with, BOLT's included."""
    profiles = map(plan.stages.profile, [build, *plan.stages.behind(build)])
    return list(dict.fromkeys(used.training for used in profiles if used))


def loads_of(plan: Plan, trainings: list[str]) -> list[str]:
    """Return the workloads of these trainings; every other workload is held out."""
    declared = plan.study.declared.trainings
    return list(dict.fromkeys(load for name in trainings for load in declared[name].workloads))


def build_facts(plan: Plan, build: str) -> Facts:
    """Return a build's declaration with all defaults, by which factor tables distinguish builds."""
    if build == PREBUILT:
        return {"prebuilt": True}
    declared = plan.stages.builds[build]
    return {
        "flags": list(declared.flags),
        "lto": declared.lto,
        "profile": declared.profile,
        "bolt": declared.bolt,
        "bolt_toolchain": declared.bolt_toolchain if declared.bolt else None,
        "toolchain": declared.toolchain,
        "published": declared.published,
        "debug_information": declared.debug_information,
    }
