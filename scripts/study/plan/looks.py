"""Earlier reports of a study's blocks: who measures more because of what a report says takes another look."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scripts.lib import json_record
from scripts.study.plan.block_layout import Block

LOOKS_FILE = "looks.json"
REPORTED_FILE = "verdict.json"


def known(study: Path) -> list[dict[str, Any]]:
    """Return `repetitions` and `blocks` of each report of a study so far: of those kept, and of the one on disk."""
    kept = json_record.read(study / LOOKS_FILE)["reports"] if (study / LOOKS_FILE).exists() else []
    last = json_record.read(study / REPORTED_FILE) if (study / REPORTED_FILE).exists() else {}
    # A partial report is no look: nobody decides on the number of repetitions while they are measured.
    if last.get("partial") or not last.get("blocks"):
        return kept
    found = {name: last[name] for name in ("repetitions", "blocks")}
    return kept if found in kept else [*kept, found]


def keep(study: Path) -> None:
    """Note the report on disk, which a later one replaces."""
    if found := known(study):
        json_record.write(study / LOOKS_FILE, {"reports": found})


def earlier(study: Path, blocks: Sequence[Block]) -> list[int]:
    """Return the other numbers of repetitions with which some of these blocks were reported, in ascending order.

    A campaign measured anew shares no block with the one before, and other variants beside the same repetitions are no
    other number of them.
    """
    names, number = {block.name for block in blocks}, max(block.key.repetition for block in blocks)
    shared = [report for report in known(study) if not names.isdisjoint(report["blocks"])]
    return sorted({report["repetitions"] for report in shared} - {number})
