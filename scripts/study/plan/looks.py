"""Earlier reports of a study's blocks: who measures more because of what a report says takes another look."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scripts.lib import json_record
from scripts.lib.parts import Part
from scripts.study.plan.block_layout import Block

LOOKS_FILE = "looks.json"
REPORTED_FILE = "verdict.json"


@dataclass(frozen=True, slots=True)
class Look(Part):
    """A report: the repetitions and the names of the blocks that it was made of, and whether it was partial."""

    repetitions: int = 0
    blocks: list[str] = field(default_factory=list)
    partial: bool = False


@dataclass(frozen=True, slots=True)
class EarlierLooks(Part):
    """The record of earlier reports."""

    reports: list[Look] = field(default_factory=list)


def known(study: Path) -> list[Look]:
    """Return each report of a study so far: those noted, and the one on disk."""
    noted = json_record.read_part(EarlierLooks, study / LOOKS_FILE).reports if (study / LOOKS_FILE).exists() else []
    last = json_record.read_part(Look, study / REPORTED_FILE) if (study / REPORTED_FILE).exists() else Look()
    # A partial report is no look: nobody decides on the number of repetitions while they are measured.
    return noted if last.partial or not last.blocks or last in noted else [*noted, last]


def keep(study: Path) -> None:
    """Note the report on disk, which a later one replaces."""
    if reports := known(study):
        noted = [{"repetitions": report.repetitions, "blocks": report.blocks} for report in reports]
        json_record.write(study / LOOKS_FILE, {"reports": noted})


def earlier(study: Path, blocks: Sequence[Block]) -> list[int]:
    """Return the other numbers of repetitions with which some of these blocks were reported, in ascending order.

    A campaign measured anew shares no block with the one before, and other variants beside the same repetitions are no
    other number of them.
    """
    names, number = {block.name for block in blocks}, max(block.key.repetition for block in blocks)
    shared = [report for report in known(study) if not names.isdisjoint(report.blocks)]
    return sorted({report.repetitions for report in shared} - {number})
