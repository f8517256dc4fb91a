"""Collect the records of a study's runs into tables/runs.csv and the tables beside it."""

import argparse
from pathlib import Path

from scripts.lib.json_record import read
from scripts.report.analysis import run_tables, statement_times
from scripts.report.analysis.run_tables import LARGE, collect, demand_unaltered, listed, read_records, write_csv


def main(study: Path, runs_list: Path, tables: Path) -> None:
    """Inputs: `study`, the resolved study.json, and `runs_list`, a file with one path of a run's record per line.

    Output: CSV tables in the folder `tables`: runs, series, counters, files, operations, executions, against. Raises
    ValueError when a record is not what its block's record lists.
    """
    paths = listed(runs_list)
    demand_unaltered(paths)
    records = list(read_records(paths, without=LARGE))
    runs, series = collect(read(study), records)
    write_csv(run_tables.sample_table(records), tables / "counters.csv")
    write_csv(run_tables.file_table(records), tables / "files.csv")
    write_csv(run_tables.operation_table(records), tables / "operations.csv")
    write_csv(statement_times.executions(records), tables / "executions.csv")
    write_csv(statement_times.against(records), tables / "against.csv")
    write_csv(series, tables / "series.csv")
    write_csv(runs, tables / "runs.csv")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", type=Path, required=True, help="the resolved study, study.json")
    parser.add_argument("--runs-list", type=Path, required=True, help="file with the path of one run's JSON per line")
    parser.add_argument("--tables", type=Path, required=True, help="folder to write to")
    main(**vars(parser.parse_args()))
