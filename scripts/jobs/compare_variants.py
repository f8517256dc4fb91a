"""Compare the variants of a study: from tables/runs.csv and executions.csv to its other tables."""

from pathlib import Path
from typing import Any

import pandas as pd

from scripts.analysis import bounds, effects, timed_sql
from scripts.analysis.comparison import cells, compare_pairs, noise_floors, overall_table, pair_runs, without_flagged
from scripts.analysis.metrics import SCRIPT, of_study
from scripts.analysis.runs import read_csv, write_csv
from scripts.host import entry
from scripts.record import read


def rows_with_fitting_metric(table: pd.DataFrame, study: dict[str, Any]) -> pd.DataFrame:
    """Return the rows whose metric applies to their workload: timed SQL has its own metrics, sysbench all others."""
    timed = [name for name, load in study["workloads"].items() if "sql" in load]
    return table[table["metric"].isin(SCRIPT) == table["workload"].isin(timed)].reset_index(drop=True)


def main(study: Path, tables: Path) -> None:
    """Inputs: `study`, the resolved study.json; runs.csv and executions.csv in the folder `tables`.

    Outputs, in the same folder: comparisons, noise, cells, overall, overall_unflagged, bounds, factors, effects and
    statements.csv.
    """
    declared = read(study)
    runs = read_csv(tables / "runs.csv")
    pairs = pair_runs(runs, declared["reference"], declared.get("block_span_s"))
    comparisons = rows_with_fitting_metric(compare_pairs(pairs, of_study(declared)), declared)
    floors = noise_floors(comparisons)
    by_cell = rows_with_fitting_metric(cells(runs, comparisons, floors), declared)
    write_csv(comparisons, tables / "comparisons.csv")
    write_csv(floors, tables / "noise.csv")
    write_csv(by_cell, tables / "cells.csv")
    write_csv(overall_table(by_cell, comparisons), tables / "overall.csv")
    write_csv(without_flagged(comparisons), tables / "overall_unflagged.csv")
    write_csv(bounds.table(runs), tables / "bounds.csv")
    write_csv(effects.factor_table(declared, runs, floors), tables / "factors.csv")
    write_csv(effects.matrix_table(declared, runs, floors), tables / "effects.csv")
    done = read_csv(tables / "executions.csv")
    write_csv(timed_sql.statements(done, comparisons, declared["reference"]), tables / "statements.csv")


if __name__ == "__main__":
    entry.call(main, __doc__, "study", "tables")
