"""Where the things of a plan are, under results/."""

from functools import cache, cached_property
from typing import Any

from scripts.order import Run
from scripts.plan import LOADER, Plan
from scripts.record import digest

# What a run takes besides its load, for estimates only.
OVERHEAD_S = 5


class Paths:
    """Paths of a plan, relative to the working directory; each name with its digest is worked out once."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.study = f"results/studies/{plan.study.name}"
        self.build = cache(self._build)
        self.dataset = cache(self._dataset)
        self.variant_part = cache(lambda name: f"{name}-{digest(plan.variant(name))}")
        self.load_part = cache(lambda variant, workload: f"{workload}-{digest(plan.load(variant, workload))}")

    def source(self, server: str) -> str:
        """Return the record of a server's sources."""
        return f"results/sources/{server}/source.json"

    def _build(self, server: str, build: str) -> str:
        return f"results/builds/{server}/{build}-{digest(self.plan.build(server, build))}"

    def profile(self, server: str, build: str) -> str | None:
        """Return the folder of the profile that a build uses, None for a build without one."""
        if "profile" not in (recipe := self.plan.build(server, build)):
            return None
        return f"results/profiles/{server}/{recipe['profile']['training']}-{recipe['profile']['digest']}"

    def _dataset(self, variant: str, workload: str) -> str:
        server = self.plan.study.variants[variant]["server"]
        name = self.plan.study.entries["workloads"][workload]["dataset"]
        return f"results/datasets/{server}/{name}-{self.plan.dataset_digest(server, name, self.plan.options(variant))}"

    def run(self, run: Run) -> str:
        """Return the record of a run."""
        load = self.load_part(run.variant, run.workload)
        return f"{self.study}/runs/{self.variant_part(run.variant)}/{load}/{run.clients}/{run.repetition}.json"

    @cached_property
    def builds(self) -> dict[str, tuple[str, str]]:
        """Return folder -> (server, build) of what variants and the datasets' loader need, instrumented ones apart."""
        pairs = {
            (variant["server"], build)
            for variant in self.plan.study.variants.values()
            for build in (variant["build"], LOADER)
        }
        return {self.build(*pair): pair for pair in sorted(pairs)}

    @cached_property
    def profiles(self) -> dict[str, tuple[str, str]]:
        """Return folder -> (server, build that uses it) of the study's profiles."""
        found = {self.profile(*pair): pair for pair in self.builds.values()}
        return {folder: pair for folder, pair in found.items() if folder}

    @cached_property
    def datasets(self) -> dict[str, tuple[str, str, dict]]:
        """Return folder -> recipe parts (server, dataset, options) of all datasets, those of the trainings included."""
        plan, found = self.plan, {}
        for variant in plan.study.variants:
            for workload in plan.study.workloads:
                name = plan.study.entries["workloads"][workload]["dataset"]
                found[self.dataset(variant, workload)] = (
                    plan.study.variants[variant]["server"],
                    name,
                    plan.options(variant),
                )
        for server, build in self.profiles.values():
            for folder in self.training_datasets(server, build):
                found.setdefault(folder, (server, folder.rsplit("/", 1)[1].rsplit("-", 1)[0], {}))
        return found

    def training_datasets(self, server: str, build: str) -> list[str]:
        """Return the folders of the datasets that the training of a build's profile runs on."""
        entries = self.plan.study.entries
        names = {
            entries["workloads"][name]["dataset"]
            for name in entries["trainings"][entries["builds"][build]["profile"]]["workloads"]
        }
        return [
            f"results/datasets/{server}/{name}-{self.plan.dataset_digest(server, name, {})}" for name in sorted(names)
        ]

    @cached_property
    def instrumented_builds(self) -> dict[str, tuple[str, str]]:
        """Return folder -> (server, instrumented build) of the stages that trainings need."""
        pairs = {(server, self.plan.instrumented(build)) for server, build in self.profiles.values()}
        return {self.build(*pair): pair for pair in sorted(pairs)}

    @cached_property
    def runs(self) -> dict[str, Run]:
        """Return path -> run, in the order of measuring."""
        return {self.run(run): run for run in self.plan.runs}

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Return path -> number of the run in the order of measuring, from 1."""
        return {path: number for number, path in enumerate(self.runs, start=1)}

    def place(self, path: str) -> dict[str, Any]:
        """Return what a run should know that decides nothing about it: its place in the study, its storage's folder."""
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
            "left_s": left * (study.config["warmup_s"] + study.config["measure_s"] + OVERHEAD_S),
            "storage": study.config["storage"][storage] if storage else None,
        }

    def priority(self, variant: str, workload: str, clients: int, repetition: int) -> int:
        """Return a run's priority: the earlier in the order of measuring, the higher."""
        return len(self.runs) - self.numbers[self.run(Run(variant, workload, clients, repetition, 0))]
