"""Whether the answer of the quick study depends on the length of its slices, or on another program on the machine.

Measures the study four times with the same builds: in slices of 0.1, 0.2 and 0.4 s, and once more while a program loads
all CPUs half of the time, at random. Writes robustness.csv: one row per variant, place and metric; rows of other days
and CPUs stay. Exits with status 1 when a ratio moves with the length of the slices by more than its intervals allow, or
when the disturbed intervals are more than twice as wide, or do not hold the quiet ratio.
"""

import argparse
import contextlib
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from benchmarks.side_by_side import measured_on, summary, with_earlier
from benchmarks.table import ROOT

OUT = Path(__file__).with_suffix(".csv")
LENGTHS_S, SHORTEST_S = (0.1, 0.2, 0.4), 0.1
DISTURBED = "disturbed"
LONGEST_SPELL_S = 2.0
WHOLE = "all workloads"
# Server CPU tells whether the work of a transaction changed, or only the time that the server got.
METRICS = ("tps", "cpu_us_per_tx", "cpu_user_us_per_tx", "cpu_system_us_per_tx")


@contextlib.contextmanager
def disturber() -> Iterator[None]:
    """Load all CPUs half of the time: spells of work and of rest up to 2 s long, each CPU by itself."""
    command = [sys.executable, "-c", "from benchmarks.robustness import disturb; disturb()"]
    programs = [subprocess.Popen(command, cwd=ROOT) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def disturb() -> None:
    """Work and rest in turns, for ever."""
    while True:
        until_s = time.monotonic() + random.uniform(0, LONGEST_SPELL_S)
        while time.monotonic() < until_s:
            pass
        time.sleep(random.uniform(0, LONGEST_SPELL_S))


def measure(folder: Path, name: str, changes: dict) -> Path:
    """Run the quick study with changes in `folder`; returns the folder of its results."""
    config = {**yaml.safe_load((ROOT / "studies" / "quick.yaml").read_text()), **changes, "study": f"quick-{name}"}
    (file := folder / f"{config['study']}.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    command = [sys.executable, "-m", "snakemake", "--snakefile", ROOT / "Snakefile", "--directory", folder]
    subprocess.run([*command, "--cores", "all", "--configfile", file], check=True)
    return folder / "results" / "studies" / config["study"]


def ratios(name: str, results: Path) -> pd.DataFrame:
    """Return ratios and values of a finished study: one row per variant and metric in each workload and over all."""
    cells = pd.read_csv(results / "tables" / "cells.csv")
    overall = pd.read_csv(results / "tables" / "overall.csv").assign(workload=WHOLE)
    rows = pd.concat([cells, overall]).query("metric in @METRICS")
    columns = ["variant", "workload", "metric", "value", "ratio", "ratio_low", "ratio_high"]
    return rows[columns].assign(condition=name)


def verdicts(table: pd.DataFrame) -> Iterator[tuple[str, bool]]:
    """Yield what must hold of the TPS of each variant over all workloads, and whether it does."""
    rows = table.query("workload == @WHOLE and metric == 'tps'").set_index(["condition", "variant"])
    width = np.log(rows["ratio_high"] / rows["ratio_low"])
    for variant in rows.index.unique("variant"):
        quiet = rows.loc[(str(SHORTEST_S), variant)]
        for length in map(str, LENGTHS_S[1:]):
            moved = abs(np.log(rows.loc[(length, variant), "ratio"] / quiet["ratio"]))
            allowed = np.hypot(width[str(SHORTEST_S), variant], width[length, variant]) / 2
            text = f"{variant}: slices of {length} s in place of {SHORTEST_S} s move it by {moved:.2%}"
            yield f"{text}, {allowed:.2%} allowed", moved <= allowed
        wider = width[DISTURBED, variant] / width[str(SHORTEST_S), variant]
        yield f"{variant}: disturbed intervals are {wider:.1f} times as wide", wider <= 2
        low, high = rows.loc[(DISTURBED, variant), ["ratio_low", "ratio_high"]]
        yield f"{variant}: {low:.3f} to {high:.3f} disturbed, {quiet['ratio']:.3f} quiet", low <= quiet["ratio"] <= high


def main(folder: Path) -> int:
    """Measure, write the table, print what holds; returns the exit status."""
    folder.mkdir(parents=True, exist_ok=True)
    studies = {str(length): measure(folder, f"slices-{length}", {"slice_s": length}) for length in LENGTHS_S}
    with disturber():
        studies[DISTURBED] = measure(folder, DISTURBED, {"slice_s": SHORTEST_S})
    table = pd.concat([ratios(name, results) for name, results in studies.items()])
    # All parts have one day, that of their end: a disturbed answer is compared with the quiet ones of its campaign.
    campaign = measured_on()
    table = table.assign(**campaign)
    with_earlier(OUT, table, [*campaign]).to_csv(OUT, index=False, float_format="%.5g")
    print(summary(list(studies.values())).round(4).to_string(index=False))
    found = list(verdicts(table))
    for text, holds in found:
        print("ok " if holds else "NO ", text)
    return int(not all(holds for _, holds in found))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="where the studies are measured, kept")
    sys.exit(main(parser.parse_args().folder))
