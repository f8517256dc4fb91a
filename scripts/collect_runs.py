"""Collect the raw facts of a study's runs into tables/runs.csv, the tables of its parts beside it."""

import argparse
from pathlib import Path

from scripts import counter_tables, operations, sql_tables
from scripts.record import read
from scripts.tables import collect, read_records, write_csv


def listed(path: Path) -> list[Path]:
    """Return the paths a list names, one a line."""
    return [Path(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def main(study: Path, runs_list: Path, tables: Path) -> None:
    """Write the tables into the folder `tables`."""
    records = list(read_records(listed(runs_list), without=("variables", "option_file", "histogram", "engine_report")))
    runs, series = collect(read(study), records)
    write_csv(counter_tables.samples(facts for _, facts in records), tables / "counters.csv")
    write_csv(counter_tables.files(facts for _, facts in records), tables / "files.csv")
    write_csv(operations.table(facts for _, facts in records), tables / "operations.csv")
    write_csv(sql_tables.executions(records), tables / "executions.csv")
    write_csv(series, tables / "series.csv")
    write_csv(runs, tables / "runs.csv")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", type=Path, required=True, help="the resolved study, study.json")
    parser.add_argument("--runs-list", type=Path, required=True, help="file with the path of one run's JSON a line")
    parser.add_argument("--tables", type=Path, required=True, help="folder to write to")
    main(**vars(parser.parse_args()))
