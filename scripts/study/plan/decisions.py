"""The decision on a study's blocks: made once by the main process, kept in plan.json, read by jobs."""

from dataclasses import asdict
from pathlib import Path

from scripts.lib import json_record
from scripts.lib.json_record import Json
from scripts.measure.engine import planned
from scripts.study.plan import precision_rule
from scripts.study.plan.block_layout import Block
from scripts.study.plan.recipes import Plan
from scripts.study.plan.schedule import Schedule
from scripts.study.plan.study_description import describe

PLAN_FILE = "plan.json"


def write(paths: Schedule) -> None:
    """Write the blocks of a study, and what the jobs that measure some of them, or decide on others, need to know."""
    described = [paths.planned(block).facts() for block in paths.to_measure.values()]
    decided = [asdict(block) for block in paths.every_block]
    planned.write(Path(paths.study) / PLAN_FILE, decided, described, stopping_facts(paths))


def stopping_facts(paths: Schedule) -> dict[str, Json] | None:
    """Return what a decision after a repetition needs to know, None for a study whose number of blocks is fixed."""
    if not (stopping := precision_rule.settings(paths.plan.study)):
        return None
    runs: Json = {path: run.repetition for path, run in paths.runs_of(paths.every_block).items()}
    return {
        "asked": asdict(stopping),
        "study": dict(json_record.dump(describe(paths, [], paths.every_block))),
        "runs": runs,
    }


def read(plan: Plan) -> list[Block] | None:
    """Return the blocks that the main process decided on; None where it wrote nothing yet.

    A job that decided by itself would see other blocks than the main process: some are finished meanwhile.
    """
    file = Path(Schedule(plan, []).study) / PLAN_FILE
    return [*map(Block.of, json_record.read(file)["decided"])] if file.exists() else None
