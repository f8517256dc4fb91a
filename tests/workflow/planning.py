"""What an edit of a finished study makes run again, worked out in process: the paths of its plan, its recipes and code.

Which cheap step follows which is stated here; test_what_reruns.py compares it with what Snakemake plans.
"""

import contextlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from scripts.build.compilation.stages import COMPILED
from scripts.study.config.loading import load
from scripts.study.plan.recipes import Plan
from scripts.study.plan.schedule import Schedule
from scripts.study.plan.study_description import describe
from scripts.workflow import code_digest
from tests.workflow.code_edits import OF_BUILDS, OF_REPORT
from tests.workflow.rerun_words import REPORT, Runs
from tests.workflow.stubbed import Stubbed

# Rule -> the rules that read its output, beside those that the paths of the plan show.
READERS = {
    "describe_study": list(REPORT),
    "collect_runs": ["compare_variants", "export_tables", "plot_figures", "render_report"],
    "compare_variants": ["export_tables", "plot_figures", "render_report"],
    **{rule: ["render_report"] for rule in ("export_tables", "plot_figures", "prove_builds", "audit_build")},
    **{rule: ["render_report"] for rule in ("answer_statements", "compare_answers")},
}


@dataclass(frozen=True)
class Planned:
    """Jobs by rule, each as the path of its output; a rule of the report has one job."""

    paths: dict[str, list[str]]

    @property
    def jobs(self) -> Counter[str]:
        """Count the jobs by rule."""
        return Counter({rule: len(made) for rule, made in self.paths.items() if made})

    def made(self, rule: str) -> list[str]:
        """Return the outputs of the planned jobs of a rule."""
        return self.paths.get(rule, [])


@dataclass(frozen=True)
class State:
    """What decides what a study makes; paths of outputs by rule, recipes of answers by path, digests by cheap rule."""

    paths: dict[str, list[str]]
    builds: set[str]
    answers: dict[str, dict[str, Any]]
    description: dict[str, Any]
    code: dict[str, str]
    runs: list[str]
    in_blocks: Runs


def state(study: Stubbed) -> State:
    """Read the study as it is now."""
    file = study.root / "config.yaml"
    plan = Plan(load(yaml.safe_load(file.read_text()), study.root, "config.yaml", [file]), study.root)
    with contextlib.chdir(study.root):
        paths = Schedule(plan)
        assert paths.blocks  # read from the disk once
    builds = {**paths.builds, **paths.stages}
    assert {plan.stages.of(build).kind for _, build in builds.values()} <= set(COMPILED)
    answers = {
        f"{paths.answers(*pair)}/answers.json.gz": plan.check(*pair).dump() for pair in paths.measured_builds.values()
    }
    found = {
        "fetch_source": sorted({paths.source(server) for server, _ in builds.values()}),
        "build_server": [f"{folder}/identity.json" for folder in builds],
        "train_server": [f"{folder}/profile.json" for folder in paths.profiles],
        "load_dataset": [f"{folder}/dataset.json" for folder in paths.datasets],
        "audit_build": paths.audits,
        "answer_statements": list(answers),
        "compare_answers": paths.checks,
        "measure_block": [block.record for block in paths.blocks],
    }
    code = _code(study.root / "scripts")
    described = describe(paths, [file], paths.blocks)
    return State(found, set(builds), answers, described, code, list(paths.runs), runs_of_blocks(paths))


def runs_of_blocks(paths: Schedule) -> Runs:
    """Return what is measured in each block, the reference left out where there is anything else."""
    return {
        block.record: {
            (name, block.key.workload, str(block.key.clients), str(block.key.repetition))
            for name in block.arms[2:] or block.arms
        }
        for block in paths.blocks
    }


def _code(folder: Path) -> dict[str, str]:
    """Return cheap rule -> digest of its code in another checkout."""
    of_builds = code_digest.digest_of(code_digest.OF_BUILDS, folder)
    of_report = code_digest.digest_of(code_digest.EVERYTHING, folder)
    return {**dict.fromkeys(OF_BUILDS, of_builds), **dict.fromkeys(OF_REPORT, of_report)}


def planned(before: State, study: Stubbed) -> Planned:
    """Return the jobs that make an edited study whole again; `before` is its state when it was finished."""
    after = state(study)
    recoded = {rule for rule in after.code if before.code[rule] != after.code[rule]}
    stale = {path for path, recipe in after.answers.items() if before.answers.get(path, recipe) != recipe}
    stale |= {path.replace("answers.json.gz", "check.json") for path in stale}
    paths = {
        rule: [path for path in made if rule in recoded or path in stale or not (study.root / path).exists()]
        for rule, made in after.paths.items()
    }
    rules = recoded | {rule for rule, made in paths.items() if made}
    described = [(each.description, each.runs) for each in (before, after)]
    rules |= {"describe_study"} if described[0] != described[1] else set()
    rules |= {"prove_builds"} if before.builds != after.builds else set()
    rules |= {reader for rule in rules for reader in READERS.get(rule, ())}
    return Planned({**{rule: [rule] for rule in rules - paths.keys()}, **paths})
