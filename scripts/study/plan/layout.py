"""Paths of everything a plan makes, under results/: they follow from recipes alone, whatever lies on disk."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property

from scripts.lib.json_record import digest
from scripts.study.plan.order import BlockKey
from scripts.study.plan.recipes import DatasetParts, Plan

BuildPair = tuple[str, str]


class PathLayout:
    """Paths of a plan, relative to the working directory; each digest is computed once."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.study = f"results/studies/{plan.study.name}"
        # Every block asks for each of these.
        self.build: Callable[[str, str], str] = cache(self._build)
        # The folder of the dataset of a variant under a workload.
        self.dataset: Callable[[str, str], str] = cache(lambda *cell: self._dataset_of(plan.dataset_parts(*cell)))
        # The parts of a diagnosis's path that identify the variant, and the load of a variant under a workload.
        self.variant_part: Callable[[str], str] = cache(lambda name: f"{name}-{plan.variant(name).digest}")
        self.load_part: Callable[[str, str], str] = cache(lambda name, work: f"{work}-{plan.load(name, work).digest}")
        # The digest of an arm: of its variant and of its load.
        self.arm_digest: Callable[[str, str], str] = cache(lambda *cell: plan.run(*cell).digest)
        self.judged: Callable[[str, str], list[str]] = cache(self._judged)

    def source(self, server: str) -> str:
        """Return the record of a server's sources."""
        return f"results/sources/{server}-{self.plan.source(server).digest}/source.json"

    def _build(self, server: str, build: str) -> str:
        """Return the folder of a build or of a stage behind one."""
        return f"results/builds/{server}/{build}-{self.plan.build(server, build).digest}"

    def profile(self, server: str, build: str) -> str | None:
        """Return the folder of the profile that a build or stage uses, None without one."""
        used = self.plan.build(server, build).profile
        return f"results/profiles/{server}/{used.training}-{used.digest}" if used else None

    def _dataset_of(self, parts: DatasetParts) -> str:
        return f"results/datasets/{parts.server}/{parts.dataset}-{self.plan.dataset(*parts).digest}"

    def block_folder(self, key: BlockKey, arms: Sequence[str]) -> str:
        """Return the folder of a block, which ends in the digest of its arms."""
        of_arms = digest(sorted([name, self.arm_digest(name, key.workload)] for name in arms))
        return f"{self.study}/blocks/{key.path}/{of_arms}"

    @cached_property
    def builds(self) -> dict[str, BuildPair]:
        """Return folder -> (server, build) of the builds of variants and of the datasets' loader, without stages."""
        arms = self.plan.study.arms.values()
        pairs = {pair for arm in arms for pair in (arm.built, (arm.server, self.plan.loader(arm.server)))}
        return {self.build(*pair): pair for pair in sorted(pairs)}

    @cached_property
    def stages(self) -> dict[str, BuildPair]:
        """Return folder -> (server, stage) of the stages behind the study's builds."""
        pairs = {(server, stage) for server, build in self.builds.values() for stage in self.plan.stages.behind(build)}
        return {self.build(*pair): pair for pair in sorted(pairs)}

    @cached_property
    def profiles(self) -> dict[str, tuple[str, str, str]]:
        """Return folder -> (server, training, trained stage) of the study's profiles."""
        pairs = [*self.builds.values(), *self.stages.values()]
        used = [(self.profile(*pair), pair[0], self.plan.stages.profile(pair[1])) for pair in pairs]
        return {folder: (server, of.training, of.stage) for folder, server, of in used if folder and of}

    @cached_property
    def audits(self) -> list[str]:
        """Return the audits of all builds and stages that a compiler optimised with a profile."""
        pairs = [*self.builds.items(), *self.stages.items()]
        trained = [(folder, build) for folder, (server, build) in pairs if self.profile(server, build)]
        return [f"{folder}/audit.json" for folder, build in trained if self.plan.stages.of(build).kind.is_compiled]

    @cached_property
    def measured_builds(self) -> dict[str, BuildPair]:
        """Return folder -> (server, build) of the builds of variants."""
        return {self.build(*arm.built): arm.built for arm in self.plan.study.arms.values()}

    @cached_property
    def checks(self) -> list[str]:
        """Return the differential checks of the measured builds."""
        return [f"{self.answers(*pair)}/check.json" for pair in self.measured_builds.values() if self.is_ours(*pair)]

    def is_ours(self, server: str, build: str) -> bool:
        """Return whether the program of a build is at hand, so that it can be started, checked and compared."""
        return not self.plan.is_running(server)

    def _judged(self, server: str, build: str) -> list[str]:
        """Return the audits and the check of a build, all of which must pass before it is measured."""
        if not self.is_ours(server, build):
            return []
        audits = [f"{self.build(server, name)}/audit.json" for name in (build, *self.plan.stages.behind(build))]
        return [audit for audit in audits if audit in self.audits] + [f"{self.answers(server, build)}/check.json"]

    def answers(self, server: str, build: str) -> str:
        """Return the folder of a build's answers to the statements of the differential check."""
        return self.build(server, build).replace("results/builds/", "results/checks/", 1)

    @cached_property
    def datasets(self) -> dict[str, DatasetParts]:
        """Return folder -> recipe parts (server, dataset, options, data) of all datasets, the trainings' included."""
        study = self.plan.study
        of_variants = {
            self.dataset(variant, workload): self.plan.dataset_parts(variant, workload)
            for variant in study.arms
            for workload in study.workloads
        }
        trained = [self.training_datasets(server, training) for server, training, _ in self.profiles.values()]
        of_trainings = {folder: parts for datasets in trained for folder, parts in datasets.items()}
        return {**of_variants, **{folder: of_trainings[folder] for folder in of_trainings if folder not in of_variants}}

    def training_datasets(self, server: str, training: str) -> dict[str, DatasetParts]:
        """Return folder -> recipe parts of the datasets that a training runs on."""
        declared = self.plan.study.declared
        names = {declared.workloads[name].dataset for name in declared.trainings[training].workloads}
        trained_on = [self.plan.training_data(server, training, name) for name in sorted(names)]
        return {self._dataset_of(parts): parts for parts in trained_on}

    @cached_property
    def tolerated(self) -> list[str]:
        """Return the folders of builds, stages, profiles and checks that may fail.

        A build may fail when its entry has `may_fail`; a stage or a profile when all builds that use it may.
        """
        pairs, needed = {*self.builds.values(), *self.stages.values()}, set(self._needed())
        profiles = {self.profile(*pair) for pair in needed}
        folders = [folder for pair in sorted(pairs - needed) for folder in (self.build(*pair), self.answers(*pair))]
        return folders + [folder for folder in self.profiles if folder not in profiles]

    def _needed(self) -> Iterator[BuildPair]:
        """Yield server and name of every build and stage whose failure stops the study."""
        for server, build in self.builds.values():
            if not self.plan.may_fail(build):
                yield from ((server, name) for name in (build, *self.plan.stages.behind(build)))
