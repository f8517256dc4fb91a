"""What a run costs besides its load, on a data directory of about 500 MB, by phase.

The reference, taken after every run, is a plain copy and removal of the same data directory. Needs the baseline build
of the first server of a study; it is measured with one workload of that study.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import yaml

from benchmarks.table import ROOT, Row, run
from scripts.build.compilation.stages import LOADER
from scripts.lib import json_record
from scripts.lib.vocabulary import BLOCK_FILE, TURNS
from scripts.measure.engine import planned
from scripts.study.config.loading import load
from scripts.study.plan.block_layout import Block
from scripts.study.plan.recipes import Plan
from scripts.study.plan.schedule import Schedule

BENCH = "run_overhead"
CONFIG = ROOT / "config.yaml"
LOAD_PHASES = {"warmup", "measure", "drain", "drain_clone", "wait_lock"}
LIMIT_S = 5
ROWS = 240_000
SHORT = {"datasets": {"sbtest": {"tables": 4, "rows": ROWS}}, "warmup_s": 1, "measure_s": 3}


@dataclass(frozen=True)
class Bench:
    """A plan whose runs are measured, the server they run on, and the folder that everything is kept in."""

    paths: Schedule
    identity: Path
    folder: Path

    @property
    def dataset(self) -> Path:
        """Return the record of the dataset."""
        return self.folder / Path(next(iter(self.paths.datasets))).name / "dataset.json"

    def script(self, name: str, **arguments: object) -> None:
        """Run an entry script as the workflow does, from the checkout."""
        options = [text for key, value in arguments.items() for text in (f"--{key}", str(value))]
        command = [sys.executable, "-m", f"scripts.jobs.{name}", *options, "--log", str(self.folder / "log.txt")]
        subprocess.run(command, cwd=ROOT, check=True)

    def load_dataset(self) -> None:
        """Load the tables."""
        loader = self.folder / "loader.txt"
        loader.write_text(str(self.identity))
        parts = next(iter(self.paths.datasets.values()))
        recipe = json_record.canonical(self.paths.plan.dataset(*parts).dump())
        snapshot = self.dataset.parent / "snapshot"
        self.script("load_dataset", recipe=recipe, loader=loader, snapshot=snapshot, dataset=self.dataset, threads=2)

    def phases_s(self, block: Block) -> dict[str, float]:
        """Measure the reference of a block alone and return the seconds of its phases.

        Raises ValueError when the run failed.
        """
        described, home = self.paths.planned(block), self.folder / "block"
        (arm,) = [arm for arm in described.arms if arm.name == block.arms[0]]
        context = replace(arm.context, judged=[])
        alone = replace(arm, context=context, identity=str(self.identity), dataset=str(self.dataset))
        described = replace(described, folder=str(home), method=TURNS, turns=[arm.name], arms=[alone])
        planned.write(self.folder / "plan.json", [], [described.facts()], None)
        self.script("measure_block", plan=self.folder / "plan.json", block=home / BLOCK_FILE)
        facts = json_record.read(home / f"{arm.name}.json")
        if facts["outcome"] != "ok":
            raise ValueError(f"{block.name}: the run failed: {facts['reason']}")
        return facts["phases_s"]

    def copy_s(self) -> float:
        """Return the seconds of the reference: copy the data directory and remove the copy."""
        begin_s = time.monotonic()
        subprocess.run(["cp", "--archive", self.dataset.parent / "snapshot/data", self.folder / "copy"], check=True)
        shutil.rmtree(self.folder / "copy")
        return time.monotonic() - begin_s


def measured(config: Path, times: int = 3) -> list[Row]:
    """Return the rows of a study's server. Raises ValueError when it has not been built."""
    settings = {**yaml.safe_load(config.read_text(encoding="utf-8")), **SHORT, "repetitions": times}
    paths = Schedule(Plan(load(settings, ROOT, str(config)), ROOT))
    server = settings["variants"][settings["reference"]]["server"]
    identity = ROOT / paths.build(server, LOADER) / "identity.json"
    if not identity.exists():
        raise ValueError(f"{identity}: not there; `make report` of {config.name} builds it")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        Path(name).chmod(0o755)
        bench = Bench(paths, identity, Path(name))
        bench.load_dataset()
        pairs = [(bench.phases_s(block), bench.copy_s()) for block in list(paths.to_measure.values())[:times]]
    return rows(f"{server}, 4 x {ROWS} rows", [phases for phases, _ in pairs], [copy_s for _, copy_s in pairs])


def rows(what: str, runs: list[dict[str, float]], copies_s: list[float]) -> list[Row]:
    """Return medians: all besides load and drains, which has the limit, and each phase of it."""
    reference_s = statistics.median(copies_s)
    ours = [{phase: seconds for phase, seconds in run.items() if phase not in LOAD_PHASES} for run in runs]
    total_s = statistics.median(sum(run.values()) for run in ours)
    phases = {phase: statistics.median(run[phase] for run in ours) for phase in ours[0]}
    total = Row(BENCH, what, total_s, "s", reference_s, LIMIT_S)
    parts = [Row(BENCH, f"of it {phase}", seconds, "s (part)", reference_s) for phase, seconds in phases.items()]
    return [total, *parts]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=Path, default=CONFIG, help="a study whose baseline is built")
    sys.exit(run([partial(measured, **vars(parser.parse_args()))]))
