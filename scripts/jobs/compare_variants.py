"""Compare the variants of a study: from tables/runs.csv and executions.csv to its other tables."""

from pathlib import Path

from scripts.lib.host import entry
from scripts.lib.json_record import read
from scripts.lib.vocabulary import RELINKED
from scripts.report.analysis import bounds, effects, ladder, statement_times
from scripts.report.analysis.comparison import compare, terms_of, without_flagged
from scripts.report.analysis.relink_spread import relinked_table
from scripts.report.analysis.run_tables import read_csv, write_csv


def main(study: Path, tables: Path) -> None:
    """Inputs: `study`, the resolved study.json; runs.csv and executions.csv in the folder `tables`.

    Outputs, in the same folder: comparisons, calibration, relinked, cells, overall, overall_unflagged, ladder, bounds,
    factors, effects and statements.csv.
    """
    declared = read(study)
    runs = read_csv(tables / "runs.csv")
    terms = terms_of(declared)
    found = compare(runs, terms)
    write_csv(found.comparisons, tables / "comparisons.csv")
    write_csv(found.calibration, tables / "calibration.csv")
    write_csv(relinked_table(runs, terms), tables / "relinked.csv")
    write_csv(found.cells, tables / "cells.csv")
    write_csv(found.overall, tables / "overall.csv")
    write_csv(without_flagged(found.judged, terms), tables / "overall_unflagged.csv")
    write_csv(ladder.table(declared, runs), tables / "ladder.csv")
    write_csv(bounds.table(runs[runs["variant"] != RELINKED]), tables / "bounds.csv")
    write_csv(effects.factor_table(declared, found.arms, found.factors, terms, found.overall), tables / "factors.csv")
    write_csv(effects.matrix_table(declared, found.arms, found.factors, terms), tables / "effects.csv")
    done = read_csv(tables / "executions.csv")
    done = done[done["variant"] != RELINKED]
    write_csv(statement_times.statements(done, found.judged, terms), tables / "statements.csv")


if __name__ == "__main__":
    entry.call(main, __doc__, "study", "tables")
