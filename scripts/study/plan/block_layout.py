"""Which blocks a study has: those on disk that hold what it wants, and those to measure for what they lack.

A block's folder ends in the digest of its arms, so its content never changes: a variant that is added is measured in
a block of its own beside the reference and A/A, one that is removed or comes back measures nothing.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

from scripts.lib.json_record import Json
from scripts.lib.parts import JsonObject, Part
from scripts.lib.vocabulary import AA, BLOCK_FILE, RELINKED
from scripts.study.plan.order import BlockKey


@dataclass(frozen=True)
class Block(JsonObject):
    """A block of a study: its arms, reference and A/A first, and whether it is measured."""

    key: BlockKey
    arms: tuple[str, ...]
    folder: str
    finished: bool

    @property
    def record(self) -> str:
        """The record that is written last."""
        return f"{self.folder}/{BLOCK_FILE}"

    @property
    def name(self) -> str:
        """The name of the block in the tables."""
        return f"{self.key.path}/{self.folder.rpartition('/')[2]}"


@dataclass(frozen=True, slots=True)
class BlockRecord(Part):
    """The record of a measured block: the facts of each arm, and the order of the arms by turns."""

    arms: dict[str, dict[str, Json]] = field(default_factory=dict)
    turns: list[str] = field(default_factory=list)

    def digest(self, arm: str) -> Json:
        """Return the digest of an arm, None where the block lacks it."""
        return (self.arms.get(arm) or {}).get("digest")


class ResultFiles(Protocol):
    """Names in folders and contents of records."""

    def names(self, folder: str) -> frozenset[str]:
        """Return the names in a folder."""

    def record(self, path: str) -> dict[str, Json] | None:
        """Return a record, None without one."""


class Wanted(Protocol):
    """The names of a study's arms, their digests, and the paths of blocks."""

    def levels(self, key: BlockKey) -> Sequence[BlockKey]:
        """Return the blocks that are measured in the same start of their servers as a block, itself among them."""

    def arm_digest(self, variant: str, workload: str) -> str:
        """Return the digest of an arm."""

    def block_folder(self, key: BlockKey, arms: Sequence[str]) -> str:
        """Return the folder of a block with these arms."""


def decided(
    study: Wanted, files: ResultFiles, key: BlockKey, arms: Sequence[str], most: int, relinkable: bool = False
) -> list[Block]:
    """Return the blocks of a repetition: measured ones that hold arms of the study, and new ones for the rest.

    `arms` names the reference, A/A, then the variants; a block holds at most `most` of them. The arm `relinked` joins
    the first new block if it is `relinkable`; for itself it needs none.
    """
    references, variants = list(arms[:2]), list(arms[2:])
    used, unmeasured = [], variants
    for block in sorted(_measured(study, files, key, arms), key=lambda block: (-len(block.arms), block.folder)):
        if new := [name for name in block.arms[2:] if name in unmeasured]:
            used.append(Block(key, (*references, *new), block.folder, finished=True))
            unmeasured = [name for name in unmeasured if name not in new]
        elif not variants and not used:
            used.append(block)
    lacking = [name for name in unmeasured if name != RELINKED]
    if lacking or not used:
        lacking += [RELINKED] if relinkable and RELINKED in unmeasured else []
        used += [
            Block(key, together := (*references, *group), study.block_folder(key, together), finished=False)
            for group in groups(lacking, most - len(references))
        ]
    return used


def groups(names: Sequence[str], most: int) -> list[list[str]]:
    """Return names in the fewest groups of at most `most`, of nearly equal size; one empty group of none."""
    count = max(-(-len(names) // max(most, 1)), 1)
    size, larger = divmod(len(names), count)
    ends = [number * size + min(number, larger) for number in range(count + 1)]
    return [list(names[begin:end]) for begin, end in pairwise(ends)]


def _measured(study: Wanted, files: ResultFiles, key: BlockKey, arms: Sequence[str]) -> Iterator[Block]:
    """Yield the measured blocks of a repetition with the study's reference, each with the study's arms in it.

    A block that shares a start of its servers with others counts only when all of them are there.
    """
    home, *homes = [study.block_folder(level, arms).rpartition("/")[0] for level in (key, *study.levels(key))]
    digests = {name: study.arm_digest(name, key.workload) for name in arms}
    for name in sorted(files.names(home)):
        records = [BlockRecord.of(files.record(f"{folder}/{name}/{BLOCK_FILE}") or {}) for folder in homes]
        shared = tuple(arm for arm in arms if all(record.digest(arm) == digests[arm] for record in records))
        if shared[:2] == tuple(arms[:2]):
            yield Block(key, shared, f"{home}/{name}", finished=True)


def ordered_arms(variants: Sequence[str], reference: str) -> list[str]:
    """Return the reference, A/A, then the other variants; `relinked` stays the last."""
    return [reference, AA, *(name for name in variants if name not in (reference, AA))]


def pattern(records: Sequence[str]) -> str:
    """Return a regular expression of what these paths have between `blocks/` and `/block.json`."""
    repetitions: dict[tuple[str, str, str], list[str]] = {}
    for path in records:
        workload, clients, repetition, digest, _ = path.split("/")[-5:]
        repetitions.setdefault((workload, clients, digest), []).append(repetition)
    parts = [
        f"{re.escape(workload)}/{clients}/(?:{'|'.join(numbers)})/{digest}"
        for (workload, clients, digest), numbers in repetitions.items()
    ]
    return "|".join(parts) or "(?!)"
