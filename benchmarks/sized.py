"""Studies of a stated number of runs, new or finished; nothing is built or measured for them.

A finished one is made by Snakemake's own bookkeeping: it plans the study, every output it names is written, and the
record it keeps of a finished job is written by the very function that does so after a real job. A real run would take
half a second for each job; `--touch` writes no such record, so that params and code would not be compared.
"""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import yaml
from snakemake.api import SnakemakeApi
from snakemake.io import _IOFile
from snakemake.jobs import Job
from snakemake.settings.enums import Quietness
from snakemake.settings.types import ConfigSettings, DAGSettings, ExecutionSettings, OutputSettings, ResourceSettings
from snakemake.workflow import Workflow

from benchmarks.table import ROOT
from benchmarks.timed import spent
from scripts.lib import json_record
from scripts.measure.engine import planned
from scripts.study.plan import decisions
from tests.made.run import Asked, one_run

# runs -> arms besides the reference's second one, client counts, repetitions; four workloads in each
SHAPES = {100: (4, [8], 5), 1000: (9, [1, 4, 8, 16, 32], 5), 10000: (9, [1, 4, 8, 16, 32], 50)}
SERVER = "postgresql-15"
WORKLOADS = ("simple_select", "index_update", "non_index_update", "oltp")
NAME = "sized"


def study(runs: int) -> dict[str, Any]:
    """Return a study of so many runs: two builds, and pgo again with other options."""
    arms, clients, repetitions = SHAPES[runs]
    plain = {"baseline": {"server": SERVER, "build": "baseline"}, "pgo": {"server": SERVER, "build": "pgo"}}
    memory = [{"server": SERVER, "build": "pgo", "options": {"work_mem": f"{size}MB"}} for size in range(2, arms)]
    return {
        "study": NAME,
        "title": f"{runs} runs",
        "question": "How long does planning take?",
        "variants": {**plain, **{f"pgo_{arm['options']['work_mem'].lower()}": arm for arm in memory}},
        "reference": "baseline",
        "workloads": dict.fromkeys(WORKLOADS),
        "clients": clients,
        "repetitions": repetitions,
        "warmup_s": 5,
        "measure_s": 60,
        "placement": "automatic",
        "seed": 1,
        "campaign": 1,
        "relinked": False,
    }


def write(folder: Path, runs: int) -> Path:
    """Write the config file of a study of so many runs, and return it."""
    file = folder / "sized.yaml"
    file.write_text(yaml.safe_dump(study(runs), sort_keys=False))
    return file


def target() -> str:
    """Return what is asked of Snakemake: the study's report."""
    return f"results/studies/{NAME}/report.html"


def dry_run(config: Path) -> list[str]:
    """Return the command that plans the study of `config`."""
    named = ["--snakefile", str(ROOT / "Snakefile"), "--configfile", str(config)]
    return [sys.executable, "-m", "snakemake", "-n", target(), *named]


def finish(folder: Path, config: Path) -> None:
    """Make the study of `config` look finished in `folder`. Raises ValueError when Snakemake does not see it so."""
    spent([sys.executable, "-c", f"from benchmarks import sized; sized.make({str(folder)!r}, {str(config)!r})"], ROOT)
    said = subprocess.run(dry_run(config), cwd=folder, capture_output=True, text=True, check=False)
    if "Nothing to be done" not in said.stdout + said.stderr:
        raise ValueError(f"{folder}: not finished in Snakemake's eyes: {(said.stdout + said.stderr)[-4000:]}")


def make(folder: str, config: str) -> None:
    """Write all outputs of a study, and Snakemake's record of every job, into `folder`."""
    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
        files, snakefile = ConfigSettings(configfiles=[Path(config)]), ROOT / "Snakefile"
        opened = api.workflow(ResourceSettings(cores=1), files, snakefile=snakefile, workdir=Path(folder))
        opened.dag(DAGSettings(targets={target()}))
        workflow = opened._workflow
        workflow.execution_settings = ExecutionSettings()
        workflow._prepare_dag(forceall=False, ignore_incomplete=True, lock_warn_only=False)
        workflow._build_dag()
        # Snakemake calls onstart, which writes the plan, only when it runs jobs.
        decisions.write(workflow.globals["PATHS"])
        workflow.iocache.deactivate()
        _finish_jobs(workflow)


def _finish_jobs(workflow: Workflow) -> None:
    jobs = [job for job in workflow.dag.jobs if job.output]
    chance = random.Random(1)
    for job in jobs:
        for file in job.output:
            _fill(job, file, chance)
    # One moment for all of them: nothing is newer than what was made of it.
    now = time.time()
    for job in jobs:
        for file in job.output:
            os.utime(Path(file) / ".snakemake_timestamp" if file.is_directory else file, (now, now))

    async def note() -> None:
        for job in jobs:
            await workflow.persistence.finished(job)

    workflow.async_run(note())


def _fill(job: Job, file: _IOFile, chance: random.Random) -> None:
    """Write an output: a run's record is as long as a real one's, other records hold what they were made from."""
    file.touch_or_create()
    if job.rule.name == "measure_block":
        _fill_block(Path(file), chance)
    elif file.endswith(".json") and not file.is_directory:
        made = json.loads(job.params.get("recipe", "{}"))
        _write(file, {**made, "recipe": made})


def _fill_block(file: Path, chance: random.Random) -> None:
    """Write the records of a block's arms, each as long as a real one's, and its own."""
    (described,) = planned.read(Path("results", "studies", NAME, "plan.json"), file.parent)
    for arm in described.arms:
        key = (described.workload, described.clients, described.repetition)
        _write(file.with_name(f"{arm.name}.json"), one_run(Asked(NAME, arm.name, *key, 0, 0, 0.02, 1e9), chance))
        file.with_name(f"{arm.name}.txt").touch()
    _write(file, {"arms": {arm.name: {"digest": arm.digest, "outcome": "ok"} for arm in described.arms}})


def _write(file: str | Path, facts: dict[str, Any]) -> None:
    # Unlike record.write, without waiting for the disk ten thousand times.
    Path(file).write_text(json.dumps({"format": json_record.FORMAT, **facts}, indent=1), encoding="utf-8")
