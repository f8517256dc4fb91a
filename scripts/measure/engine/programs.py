"""The programs that a block measures: those of its builds, and in each repetition another relink of the reference."""

from dataclasses import replace
from pathlib import Path

from scripts.build.relink import kept_relinks
from scripts.measure.engine.planned import PlannedArm, PlannedBlock


def with_programs(block: PlannedBlock) -> PlannedBlock:
    """Return a planned block whose arms name the programs that its repetition measures."""
    return replace(block, arms=[_with_program(arm, block.repetition) for arm in block.arms])


def _with_program(arm: PlannedArm, repetition: int) -> PlannedArm:
    if arm.answers is None:
        return arm
    try:
        identity = kept_relinks.identity_for(Path(arm.identity).parent, Path(arm.answers), repetition)
    except kept_relinks.NotRelinked as why:
        return replace(arm, refused=str(why))
    return replace(arm, identity=str(identity))
