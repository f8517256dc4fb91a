"""A block as the main process planned it: what a job needs to measure it, read from the study's plan.json."""

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from scripts.lib import json_record
from scripts.lib.json_record import Json
from scripts.lib.parts import Part
from scripts.lib.recipe_models import RunRecipe


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext(Part):
    """What does not affect the result of a run: its place in the study, and the folder of its storage.

    `judged` are the records that must not have failed, which no run keeps.
    """

    study: str
    variant: str
    workload: str
    clients: int
    repetition: int
    block: str
    position: int
    run_number: int
    runs_total: int
    sql: str | None = None
    storage: str | None = None
    log_statements: bool = False
    judged: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PlannedArm(Part):
    """An arm: its recipe, its context, and the records of its build and dataset.

    `answers` is the folder of the build's answers for the arm that measures its relinks, else None. `refused` is why
    that has none to measure; the job finds that out.
    """

    name: str
    digest: str
    recipe: RunRecipe
    context: RunContext
    identity: str
    dataset: str
    answers: str | None = None
    refused: str | None = None

    def written_empty(self) -> Collection[str]:
        """Return all but `refused`, which the plan does not know."""
        return self.values().keys() - {"refused"}


@dataclass(frozen=True, slots=True)
class PlannedBlock(Part):
    """A block: where it is kept, how it is measured and why so, and its arms: the reference, A/A, then the others.

    By turns the servers are up one after the other in the order of `turns`. Blocks of several client counts may share
    one start of each server: `levels` has their folders in the order of measuring, this one's among them. A block in
    slices whose load is bound by a disk goes by turns as well. A window by turns has `turn_s` seconds; None: a block in
    slices stays so, and windows by turns are as the recipe says.
    """

    folder: str
    workload: str
    clients: int
    repetition: int
    seed: str
    method: str
    why: str | None = None
    turns: list[str] = field(default_factory=list)
    turn_s: int | None = None
    levels: list[str] = field(default_factory=list)
    arms: list[PlannedArm] = field(default_factory=list)

    def facts(self) -> dict[str, Json]:
        """Return the block as plan.json holds it."""
        return json_record.dump(self)


Facts = dict[str, Json]


def write(path: Path, decided: list[Facts], blocks: list[Facts], stopping: Facts | None) -> None:
    """Write a study's blocks, as the main process `decided` on them, and what is known of the `blocks` to measure.

    `stopping` is what a decision on another repetition needs to know.
    """
    json_record.write(path, {"decided": decided, "blocks": blocks, "stopping": stopping})


@dataclass(frozen=True)
class PlaceInPlan:
    """The place of a block among the runs to measure: those of the blocks `before` it, and `total` of all blocks."""

    before: int
    total: int


def place(path: Path, folder: Path) -> PlaceInPlan:
    """Return the place of the block in `folder`, with those that share its starts, among what the plan measures.

    Runs that exist are none of them.
    """
    blocks = json_record.read(path)["blocks"]
    together = next(block.get("levels") or [str(folder)] for block in blocks if block["folder"] == str(folder))
    first = next(number for number, block in enumerate(blocks) if block["folder"] in together)
    counts = [len(block["arms"]) for block in blocks]
    return PlaceInPlan(sum(counts[:first]), sum(counts))


def read(path: Path, folder: Path) -> list[PlannedBlock]:
    """Return the block that is kept in `folder`, the last one, behind those that share its starts of the servers.

    Raises ValueError naming the plan when it has no such block.
    """
    blocks = {block["folder"]: block for block in json_record.read(path)["blocks"]}
    if str(folder) not in blocks:
        raise ValueError(f"{path}: no block {folder}, expected one; run the workflow again, which plans anew")
    return [PlannedBlock.of(blocks[level]) for level in blocks[str(folder)].get("levels") or [str(folder)]]
