"""The blocks of a study: those on disk, those to measure, and what the jobs that measure them need to know."""

from collections.abc import Sequence
from functools import cached_property

from scripts.lib.host.machine_supplies import read_processes
from scripts.lib.vocabulary import RELINKED
from scripts.measure.engine.planned import PlannedArm, PlannedBlock, RunContext
from scripts.study.plan import block_layout, precision_rule, relink_choice
from scripts.study.plan.block_layout import Block, BlockRecord
from scripts.study.plan.layout import PathLayout
from scripts.study.plan.listing import Listing
from scripts.study.plan.memory_room import usable_mib
from scripts.study.plan.methods import Method, Methods
from scripts.study.plan.order import BlockKey, PlannedRun, is_ladder, keys_in_order, levels_of, seed_of, turns
from scripts.study.plan.recipes import Plan


class Schedule(PathLayout):
    """A plan's paths with its blocks, which follow from what lies on disk and from what this machine has room for."""

    def __init__(self, plan: Plan, decided: list[Block] | None = None) -> None:
        """Take the blocks that were `decided` on; without them they follow from what lies on disk now."""
        super().__init__(plan)
        self.listing = Listing()
        self._decided = decided

    @cached_property
    def _methods(self) -> Methods:
        return Methods(self.plan, usable_mib(), read_processes(remaining=False)[1])

    def method(self, key: BlockKey) -> Method:
        """Return how a block is measured."""
        return self._methods.of(key.workload, key.clients)

    def turn_s(self, key: BlockKey) -> int | None:
        """Return the seconds of a window of a block that goes by turns, or may prove to; None for all others."""
        return self._methods.turn_s(key.workload, key.clients)

    def order(self, block: Block) -> list[str]:
        """Return the arms of a block in the order in which they are measured by turns.

        A block on disk may hold arms that the study no longer has, which had their turns too.
        """
        record = self.listing.record(block.record) if block.finished else None
        drawn = BlockRecord.of(record or {}).turns or self.turns(block)
        return [name for name in drawn if name in block.arms]

    def turns(self, block: Block) -> list[str]:
        """Return the drawn order of a block's arms by turns; blocks that share starts have the order of the last."""
        return turns(self.plan.study, self.levels(block.key)[-1], block.arms)

    def levels(self, key: BlockKey) -> list[BlockKey]:
        """Return the blocks that are measured in the same start of their servers as a block, itself among them."""
        return levels_of(self.plan.study, key)

    def shared(self, block: Block) -> list[str]:
        """Return the folders of the blocks that are measured in the same start of their servers, in their order."""
        name = block.folder.rpartition("/")[2]
        return [f"{self.study}/blocks/{key.path}/{name}" for key in self.levels(block.key)]

    @cached_property
    def every_block(self) -> list[Block]:
        """Return the blocks of all repetitions in the order of measuring: those on disk, and those to measure."""
        if self._decided is not None:
            return self._decided
        study = self.plan.study
        arms = block_layout.ordered_arms(list(study.arms), study.declared.reference)
        relinkable = relink_choice.may_be_there(self)
        return [
            block
            for key in keys_in_order(study)
            for block in block_layout.decided(self, self.listing, key, arms, self.method(key).most_arms, relinkable)
        ]

    @cached_property
    def blocks(self) -> list[Block]:
        """Return the blocks that the study has or needs for certain: all of them unless it stops by its precision."""
        return self.up_to(precision_rule.reached(self.study, self.plan.study, self.every_block, self.listing))

    def up_to(self, repetition: int) -> list[Block]:
        """Return the blocks of the repetitions up to this one."""
        return [block for block in self.every_block if block.key.repetition <= repetition]

    @cached_property
    def is_undecided(self) -> bool:
        """Whether a decision on another repetition is due."""
        return precision_rule.undecided(self.study, self.plan.study, self.every_block, self.listing)

    def decision(self, repetition: int) -> str:
        """Return the record of the decision after a repetition."""
        return precision_rule.decision_path(self.study, self.plan.study, repetition, self.every_block)

    @cached_property
    def runs(self) -> dict[str, PlannedRun]:
        """Return path -> run of every arm of every block, in the order of measuring."""
        return self.runs_of(self.blocks)

    def runs_of(self, several: Sequence[Block]) -> dict[str, PlannedRun]:
        """Return path -> run of every arm of some blocks."""
        return {
            self.run(block, name): PlannedRun(
                name, block.key.workload, block.key.clients, block.key.repetition, position
            )
            for block in several
            for position, name in enumerate(block.arms, start=1)
        }

    @cached_property
    def to_measure(self) -> dict[str, Block]:
        """Return record -> block of the blocks that may have to be measured, in the order of measuring."""
        return {block.record: block for block in self.every_block if not block.finished}

    @cached_property
    def jobs(self) -> dict[str, Block]:
        """Return the output of each job that measures -> its block, the last one of those that share their starts."""
        return {path: block for path, block in self.to_measure.items() if self._is_last(block)}

    @property
    def lacks_levels(self) -> bool:
        """Whether a job's output is there though other blocks of its starts are lost, which Snakemake cannot see."""
        return any(self.listing.has(path) for path in self.jobs)

    def _is_last(self, block: Block) -> bool:
        return block.key == self.levels(block.key)[-1]

    def measured(self, several: Sequence[Block]) -> list[str]:
        """Return the records that tell that blocks are measured: of those that share their starts, the last one's."""
        return [block.record for block in several if self._is_last(block)]

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Return path -> number of the run in the order of measuring, from 1."""
        return {path: number for number, path in enumerate(self.runs_of(self.every_block), start=1)}

    def planned(self, block: Block) -> PlannedBlock:
        """Return what the job that measures a block needs to know."""
        key, method, shared = block.key, self.method(block.key), self.shared(block)
        return PlannedBlock(
            folder=block.folder,
            workload=key.workload,
            clients=key.clients,
            repetition=key.repetition,
            seed=seed_of(self.plan.study, key),
            method=method.name,
            why=method.why,
            turns=self.turns(block),
            turn_s=self.turn_s(key),
            levels=shared if len(shared) > 1 else [],
            arms=[self._planned_arm(block, name) for name in block.arms],
        )

    def _planned_arm(self, block: Block, name: str) -> PlannedArm:
        build, workload = self.plan.study.arms[name].built, block.key.workload
        return PlannedArm(
            name=name,
            digest=self.arm_digest(name, workload),
            recipe=self.plan.run(name, workload),
            context=self.context(block, name),
            identity=f"{self.build(*build)}/identity.json",
            dataset=f"{self.dataset(name, workload)}/dataset.json",
            answers=self.answers(*build) if name == RELINKED else None,
        )

    def inputs(self, block: Block) -> list[str]:
        """Return the records of builds and datasets that a block needs."""
        builds = [f"{self.build(*self.plan.study.arms[name].built)}/identity.json" for name in block.arms]
        datasets = [f"{self.dataset(name, block.key.workload)}/dataset.json" for name in block.arms]
        return list(dict.fromkeys([*builds, *datasets]))

    def context(self, block: Block, variant: str) -> RunContext:
        """Return what does not affect the result of an arm: its place in the study, its storage's folder."""
        study, key, arm = self.plan.study, block.key, self.plan.study.arms[variant]
        last = max if is_ladder(study) else min
        return RunContext(
            study=study.name,
            variant=variant,
            workload=key.workload,
            clients=key.clients,
            repetition=key.repetition,
            block=block.name,
            position=block.arms.index(variant) + 1,
            run_number=self.numbers.get(self.run(block, variant), 0),
            runs_total=len(self.numbers),
            sql=study.declared.workloads[key.workload].sql,
            storage=study.declared.storage[arm.storage] if arm.storage else None,
            # One run per variant and workload logs, after its window, the statements of an event: the last of a start.
            log_statements=key.repetition == 1 and key.clients == last(study.declared.clients),
            judged=self.judged(*arm.built),
        )

    def run(self, block: Block, variant: str) -> str:
        """Return the record of an arm of a block."""
        return f"{block.folder}/{variant}.json"
