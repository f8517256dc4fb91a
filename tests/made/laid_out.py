"""A study's results laid out in the working directory with figures to compare, whole or up to some run."""

import random
from pathlib import Path
from typing import Any

from scripts.lib import json_record
from scripts.study.plan.block_layout import Block
from scripts.study.plan.order import PlannedRun
from scripts.study.plan.schedule import Schedule
from tests.made.run import PHASES_S, Asked, one_run

EFFECT = {"baseline": 0.0, "pgo": 1.0, "aa": 0.0}
START = 1_760_000_000.0


def make(paths: Schedule, runs: int | None = None) -> None:
    """Make everything the runs need, then the first `runs` of them, all without a number."""
    prepare(paths)
    for path in list(paths.runs)[:runs]:
        measure(paths, path)
    for block in paths.blocks:
        if all(Path(paths.run(block, name)).exists() for name in block.arms):
            keep(paths, block)


def keep(paths: Schedule, block: Block) -> None:
    """Write the record of a block whose arms were measured."""
    arms = {name: {"digest": paths.arm_digest(name, block.key.workload), "outcome": "ok"} for name in block.arms}
    json_record.write(Path(block.record), {"method": "slices", "arms": arms})


def prepare(paths: Schedule) -> None:
    """Make sources, builds, checks, audits, profiles and datasets."""
    builds = {**paths.builds, **paths.stages}
    for server in {server for server, _ in builds.values()}:
        json_record.write(Path(paths.source(server)), {"server": server})
    for folder, pair in builds.items():
        build(folder, *pair)
    for judgement in [*paths.audits, *paths.checks]:
        json_record.write(Path(judgement), {})
    for folder in paths.profiles:
        json_record.write(Path(folder) / "profile.json", {"wall_s": 60.0})
    for folder, (server, *_) in paths.datasets.items():
        json_record.write(Path(folder) / "dataset.json", {"load_s": 10.0})
        (Path(folder).parent / "loader.txt").write_text(f"a build of {server}\n")


def build(folder: str, server: str, name: str, **more: Any) -> None:
    """Make one build that took ten minutes."""
    (Path(folder) / "install" / "bin").mkdir(parents=True, exist_ok=True)
    (Path(folder) / "install" / "bin" / "server").write_bytes(b"x" * 100_000)
    names = {"server": server, "build": name}
    json_record.write(Path(folder) / "facts.json", {**names, "wall_s": 600.0})
    json_record.write(Path(folder) / "identity.json", {**names, "sha256": json_record.digest(folder) * 5, **more})


def measure(paths: Schedule, path: str, **changes: Any) -> None:
    """Make one run: pgo has the gain of the made-up runs without noise, and every run meets the same machine."""
    run, number = paths.runs[path], paths.numbers[path]
    now = START + number * sum(PHASES_S.values())
    facts = one_run(_asked(paths, run, now), random.Random(path))
    facts |= {"run_number": number, "runs_total": len(paths.runs), "position": run.position, "warnings": []}
    json_record.write(Path(path), {**facts, **changes})
    Path(path).with_suffix(".txt").write_text("what sysbench printed\n")


def _asked(paths: Schedule, run: PlannedRun, now: float) -> Asked:
    names = (paths.plan.study.name, run.variant, run.workload, run.clients, run.repetition)
    return Asked(*names, effect=EFFECT.get(run.variant, 0.0), level=0.0, noise=0.0, now=now)
