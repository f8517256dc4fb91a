"""What a run costs besides its load, on a data directory of about 500 MB, by phase.

The reference command, timed in the same breath, is a plain copy and removal of the same data directory.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

from scripts import record
from scripts.paths import Paths
from scripts.plan import LOADER, Plan
from scripts.study import load

ROOT = Path(__file__).resolve().parents[2]
LOAD_PHASES = {"warmup", "measure", "drain", "drain_clone", "wait_lock"}


def entry_script(name: str, *arguments: object) -> None:
    """Run an entry script as the workflow does, from the checkout."""
    subprocess.run([sys.executable, "-m", f"scripts.{name}", *map(str, arguments)], cwd=ROOT, check=True)


def copy_s(snapshot: Path, folder: Path) -> float:
    """Return the seconds of the reference: copy the data directory and remove the copy."""
    begin_s = time.monotonic()
    subprocess.run(["cp", "--archive", snapshot / "data", folder / "copy"], check=True)
    shutil.rmtree(folder / "copy")
    return time.monotonic() - begin_s


def main(config: Path, rows: int, runs: int) -> None:
    """Load, measure `runs` times, print a table of phases in seconds (median) and the ratio to the reference."""
    settings = yaml.safe_load(config.read_text(encoding="utf-8"))
    settings |= {
        "datasets": {"sbtest": {"tables": 4, "rows": rows}},
        "repetitions": runs,
        "warmup_s": 1,
        "measure_s": 3,
    }
    plan = Plan(load(settings, ROOT, str(config)), ROOT)
    paths = Paths(plan)
    folder_name, (server, dataset, options) = next(iter(paths.datasets.items()))
    identity = ROOT / paths.build(server, LOADER) / "identity.json"
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        kept = folder / Path(folder_name).name
        (folder / "loader.txt").write_text(str(identity))
        common = ["--log", folder / "log.txt"]
        recipe = record.canonical(plan.dataset(server, dataset, options))
        places = ["--snapshot", kept / "snapshot", "--dataset", kept / "dataset.json"]
        entry_script(
            "load_dataset", "--recipe", recipe, *places, "--threads", 2, "--loader", folder / "loader.txt", *common
        )
        measured, copies = [], []
        chosen = [(path, run) for path, run in paths.runs.items() if run.variant == settings["reference"]]
        for path, run in chosen[:runs]:
            recipe = {"variant": plan.variant(run.variant), "load": plan.load(run.variant, run.workload)}
            texts = ["--recipe", record.canonical(recipe), "--place", record.canonical(paths.place(path))]
            files = [
                "--dataset",
                kept / "dataset.json",
                "--run",
                folder / "run.json",
                "--text",
                folder / "run.txt",
                "--identity",
                identity,
            ]
            entry_script("measure_run", *texts, *files, *common)
            measured.append(record.read(folder / "run.json")["phases_s"])
            copies.append(copy_s(kept / "snapshot", folder))
        size_mib = record.read(kept / "dataset.json")["bytes"] / 2**20
    show(measured, statistics.median(copies), size_mib)


def show(measured: list[dict[str, float]], reference_s: float, size_mib: float) -> None:
    """Print the medians of the phases, and their sum without load and drains beside the reference."""
    rest_s = [sum(seconds for phase, seconds in run.items() if phase not in LOAD_PHASES) for run in measured]
    print(f"{size_mib:.0f} MiB, {len(measured)} runs, medians in seconds")
    for phase in measured[0]:
        print(f"  {phase:12} {statistics.median(run[phase] for run in measured):7.3f}")
    print(f"  besides load and drains {statistics.median(rest_s):.2f} (limit 5), largest {max(rest_s):.2f}")
    ratio = statistics.median(rest_s) / reference_s
    print(f"  ratio to copying and removing the same directory ({reference_s:.2f} s): {ratio:.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=Path, default=ROOT / "config.yaml")
    parser.add_argument("--rows", type=int, default=240_000)
    parser.add_argument("--runs", type=int, default=3)
    main(**vars(parser.parse_args()))
