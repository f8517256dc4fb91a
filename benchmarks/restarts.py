"""How far restarts of the servers move a block, beyond what its slices account for.

Measures the reference, the reference again (A/A) and a variant that is the reference, in many blocks of as many rounds,
on the installed servers and a binary of MySQL's vendor, under a load that reads and one that writes with relaxed
commits. Writes restarts.csv: one row per family and load; rows of families that were not asked for stay. The figures
say how many rounds a restart is worth; see docs/evidence.md.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from benchmarks import false_alarms
from benchmarks.false_alarms import measure
from benchmarks.side_by_side import measured_on, summary

OUT = Path(__file__).with_suffix(".csv")
SERVERS = {**false_alarms.SERVERS, "mysql": "mysql-8.0.33-binary"}
OPTIONS = {**false_alarms.OPTIONS, "mysql": {"innodb_flush_log_at_trx_commit": 0}}
LOADS = ("oltp_read_only", "index_update")
SLICE_S = 0.1
# All three arms in slices, whatever they ask of a disk.
TOGETHER = 3


def study(family: str, restarts: int, rounds: int, rows: int) -> dict:
    """Return the config of a family's study."""
    variant = {"server": SERVERS[family], "build": "prebuilt"}
    return {
        "study": f"restarts-{family}",
        "title": f"{family}: the same server, started again and again",
        "question": "How far do restarts move a block?",
        "variants": {"reference": variant, "same": {**variant}},
        "reference": "reference",
        "workloads": dict.fromkeys(LOADS),
        "datasets": {"sbtest": {"tables": 4, "rows": rows}},
        "options": OPTIONS[family],
        "clients": [8],
        "repetitions": restarts,
        "warmup_s": 2,
        "slice_s": SLICE_S,
        "measure_s": round(rounds * SLICE_S),
        "together": TOGETHER,
        "placement": "automatic",
        "seed": 1,
        "campaign": 1,
    }


def restart_limits(block_sd: float, degrees: int, alone_sd: float) -> tuple[float, float]:
    """Return the 95 % interval of the standard deviation between restarts, at least 0.

    It is that of the variance between blocks (chi squared) less what slices account for, which is taken as known.
    """
    squares, ends = degrees * block_sd**2, stats.chi2.ppf([0.975, 0.025], degrees)
    low, high = np.sqrt(np.maximum(squares / ends - alone_sd**2, 0.0))
    return float(low), float(high)


def table(found: dict[str, Path]) -> pd.DataFrame:
    """Return one row per family and load of finished studies, with date and CPU."""
    parts = [summary([results]).assign(family=family) for family, results in found.items()]
    rows = pd.concat(parts, ignore_index=True)
    limits = [restart_limits(row.block_sd, row.degrees, row.alone_sd) for row in rows.itertuples()]
    rows[["restart_low", "restart_high"]] = limits
    rows["rounds"] = [rounds_of(found[row.family], row.workload) for row in rows.itertuples()]
    names = [
        *("family", "workload", "clients", "blocks", "rounds", "slice_s", "slice_sd", "lag1", "block_sd", "degrees"),
        *("alone_sd", "restart_sd", "restart_low", "restart_high", "open_share", "wall_s"),
    ]
    return rows[names].assign(**measured_on())


def rounds_of(results: Path, workload: str) -> float:
    """Return the median number of rounds of the blocks of a load."""
    runs = pd.read_csv(results / "tables" / "runs.csv")
    return float(runs.loc[runs["workload"] == workload, "rounds"].median())


def main(folder: Path, restarts: int, rounds: int, rows: int, families: list[str], out: Path) -> int:
    """Measure, write the table and print it; returns the exit status."""
    folder.mkdir(parents=True, exist_ok=True)
    made = table({family: measure(folder, study(family, restarts, rounds, rows)) for family in families})
    with_others(made, out).to_csv(out, index=False, float_format="%.5g")
    print(made.round(4).to_string(index=False))
    return int(len(made) != len(families) * len(LOADS) or (made["blocks"] != restarts).any())


def with_others(made: pd.DataFrame, out: Path) -> pd.DataFrame:
    """Return these rows below those of the other families in the table that is there."""
    if not out.exists():
        return made
    there = pd.read_csv(out)
    return pd.concat([there[~there["family"].isin(made["family"])], made], ignore_index=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="where the studies are measured, kept")
    parser.add_argument("--restarts", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=50, help="rounds of a block, at least 30")
    parser.add_argument("--rows", type=int, default=20000, help="rows of each of the 4 tables")
    parser.add_argument("--families", nargs="+", choices=SERVERS, default=list(SERVERS))
    parser.add_argument("--out", type=Path, default=OUT, help="where the table is written")
    sys.exit(main(**vars(parser.parse_args())))
