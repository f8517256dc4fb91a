"""How long `snakemake -n` takes for a study, beside the start of Snakemake alone, in the same breath.

The dry run is made in an empty directory, so every job is planned; the limit for the default study is 4 s.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 4


def seconds(command: list[str | Path], folder: str) -> float:
    """Return how long a command takes; raises CalledProcessError when it fails."""
    begin_s = time.monotonic()
    subprocess.run([str(part) for part in command], cwd=folder, check=True, capture_output=True)
    return time.monotonic() - begin_s


def main(config: Path, times: int) -> None:
    """Print medians of both commands, measured by turns, and their ratio."""
    planning = [sys.executable, "-m", "snakemake", "-n", "-s", ROOT / "Snakefile", "--configfile", config]
    starting = [sys.executable, "-c", "import snakemake.cli"]
    with tempfile.TemporaryDirectory() as folder:
        pairs = [(seconds(planning, folder), seconds(starting, folder)) for _ in range(times)]
    planning_s, starting_s = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(
        f"dry run of {config.name}: {planning_s:.2f} s, the slowest of {times} {max(pairs)[0]:.2f} s (limit {LIMIT_S})"
    )
    print(f"import snakemake.cli: {starting_s:.2f} s; ratio {planning_s / starting_s:.1f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=Path, default=ROOT / "config.yaml", help="a study's config file")
    parser.add_argument("--times", type=int, default=5)
    main(**vars(parser.parse_args()))
