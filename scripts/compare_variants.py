"""Compare the variants: what runs.csv says about them, as the other tables of a study."""

import argparse
from pathlib import Path

from scripts import bounds, factors
from scripts.comparison import cells, compare, noise, pair_runs
from scripts.overall import overall, without_flagged
from scripts.record import read
from scripts.tables import read_csv, write_csv


def main(study: Path, tables: Path) -> None:
    """Read `tables`/runs.csv and write the seven tables beside it."""
    declared = read(study)
    runs = read_csv(tables / "runs.csv")
    pairs = pair_runs(runs, declared["reference"], declared.get("block_span_s"))
    comparisons = compare(pairs)
    floors = noise(comparisons)
    by_cell = cells(runs, comparisons, floors)
    write_csv(comparisons, tables / "comparisons.csv")
    write_csv(floors, tables / "noise.csv")
    write_csv(by_cell, tables / "cells.csv")
    write_csv(overall(by_cell, comparisons), tables / "overall.csv")
    write_csv(without_flagged(comparisons), tables / "overall_unflagged.csv")
    write_csv(bounds.table(runs), tables / "bounds.csv")
    write_csv(factors.table(declared, runs, floors), tables / "factors.csv")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", type=Path, required=True, help="the resolved study, study.json")
    parser.add_argument("--tables", type=Path, required=True, help="folder that holds runs.csv, and to write to")
    main(**vars(parser.parse_args()))
