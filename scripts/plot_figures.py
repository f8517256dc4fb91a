"""Draw the figures of a study: figures/{metric}-{workload}.svg and figures/forest-{metric}.svg from its tables."""

import argparse
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.charts import forest_chart, values_chart
from scripts.drawing import look_of
from scripts.metrics import METRICS
from scripts.record import read, write_text
from scripts.tables import read_csv

DRAWN = ("tps", "p95_ms", "cpu_us_per_tx")


def in_order(cells: pd.DataFrame, study: dict[str, Any]) -> pd.DataFrame:
    """Return cells in the order the study declares workloads, clients and variants."""
    ranks = {
        "workload": {name: rank for rank, name in enumerate(study["workloads"])},
        "variant": {name: rank for rank, name in enumerate(study["variants"])},
    }
    keys = pd.DataFrame({name: cells[name].map(rank) for name, rank in ranks.items()}).assign(clients=cells["clients"])
    return cells.loc[keys.sort_values(["workload", "clients", "variant"], kind="stable").index]


def main(study: Path, tables: Path, figures: Path) -> None:
    """Write one figure per drawn metric and workload, and one of all ratios per drawn metric."""
    declared = read(study)
    look = look_of(list(declared["variants"]), declared["reference"])
    runs, cells = read_csv(tables / "runs.csv"), in_order(read_csv(tables / "cells.csv"), declared)
    for metric in (METRICS[name] for name in DRAWN):
        for workload in declared["workloads"]:
            name = f"{metric.name}-{workload}"
            chart = values_chart(runs[runs["workload"] == workload], metric, look, name)
            write_text(figures / f"{name}.svg", chart)
        name = f"forest-{metric.name}"
        chart = forest_chart(cells[cells["metric"] == metric.name], metric, look, name)
        write_text(figures / f"{name}.svg", chart)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", type=Path, required=True, help="the resolved study, study.json")
    parser.add_argument("--tables", type=Path, required=True, help="folder that holds runs.csv and cells.csv")
    parser.add_argument("--figures", type=Path, required=True, help="folder to write to")
    main(**vars(parser.parse_args()))
