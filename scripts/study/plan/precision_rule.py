"""When a study with a `precision` stops: the repetitions after which it decides, and what it has decided so far."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

from scripts.lib.json_record import Json, digest
from scripts.lib.vocabulary import MIN_BLOCKS, Decision
from scripts.study.config.loading import Study
from scripts.study.config.run_time import seconds_of, share_of
from scripts.study.plan.block_layout import Block


@dataclass(frozen=True)
class Stopping:
    """The half width that the intervals must have, as a share, and the seconds in blocks that may pass at most."""

    precision: float
    at_most_s: float | None


class Records(Protocol):
    """Contents of records."""

    def record(self, path: str) -> dict[str, Json] | None:
        """Return a record, None without one."""


def settings(study: Study) -> Stopping | None:
    """Return when a study stops, None for one whose number of blocks is fixed."""
    declared = study.declared
    if declared.precision is None:
        return None
    at_most_s = seconds_of(declared.at_most) if declared.at_most else None
    return Stopping(share_of(declared.precision), at_most_s)


def looks(study: Study, blocks: Sequence[Block]) -> range:
    """Return the repetitions after which a study decides whether to go on; after its last there is nothing to decide.

    No verdict stands on fewer than MIN_BLOCKS, so the first look is after as many. What is measured is never left out,
    so there is none before the last repetition of which a block is measured.
    """
    measured = max((block.key.repetition for block in blocks if block.finished), default=0)
    return range(max(MIN_BLOCKS, measured), study.declared.repetitions) if settings(study) else range(0)


def decision_path(folder: str, study: Study, repetition: int, blocks: Sequence[Block]) -> str:
    """Return the record of the decision after a repetition.

    Its digest covers the blocks up to then and what was asked for, so that a decision never changes: other variants or
    another precision make other decisions.
    """
    stopping, names = settings(study), sorted(block.name for block in blocks if block.key.repetition <= repetition)
    decided_on = digest({"blocks": names, "asked": asdict(stopping) if stopping else None})
    return f"{folder}/decisions/{repetition}-{decided_on}.json"


def reached(folder: str, study: Study, blocks: Sequence[Block], records: Records) -> int:
    """Return the repetitions that a study has or needs for certain, by its decisions on disk."""
    for repetition in looks(study, blocks):
        decision = records.record(decision_path(folder, study, repetition, blocks))
        if not decision or decision["decision"] != Decision.ANOTHER:
            return repetition
    return study.declared.repetitions


def undecided(folder: str, study: Study, blocks: Sequence[Block], records: Records) -> bool:
    """Return whether a decision is due: the one after the repetition that the study has reached is not made."""
    last = reached(folder, study, blocks, records)
    return last in looks(study, blocks) and records.record(decision_path(folder, study, last, blocks)) is None


def names_in(path: str) -> dict[str, int | str]:
    """Return the parts of a decision's path: `repetition` and `digest`."""
    repetition, blocks = Path(path).stem.split("-")
    return {"repetition": int(repetition), "digest": blocks}
