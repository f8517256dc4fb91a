"""Draw the figures of a study from its tables: figures/{name}.svg, named as `drawing.figure_names` says."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from scripts import published
from scripts.charts import values_chart
from scripts.drawing import DRAWN, Look, beside_published, look_of
from scripts.metrics import METRICS, TPS, Metric
from scripts.ratio_charts import factor_chart, forest_chart, published_chart
from scripts.record import read, write_text
from scripts.tables import read_csv


def in_order(cells: pd.DataFrame, study: dict[str, Any]) -> pd.DataFrame:
    """Return cells in the order the study declares workloads, clients and variants."""
    ranks = {
        "workload": {name: rank for rank, name in enumerate(study["workloads"])},
        "variant": {name: rank for rank, name in enumerate(study["variants"])},
    }
    keys = pd.DataFrame({name: cells[name].map(rank) for name, rank in ranks.items()}).assign(clients=cells["clients"])
    return cells.loc[keys.sort_values(["workload", "clients", "variant"], kind="stable").index]


def main(study: Path, tables: Path, figures: Path) -> None:
    """Write one figure per drawn metric and workload, and of all ratios and factors per drawn metric."""
    declared = read(study)
    found = {name: read_csv(tables / f"{name}.csv") for name in ("runs", "cells", "factors")}
    found["cells"] = in_order(found["cells"], declared)
    look = look_of(list(declared["variants"]), declared["reference"])
    drawn = (draw(declared, found, METRICS[name], look) for name in DRAWN)
    for name, chart in (each for charts in (*drawn, beside(declared, found["cells"], look)) for each in charts):
        write_text(figures / f"{name}.svg", chart)


def draw(study: dict, tables: dict[str, pd.DataFrame], metric: Metric, look: Look) -> Iterator[tuple[str, str]]:
    """Yield name and text of the figures of one metric."""
    told = published.frame(study)
    for workload in study["workloads"]:
        name = f"{metric.name}-{workload}"
        rows = tables["runs"][tables["runs"]["workload"] == workload]
        theirs = told[(told["workload"] == workload) & (told["metric"] == metric.name)] if metric is TPS else None
        yield name, values_chart(rows, metric, look, name, theirs)
    kinds = {table: tables[table][tables[table]["metric"] == metric.name] for table in ("cells", "factors")}
    yield f"forest-{metric.name}", forest_chart(kinds["cells"], metric, look, f"forest-{metric.name}")
    if len(kinds["factors"]):
        yield f"factors-{metric.name}", factor_chart(kinds["factors"], metric, f"factors-{metric.name}")


def beside(study: dict, cells: pd.DataFrame, look: Look) -> Iterator[tuple[str, str]]:
    """Yield name and text of the figures that show published ratios of transactions per second beside ours."""
    theirs = published.ratios(study, published.frame(study), TPS.name)
    for workload in (name for name in study["workloads"] if beside_published(study, name)):
        ours = cells[(cells["workload"] == workload) & (cells["metric"] == TPS.name)]
        name = f"ratio-{workload}"
        yield name, published_chart(ours, theirs[theirs["workload"] == workload], TPS, look, name)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", type=Path, required=True, help="the resolved study, study.json")
    parser.add_argument("--tables", type=Path, required=True, help="folder that holds runs, cells and factors.csv")
    parser.add_argument("--figures", type=Path, required=True, help="folder to write to")
    main(**vars(parser.parse_args()))
