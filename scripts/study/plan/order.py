"""The order of the blocks of a study, and of the arms in a block that is measured by turns."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from scripts.lib.parts import JsonObject
from scripts.lib.vocabulary import NEVER
from scripts.measure.engine import rounds
from scripts.study.config.loading import Study


@dataclass(frozen=True, order=True)
class PlannedRun:
    """One arm of a block to measure; `position` is its place in the block, from 1."""

    variant: str
    workload: str
    clients: int
    repetition: int
    position: int


@dataclass(frozen=True, order=True)
class BlockKey(JsonObject):
    """What is measured again and again: a workload with a number of clients; each repetition is a block."""

    repetition: int
    workload: str
    clients: int

    @property
    def path(self) -> str:
        """The part of a path that names it."""
        return f"{self.workload}/{self.clients}/{self.repetition}"


def keys_in_order(study: Study) -> list[BlockKey]:
    """Return the blocks of a study in the order of measuring: by repetition, then by workload and clients."""
    return [
        BlockKey(repetition, workload, clients)
        for repetition in range(1, study.declared.repetitions + 1)
        for workload in study.workloads
        for clients in study.declared.clients
    ]


def is_ladder(study: Study) -> bool:
    """Return whether each server goes through all client counts in one start."""
    return study.declared.restart == NEVER


def levels_of(study: Study, key: BlockKey) -> list[BlockKey]:
    """Return the blocks that share the starts of their servers, in the order of measuring: often the block alone."""
    if not is_ladder(study):
        return [key]
    return [BlockKey(key.repetition, key.workload, clients) for clients in sorted(study.declared.clients)]


def seed_of(study: Study, key: BlockKey) -> str:
    """Return the seed from which the order of a block's rounds is drawn."""
    return f"{study.declared.seed}/{key.path}"


def turns(study: Study, key: BlockKey, arms: Sequence[str]) -> list[str]:
    """Return the order of a block's arms by turns: over repetitions each has each place equally often."""
    drawn = rounds.orders(sorted(arms), key.repetition, f"{study.declared.seed}/{key.workload}/{key.clients}")
    return next(islice(drawn, key.repetition - 1, None))
