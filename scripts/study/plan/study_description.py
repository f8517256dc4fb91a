"""The whole study for its report: resolved entries, and the planned order of its blocks."""

from dataclasses import asdict, replace
from pathlib import Path

from scripts.build.compilation.stages import PREBUILT
from scripts.build.sources import addresses
from scripts.lib.json_record import Json
from scripts.lib.resolved_study import (
    OrderedBlock,
    ResolvedBuild,
    ResolvedClient,
    ResolvedDataset,
    ResolvedDiagnoses,
    ResolvedMatrix,
    ResolvedStudy,
    ResolvedTraining,
    ResolvedVariant,
    ResolvedWorkload,
    ScaledKey,
    StoppingOutcome,
)
from scripts.lib.vocabulary import RELINKED
from scripts.study.config import expansion
from scripts.study.config.loading import Study
from scripts.study.config.run_time import share_of
from scripts.study.plan import diagnosis_plan, looks, precision_rule
from scripts.study.plan.block_layout import Block
from scripts.study.plan.precision_rule import Stopping
from scripts.study.plan.recipes import Plan
from scripts.study.plan.schedule import Schedule

Facts = dict[str, Json]


def describe(paths: Schedule, files: list[Path], decided: list[Block], decision: Facts | None = None) -> ResolvedStudy:
    """Return the options, workloads, datasets and trainings that a study uses, and the text of its files.

    `decided` are its blocks, all of them unless it stopped by its precision; `decision` is the record of that.
    """
    plan, study = paths.plan, paths.plan.study
    declared, stopping, diagnoses = study.declared, precision_rule.settings(study), diagnosis_plan.settings(study)
    placement, last = declared.placement, max(block.key.repetition for block in decided)
    builds = list(dict.fromkeys(arm.build for arm in study.arms.values()))
    trained = {build: names for build in builds if (names := trainings_of(plan, build))}
    measured = {name for block in decided for name in block.arms}
    return ResolvedStudy(
        study=declared.study,
        title=declared.title or "",
        question=declared.question or "",
        reference=declared.reference,
        clients=declared.clients,
        repetitions=last if stopping else declared.repetitions,
        seed=declared.seed,
        campaign=declared.campaign,
        warmup_s=declared.warmup_s,
        measure_s=declared.measure_s,
        placement=placement if isinstance(placement, str) else placement.model_dump(),
        rest_s=declared.rest_s or None,
        restart=declared.restart,
        stop=declared.stop,
        series=declared.series,
        matters=share_of(declared.matters),
        expect={name: ratios.model_dump(exclude_none=True) for name, ratios in (declared.expect or {}).items()},
        stopping=stopped(stopping, declared.repetitions, decision or {}) if stopping else None,
        looks=looks.earlier(Path(paths.study), decided),
        variants={name: resolved_arm(plan, name) for name in study.arms if name != RELINKED or name in measured},
        workloads={name: ResolvedWorkload.of(load.written()) for name, load in study.loads.items()},
        datasets={
            name: ResolvedDataset.of(declared.datasets[name].written())
            for name in sorted({load.dataset for load in study.loads.values()})
        },
        trainings={
            name: ResolvedTraining.of(declared.trainings[name].written())
            for name in sorted(set().union(*trained.values()))
        },
        builds={name: resolved_build(plan, name) for name in builds},
        trained_on={build: loads_of(plan, names) for build, names in trained.items()},
        matrix=matrix_of(study),
        client=ResolvedClient.of(declared.client.written() if declared.client else {}),
        scaled=scaled_keys(study),
        diagnose=ResolvedDiagnoses(**asdict(diagnoses)) if diagnoses else None,
        config_text=config_text(study, files),
        order=[
            OrderedBlock(block.key.workload, block.key.clients, block.key.repetition, paths.order(block))
            for block in decided
        ],
        blocks=[block.name for block in decided],
    )


def config_text(study: Study, files: list[Path]) -> str:
    """Return the text of a study's files, without the logins in the addresses of its sources."""
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    return addresses.redacted(text, [source for server in study.declared.servers.values() for source in server.entries])


def stopped(stopping: Stopping, most: int, decision: Facts) -> StoppingOutcome:
    """Return by what a study with a `precision` stopped; an empty decision: by its last repetition, `most`."""
    return StoppingOutcome.of({**decision, **asdict(stopping), "most_repetitions": most})


def matrix_of(study: Study) -> ResolvedMatrix:
    """Return the levels of each factor of a matrix, and those of each arm; empty without a matrix."""
    if (matrix := study.declared.matrix) is None:
        return ResolvedMatrix()
    factors = {name: list(levels) for name, levels in matrix.factors.items()}
    return ResolvedMatrix(factors, expansion.combinations_of(factors))


def scaled_keys(study: Study) -> list[ScaledKey] | None:
    """Return dotted key, full and small value of what the small scale changed; None at full scale."""
    if study.declared.scale != expansion.SMALL:
        return None
    return [ScaledKey(".".join(map(str, path)), full, small) for path, full, small in study.scaled]


def trainings_of(plan: Plan, build: str) -> list[str]:
    """Return the trainings whose profiles a build is made with, BOLT's included."""
    profiles = map(plan.stages.profile, [build, *plan.stages.behind(build)])
    return list(dict.fromkeys(used.training for used in profiles if used))


def loads_of(plan: Plan, trainings: list[str]) -> list[str]:
    """Return the workloads of these trainings; every other workload is held out."""
    declared = plan.study.declared.trainings
    return list(dict.fromkeys(load for name in trainings for load in declared[name].workloads))


def resolved_arm(plan: Plan, name: str) -> ResolvedVariant:
    """Return a variant with all of its server options."""
    arm = ResolvedVariant.of(plan.study.arms[name].written())
    return replace(arm, relinked=name == RELINKED, options=plan.options(name))


def resolved_build(plan: Plan, name: str) -> ResolvedBuild:
    """Return a build with all defaults, by which factor tables distinguish builds."""
    if name == PREBUILT:
        return ResolvedBuild(prebuilt=True)
    declared = plan.stages.builds[name]
    return ResolvedBuild(
        flags=list(declared.flags),
        lto=declared.lto,
        profile=declared.profile,
        bolt=declared.bolt,
        bolt_toolchain=declared.bolt_toolchain if declared.bolt else None,
        toolchain=declared.toolchain,
        published=declared.published,
        debug_information=declared.debug_information,
    )
