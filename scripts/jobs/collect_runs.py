"""Collect the records of a study's runs into tables/runs.csv and the tables beside it."""

from collections.abc import Mapping
from pathlib import Path

from scripts.lib.host import entry
from scripts.lib.resolved_study import read_study
from scripts.report.analysis import run_tables, statement_times
from scripts.report.analysis.run_tables import LARGE, collect, demand_unaltered, listed, read_records, write_csv


def main(study: Path, runs_list: Path, tables: Mapping[str, Path]) -> None:
    """Inputs: `study`, the resolved study.json, and `runs_list`, a file with one path of a run's record per line.

    Output: CSV tables, of which `tables` has the files: runs, series, counters, files, operations, executions, against.
    Raises ValueError when a record is not what its block's record lists.
    """
    paths = listed(runs_list)
    demand_unaltered(paths)
    records = list(read_records(paths, without=LARGE))
    runs, series = collect(read_study(study), records)
    write_csv(run_tables.sample_table(records), tables["counters"])
    write_csv(run_tables.file_table(records), tables["files"])
    write_csv(run_tables.operation_table(records), tables["operations"])
    write_csv(statement_times.executions(records), tables["executions"])
    write_csv(statement_times.against(records), tables["against"])
    write_csv(series, tables["series"])
    write_csv(runs, tables["runs"])


if __name__ == "__main__":
    entry.run(main, __doc__, "study", "runs_list", tables=entry.TABLES)
