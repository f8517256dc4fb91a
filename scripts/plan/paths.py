"""Paths of everything a plan makes, under results/."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from scripts.builds.stages import COMPILED
from scripts.config.run_time import stated_s
from scripts.plan.order import Run
from scripts.plan.recipes import Plan, once
from scripts.record import digest


class Paths:
    """Paths of a plan, relative to the working directory; each digest is computed once."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
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

    def run(self, run: Run) -> str:
        """Return the record of a run."""
        load = self.load_part(run.variant, run.workload)
        return f"{self.study}/runs/{self.variant_part(run.variant)}/{load}/{run.clients}/{run.repetition}.json"

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
        return [f"{self.answers(*pair)}/check.json" for pair in self.measured_builds.values()]

    @once
    def judged(self, server: str, build: str) -> list[str]:
        """Return the audits and the check of a build, all of which must pass before it is measured."""
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
            for folder in self.training_datasets(server, training):
                found.setdefault(folder, (server, folder.rsplit("/", 1)[1].rsplit("-", 1)[0], {}, {}))
        return found

    def training_datasets(self, server: str, training: str) -> list[str]:
        """Return the folders of the datasets that a training runs on."""
        entries = self.plan.study.entries
        names = {entries["workloads"][name]["dataset"] for name in entries["trainings"][training]["workloads"]}
        return [
            f"results/datasets/{server}/{name}-{self.plan.dataset_digest(server, name, {})}" for name in sorted(names)
        ]

    @cached_property
    def runs(self) -> dict[str, Run]:
        """Return path -> run, in the order of measuring."""
        return {self.run(run): run for run in self.plan.runs}

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Return path -> number of the run in the order of measuring, from 1."""
        return {path: number for number, path in enumerate(self.runs, start=1)}

    def place(self, path: str) -> dict[str, Any]:
        """Return the context of a run that does not affect its result: its place in the study, its storage's folder."""
        run, study = self.runs[path], self.plan.study
        left = len(self.runs) - self.numbers[path]
        storage = study.variants[run.variant].get("storage")
        return {
            "study": study.name,
            "variant": run.variant,
            "workload": run.workload,
            "clients": run.clients,
            "repetition": run.repetition,
            "block": f"{run.workload}/{run.clients}/{run.repetition}",
            "position": run.position,
            "run_number": self.numbers[path],
            "runs_total": len(self.runs),
            "left_s": left * stated_s(study),
            **({"sql": load["sql"]} if "sql" in (load := study.entries["workloads"][run.workload]) else {}),
            "storage": study.config["storage"][storage] if storage else None,
            # One run per variant and workload logs, after its window, the statements of an event.
            "log_statements": run.repetition == 1 and run.clients == min(study.config["clients"]),
        }

    def priority(self, variant: str, workload: str, clients: int, repetition: int) -> int:
        """Return a run's priority: the earlier in the order of measuring, the higher."""
        return len(self.runs) - self.numbers[self.run(Run(variant, workload, clients, repetition, 0))]


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
