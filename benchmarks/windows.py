"""Whether slices answer as long windows do, on loads bound by the CPU, by the log and by data beyond the pool.

Measures the same variants of the installed MariaDB three times per load: in slices with three servers up, in slices
with six, and by turns in windows of 20 s with one server up. Writes windows.csv: one row per load, method and variant,
with what the reference asked of the disk; rows of other loads, days and campaigns stay. Prints for each ratio whether
slices and windows agree, in each campaign and over all campaigns; a difference that is not known to 3 % counts as one.
Exits with status 1 when a run failed, not when methods differ: that is the finding.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.false_alarms import measure
from benchmarks.side_by_side import measured_on, with_earlier
from scripts.lib.vocabulary import AA

OUT = Path(__file__).with_suffix(".csv")
SERVER = {"server": "mariadb-installed", "build": "prebuilt"}
VARIANTS = {
    "binlog": {"log_bin": "binlog", "sync_binlog": 0},
    "counted": {"performance_schema": True},
    "single_write": {"innodb_doublewrite": False},
    "same": {},
}
FEW = ["binlog", "counted"]
SMALL, LARGE = {"tables": 4, "rows": 20000}, {"tables": 4, "rows": 100000}
LOADS = {
    "cpu": ("oltp_read_only", SMALL, {"innodb_flush_log_at_trx_commit": 0}),
    "log": ("index_update", SMALL, {"innodb_flush_log_at_trx_commit": 1}),
    "disk": ("index_update", LARGE, {"innodb_flush_log_at_trx_commit": 1, "innodb_buffer_pool_size": "48M"}),
}
TURNS = "turns"
METHODS = {
    "slices-3": (FEW, {"together": 3, "measure_s": 4}),
    "slices-6": ([*VARIANTS], {"together": 6, "measure_s": 4}),
    TURNS: (FEW, {"together": 1, "measure_s": 20}),
}
# What the reference asks of the disk, by the server's counters.
ASKED = {"fsyncs_per_s": "data_fsyncs", "pool_misses_per_s": "buffer_pool_misses"}
CONCLUSIVE = np.log(1.03)
# What sets one measuring of a load apart from another of the same load.
CAMPAIGN = ["date", "campaign", "cpu_model"]


def study(load: str, method: str, repetitions: int, campaign: int) -> dict:
    """Return the config of a load measured by a method."""
    workload, dataset, options = LOADS[load]
    names, how = METHODS[method]
    return {
        "study": f"windows-{load}-{method}",
        "title": f"{load}: {method}",
        "question": "Do slices answer as long windows do?",
        "variants": {"baseline": {**SERVER}} | {name: {**SERVER, "options": VARIANTS[name]} for name in names},
        "reference": "baseline",
        "workloads": {workload: None},
        "datasets": {"sbtest": dataset},
        "options": options,
        "clients": [8],
        "repetitions": repetitions,
        "warmup_s": 2,
        "placement": "automatic",
        "seed": campaign,
        "campaign": campaign,
        **how,
    }


def asked_of_disk(results: Path) -> dict[str, float]:
    """Return what the runs of the reference asked of the disk per second, by the median over its runs."""
    found = []
    for file in results.glob("blocks/**/baseline.json"):
        run = json.loads(file.read_text())
        seconds, edges = run["window"]["duration_s"], run["counters"]
        grown = {name: edges[counter]["after"] - edges[counter]["before"] for name, counter in ASKED.items()}
        grown["written_bytes_per_s"] = run["io"]["write_bytes"]
        found.append({name: value / seconds for name, value in grown.items()})
    return pd.DataFrame(found).median().to_dict()


def ratios(load: str, method: str, results: Path) -> pd.DataFrame:
    """Return one row per variant of a finished study: its ratio of TPS with the interval."""
    cells = pd.read_csv(results / "tables" / "cells.csv").query("metric == 'tps'")
    rows = cells[["variant", "n_blocks", "ratio", "ratio_low", "ratio_high"]]
    return rows.assign(load=load, method=method, **asked_of_disk(results))


def differences(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row per campaign, load, way of slices and variant: its log ratio less that of the windows.

    `error` is half of the 95 % interval of `moved`.
    """
    place = [*CAMPAIGN, "load", "variant"]
    half = np.log(table["ratio_high"] / table["ratio_low"]) / 2
    rows = table[[*place, "method"]].assign(log=np.log(table["ratio"]), half=half)
    turns = rows["method"] == TURNS
    both = rows[~turns].merge(rows[turns], on=place, suffixes=("", "_turns"))
    return both.assign(moved=both["log"] - both["log_turns"], error=np.hypot(both["half"], both["half_turns"]))


def over_campaigns(found: pd.DataFrame) -> pd.DataFrame:
    """Return the mean differences over campaigns, on whichever machine, weighted by the inverse squares of errors."""
    weight = found["error"] ** -2
    weighted = found.assign(weight=weight, weighted=found["moved"] * weight)
    kinds = weighted.groupby(["load", "method", "variant"], sort=False)
    sums = kinds[["weight", "weighted"]].sum()[kinds.size() > 1]
    known = sums.assign(moved=sums["weighted"] / sums["weight"], error=sums["weight"] ** -0.5)
    return known.reset_index().assign(campaign="all")


def verdicts(table: pd.DataFrame) -> Iterator[str]:
    """Yield one line per campaign, load, way of slices and variant: how its ratio differs from that of the windows."""
    found = differences(table)
    for row in [*found.itertuples(), *over_campaigns(found).itertuples()]:
        word = "differs" if abs(row.moved) > row.error else "agrees" if row.error < CONCLUSIVE else "not known to 3 %"
        when = "all campaigns" if row.campaign == "all" else f"{row.date}, campaign {row.campaign}, {row.cpu_model}"
        what = f"{row.load} {row.method} {row.variant}"
        yield f"{when}, {what}: {row.moved:+.1%} ± {row.error:.1%} against windows: {word}"


def main(folder: Path, loads: list[str], repetitions: int, windows: int, campaign: int) -> int:
    """Measure, write the table, print what agrees; returns the exit status."""
    folder.mkdir(parents=True, exist_ok=True)
    times = {how: windows if how == TURNS else repetitions for how in METHODS}
    parts = [
        ratios(one, how, measure(folder, study(one, how, n, campaign))) for one in loads for how, n in times.items()
    ]
    # All parts have one day, that of their end: the methods of a campaign are compared.
    measured = pd.concat(parts).dropna(subset=["ratio"]).assign(**measured_on(), campaign=campaign)
    table = with_earlier(OUT, measured, ["load", *CAMPAIGN])
    table.to_csv(OUT, index=False, float_format="%.5g")
    print(*verdicts(table[table["load"].isin(loads)]), sep="\n")
    wanted = sum(len(names) + 1 for names, _ in METHODS.values()) * len(loads)
    return int(len(measured) != wanted or AA not in set(measured["variant"]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="where the studies are measured, kept")
    parser.add_argument("--loads", nargs="+", choices=LOADS, default=[*LOADS])
    parser.add_argument("--repetitions", type=int, default=4, help="of slices")
    parser.add_argument("--windows", type=int, default=4, help="repetitions by turns")
    parser.add_argument("--campaign", type=int, default=1, help="another number on the same day measures again")
    sys.exit(main(**vars(parser.parse_args())))
