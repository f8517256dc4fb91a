"""Compare the variants of a study: from tables/runs.csv and executions.csv to its other tables."""

from collections.abc import Mapping
from pathlib import Path

from scripts.lib.host import entry
from scripts.lib.resolved_study import read_study
from scripts.lib.vocabulary import RELINKED
from scripts.report.analysis import bounds, effects, ladder, statement_times
from scripts.report.analysis.comparison import compare, terms_of, without_flagged
from scripts.report.analysis.relink_spread import relinked_table
from scripts.report.analysis.run_tables import read_csv, write_csv


def main(study: Path, runs: Path, executions: Path, tables: Mapping[str, Path]) -> None:
    """Inputs: `study`, the resolved study.json; the tables `runs` and `executions`.

    Outputs, of which `tables` has the files: comparisons, calibration, relinked, cells, overall, overall_unflagged,
    ladder, bounds, factors, effects and statements.
    """
    declared = read_study(study)
    measured = read_csv(runs)
    terms = terms_of(declared)
    compared = compare(measured, terms)
    write_csv(compared.comparisons, tables["comparisons"])
    write_csv(compared.calibration, tables["calibration"])
    write_csv(relinked_table(measured, terms), tables["relinked"])
    write_csv(compared.cells, tables["cells"])
    write_csv(compared.overall, tables["overall"])
    write_csv(without_flagged(compared.judged, terms), tables["overall_unflagged"])
    write_csv(ladder.table(declared, measured), tables["ladder"])
    write_csv(bounds.table(measured[measured["variant"] != RELINKED]), tables["bounds"])
    write_csv(
        effects.factor_table(declared, compared.arms, compared.factors, terms, compared.overall), tables["factors"]
    )
    write_csv(effects.matrix_table(declared, compared.arms, compared.factors, terms), tables["effects"])
    done = read_csv(executions)
    done = done[done["variant"] != RELINKED]
    write_csv(statement_times.statements(done, compared.judged, terms), tables["statements"])


if __name__ == "__main__":
    entry.run(main, __doc__, "study", "runs", "executions", tables=entry.TABLES)
