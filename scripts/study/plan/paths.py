"""Paths of everything a plan makes, under results/."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from scripts.build.compilation.stages import COMPILED
from scripts.lib.host.process_limits import read_processes
from scripts.lib.json_record import digest
from scripts.study.plan import block_layout, precision_rule, relink_choice
from scripts.study.plan.block_layout import Block
from scripts.study.plan.listing import Listing
from scripts.study.plan.memory_room import usable_mib
from scripts.study.plan.methods import Method, Methods
from scripts.study.plan.order import BlockKey, Run, is_ladder, keys_in_order, levels_of, seed_of, turns
from scripts.study.plan.recipes import Plan, once


class Paths:
    """Paths of a plan, relative to the working directory; each digest is computed once."""

    def __init__(self, plan: Plan, decided: list[Block] | None = None) -> None:
        """Take the blocks that were `decided` on; without them they follow from what lies on disk now."""
        self.plan = plan
        self.listing = Listing()
        self._methods = Methods(plan, usable_mib(), read_processes(left=False)[1])
        self._decided = decided
        self.study = f"results/studies/{plan.study.name}"

    def source(self, server: str) -> str:
        """Return the record of a server's sources."""
        return f"results/sources/{server}-{digest(self.plan.source(server))}/source.json"

    @once
    def build(self, server: str, build: str) -> str:
        """Return the folder of a build or of a stage behind one."""
        return f"results/builds/{server}/{build}-{digest(self.plan.build(server, build))}"

    def profile(self, server: str, build: str) -> str | None:
        """Return the folder of the profile that a build or stage uses, None without one."""
        if "profile" not in (recipe := self.plan.build(server, build)):
            return None
        return f"results/profiles/{server}/{recipe['profile']['training']}-{recipe['profile']['digest']}"

    @once
    def dataset(self, variant: str, workload: str) -> str:
        """Return the folder of the dataset of a variant under a workload."""
        server = self.plan.study.variants[variant]["server"]
        name = self.plan.study.entries["workloads"][workload]["dataset"]
        made = self.plan.dataset_digest(server, name, self.plan.options(variant), self.plan.data(variant))
        return f"results/datasets/{server}/{name}-{made}"

    @once
    def variant_part(self, variant: str) -> str:
        """Return the part of a run's path that identifies the variant."""
        return f"{variant}-{digest(self.plan.variant(variant))}"

    @once
    def load_part(self, variant: str, workload: str) -> str:
        """Return the part of a run's path that identifies the load."""
        return f"{workload}-{digest(self.plan.load(variant, workload))}"

    @once
    def arm_digest(self, variant: str, workload: str) -> str:
        """Return the digest of an arm: of its variant and of its load."""
        return digest({"variant": self.plan.variant(variant), "load": self.plan.load(variant, workload)})

    def block_folder(self, key: BlockKey, arms: Sequence[str]) -> str:
        """Return the folder of a block, which ends in the digest of its arms."""
        made = digest(sorted([name, self.arm_digest(name, key.workload)] for name in arms))
        return f"{self.study}/blocks/{key.path}/{made}"

    def run(self, block: Block, variant: str) -> str:
        """Return the record of an arm of a block."""
        return f"{block.folder}/{variant}.json"

    @cached_property
    def builds(self) -> dict[str, tuple[str, str]]:
        """Return folder -> (server, build) of the builds of variants and of the datasets' loader, without stages."""
        variants = self.plan.study.variants.values()
        pairs = {(variant["server"], variant["build"]) for variant in variants}
        pairs |= {(variant["server"], self.plan.loader(variant["server"])) for variant in variants}
        return {self.build(*pair): pair for pair in sorted(pairs)}

    @cached_property
    def stages(self) -> dict[str, tuple[str, str]]:
        """Return folder -> (server, stage) of the stages behind the study's builds."""
        pairs = {(server, stage) for server, build in self.builds.values() for stage in self.plan.stages.behind(build)}
        return {self.build(*pair): pair for pair in sorted(pairs)}

    @cached_property
    def profiles(self) -> dict[str, tuple[str, str, str]]:
        """Return folder -> (server, training, trained stage) of the study's profiles."""
        found = {}
        for server, build in [*self.builds.values(), *self.stages.values()]:
            if used := self.plan.stages.profile(build):
                found[self.profile(server, build)] = (server, used.training, used.stage)
        return found

    @cached_property
    def audits(self) -> list[str]:
        """Return the audits of all builds and stages that a compiler optimised with a profile."""
        made = [*self.builds.items(), *self.stages.items()]
        kinds = {folder: self.plan.stages.of(build).kind for folder, (_, build) in made}
        trained = [folder for folder, pair in made if self.profile(*pair)]
        return [f"{folder}/audit.json" for folder in trained if kinds[folder] in COMPILED]

    @cached_property
    def measured_builds(self) -> dict[str, tuple[str, str]]:
        """Return folder -> (server, build) of the builds of variants."""
        pairs = dict.fromkeys((variant["server"], variant["build"]) for variant in self.plan.study.variants.values())
        return {self.build(*pair): pair for pair in pairs}

    @cached_property
    def checks(self) -> list[str]:
        """Return the differential checks of the measured builds."""
        return [f"{self.answers(*pair)}/check.json" for pair in self.measured_builds.values() if self.is_ours(*pair)]

    def is_ours(self, server: str, build: str) -> bool:
        """Return whether the program of a build is at hand, so that it can be started, checked and compared."""
        return not self.plan.is_running(server)

    @once
    def judged(self, server: str, build: str) -> list[str]:
        """Return the audits and the check of a build, all of which must pass before it is measured."""
        if not self.is_ours(server, build):
            return []
        audits = [f"{self.build(server, name)}/audit.json" for name in (build, *self.plan.stages.behind(build))]
        return [audit for audit in audits if audit in self.audits] + [f"{self.answers(server, build)}/check.json"]

    def answers(self, server: str, build: str) -> str:
        """Return the folder of a build's answers to the statements of the differential check."""
        return self.build(server, build).replace("results/builds/", "results/checks/", 1)

    @cached_property
    def datasets(self) -> dict[str, tuple[str, str, dict, dict]]:
        """Return folder -> recipe parts (server, dataset, options, data) of all datasets, the trainings' included."""
        plan, found = self.plan, {}
        for variant in plan.study.variants:
            for workload in plan.study.workloads:
                name = plan.study.entries["workloads"][workload]["dataset"]
                found[self.dataset(variant, workload)] = (
                    plan.study.variants[variant]["server"],
                    name,
                    plan.options(variant),
                    plan.data(variant),
                )
        for server, training, _ in self.profiles.values():
            for folder, parts in self.training_datasets(server, training).items():
                found.setdefault(folder, parts)
        return found

    def training_datasets(self, server: str, training: str) -> dict[str, tuple[str, str, dict, dict]]:
        """Return folder -> recipe parts of the datasets that a training runs on."""
        entries = self.plan.study.entries
        names = {entries["workloads"][name]["dataset"] for name in entries["trainings"][training]["workloads"]}
        parts = [self.plan.training_data(server, training, name) for name in sorted(names)]
        return {f"results/datasets/{server}/{made[1]}-{self.plan.dataset_digest(*made)}": made for made in parts}

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
        measured = (self.listing.record(block.record) or {}).get("turns") if block.finished else None
        drawn = measured or self.turns(block)
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
        arms = block_layout.ordered_arms(list(study.variants), study.config["reference"])
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
    def runs(self) -> dict[str, Run]:
        """Return path -> run of every arm of every block, in the order of measuring."""
        return self.runs_of(self.blocks)

    def runs_of(self, several: Sequence[Block]) -> dict[str, Run]:
        """Return path -> run of every arm of some blocks."""
        return {
            self.run(block, name): Run(name, block.key.workload, block.key.clients, block.key.repetition, position)
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
        return {path: one for path, one in self.to_measure.items() if self._is_last(one)}

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

    def planned(self, block: Block) -> dict[str, Any]:
        """Return what the job that measures a block needs to know, see `measure.planned`."""
        key, study = block.key, self.plan.study
        method = self.method(key)
        return {
            "folder": block.folder,
            "workload": key.workload,
            "clients": key.clients,
            "repetition": key.repetition,
            "seed": seed_of(study, key),
            "method": method.name,
            "why": method.why,
            "turns": self.turns(block),
            "turn_s": self.turn_s(key),
            "levels": shared if len(shared := self.shared(block)) > 1 else [],
            "arms": [self.planned_arm(block, name) for name in block.arms],
        }

    def planned_arm(self, block: Block, name: str) -> dict[str, Any]:
        """Return an arm of a planned block."""
        variant, workload = self.plan.study.variants[name], block.key.workload
        build = variant["server"], variant["build"]
        return {
            "name": name,
            "digest": self.arm_digest(name, workload),
            "recipe": {"variant": self.plan.variant(name), "load": self.plan.load(name, workload)},
            "place": {**self.place(block, name), "judged": self.judged(*build)},
            "identity": f"{self.build(*build)}/identity.json",
            "dataset": f"{self.dataset(name, workload)}/dataset.json",
            "answers": self.answers(*build) if variant.get("relinked") else None,
        }

    def inputs(self, block: Block) -> list[str]:
        """Return the records of builds and datasets that a block needs."""
        variants = [self.plan.study.variants[name] for name in block.arms]
        builds = [f"{self.build(each['server'], each['build'])}/identity.json" for each in variants]
        datasets = [f"{self.dataset(name, block.key.workload)}/dataset.json" for name in block.arms]
        return list(dict.fromkeys([*builds, *datasets]))

    def place(self, block: Block, variant: str) -> dict[str, Any]:
        """Return what does not affect the result of an arm: its place in the study, its storage's folder."""
        study, path, key = self.plan.study, self.run(block, variant), block.key
        number = self.numbers.get(path, 0)
        storage, last = study.variants[variant].get("storage"), max if is_ladder(study) else min
        return {
            "study": study.name,
            "variant": variant,
            "workload": key.workload,
            "clients": key.clients,
            "repetition": key.repetition,
            "block": block.name,
            "position": block.arms.index(variant) + 1,
            "run_number": number,
            "runs_total": len(self.numbers),
            **({"sql": load["sql"]} if "sql" in (load := study.entries["workloads"][key.workload]) else {}),
            "storage": study.config["storage"][storage] if storage else None,
            # One run per variant and workload logs, after its window, the statements of an event: the last of a start.
            "log_statements": key.repetition == 1 and key.clients == last(study.config["clients"]),
        }


BuildPair = tuple[str, str]


def tolerated_folders(paths: Paths) -> list[str]:
    """Return the folders of builds, stages, profiles and checks that may fail.

    A build may fail when its entry has `may_fail`; a stage or a profile when all builds that use it may.
    """
    every = {*paths.builds.values(), *paths.stages.values()}
    needed = set(_needed_builds(paths))
    profiles = {paths.profile(*pair) for pair in needed}
    spared = sorted(every - needed)
    made = [folder for pair in spared for folder in (paths.build(*pair), paths.answers(*pair))]
    return made + [folder for folder in paths.profiles if folder not in profiles]


def _needed_builds(paths: Paths) -> Iterator[BuildPair]:
    """Yield server and name of every build and stage whose failure stops the study."""
    plan = paths.plan
    for server, build in paths.builds.values():
        if not plan.study.entries["builds"].get(build, {}).get("may_fail"):
            yield from ((server, name) for name in (build, *plan.stages.behind(build)))
