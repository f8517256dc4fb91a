"""How often the intervals of variants that are the reference itself miss 1, on real servers.

Runs one study per family on the installed servers, in which every variant is the reference under another name, and
writes false_alarms.csv: one row per variant and cell. Exits with status 1 when more than 9 % of the 95 % intervals
miss 1, or one of them by more than three standard errors.
"""

import argparse
import subprocess
import sys
from pathlib import Path

import pandas as pd
import yaml
from scipy import stats

from benchmarks.side_by_side import measured_on, summary
from benchmarks.table import ROOT
from scripts.lib.vocabulary import AA

OUT = Path(__file__).with_suffix(".csv")
COPIES = ["same1", "same2", "same3", "same4"]
SERVERS = {"postgresql": "postgresql-installed", "mariadb": "mariadb-installed"}
OPTIONS = {"postgresql": {"synchronous_commit": False}, "mariadb": {"innodb_flush_log_at_trx_commit": 0}}
MOST_MISSES, BEYOND = 0.09, 2 * stats.norm.sf(3)


def study(family: str, measure_s: float, clients: list[int]) -> dict:
    """Return the config of a family's study."""
    variant = {"server": SERVERS[family], "build": "prebuilt"}
    return {
        "study": f"false-alarms-{family}",
        "title": f"{family}: variants that are the reference",
        "question": "How often does an interval miss 1?",
        "variants": {"baseline": variant} | {name: {**variant} for name in COPIES},
        "reference": "baseline",
        "workloads": dict.fromkeys(["simple_select", "select_random_ranges", "index_update", "oltp"]),
        "datasets": {"sbtest": {"tables": 4, "rows": 20000}},
        "options": OPTIONS[family],
        "clients": clients,
        "repetitions": 5,
        "warmup_s": 1,
        "measure_s": measure_s,
        "placement": "automatic",
        "seed": 1,
        "campaign": 1,
    }


def measure(folder: Path, config: dict) -> Path:
    """Run a study in `folder`; returns the folder of its results."""
    file = folder / f"{config['study']}.yaml"
    file.write_text(yaml.safe_dump(config, sort_keys=False))
    command = [sys.executable, "-m", "snakemake", "--snakefile", ROOT / "Snakefile", "--directory", folder]
    subprocess.run([*command, "--cores", "all", "--configfile", file], check=True)
    return folder / "results" / "studies" / config["study"]


def judged(family: str, results: Path) -> pd.DataFrame:
    """Return one row per variant and cell of a finished study: its ratio of TPS, and whether the interval misses 1."""
    cells = pd.read_csv(results / "tables" / "cells.csv")
    cells = cells[(cells["metric"] == "tps") & cells["variant"].isin([AA, *COPIES])]
    names = ["variant", "workload", "clients", "n_blocks", "ratio", "ratio_low", "ratio_high", "p"]
    misses = (cells["ratio_low"] > 1) | (cells["ratio_high"] < 1)
    about = {"family": family, **measured_on()}
    return cells[names].assign(misses=misses, far=cells["p"] < BEYOND, **about)


def main(folder: Path, measure_s: float, clients: list[int]) -> int:
    """Measure, write the table, print the share of misses; returns the exit status."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {family: measure(folder, study(family, measure_s, clients)) for family in SERVERS}
    table = pd.concat([judged(family, results) for family, results in found.items()])
    table.to_csv(OUT, index=False, float_format="%.5g")
    print(summary(list(found.values())).round(4).to_string(index=False))
    print(table.groupby("family")[["misses", "far"]].agg(["sum", "count"]))
    return int(table["misses"].mean() > MOST_MISSES or table["far"].any())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="where the studies are measured, kept")
    parser.add_argument("--measure", type=float, default=3, dest="measure_s", help="seconds of each arm in a block")
    parser.add_argument("--clients", type=int, nargs="+", default=[4, 16])
    sys.exit(main(**vars(parser.parse_args())))
