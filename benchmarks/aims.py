"""What finished studies reach of what measuring side by side was to reach: minutes, widths of intervals, open share.

Reads the records of blocks and the tables of studies, measures nothing. Prints one row per study and appends them to
aims.csv, in place of earlier rows of the same study.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.lib import json_record
from scripts.lib.vocabulary import BLOCK_FILE, CONTROLS
from scripts.measure.engine.machine_parts import HostFacts
from scripts.report.analysis.run_tables import read_csv
from scripts.report.analysis.verdicts import PRIMARY

OUT = Path(__file__).with_suffix(".csv")


def half_widths(table: pd.DataFrame) -> pd.Series:
    """Return the half widths of the 95 % intervals of TPS of all variants, as shares."""
    chosen = table[table["metric"].isin(PRIMARY) & ~table["variant"].isin(CONTROLS)]
    return (np.sqrt(chosen["ratio_high"] / chosen["ratio_low"]) - 1).dropna()


def reached(study: Path) -> dict:
    """Return the row of a finished study: `open_share` is that of the blocks' time in which a load runs."""
    blocks = [json_record.read(file) for file in sorted(study.glob(f"blocks/**/{BLOCK_FILE}"))]
    arm = json_record.read(next(study.glob("blocks/**/aa.json")))
    wall_s = sum(block["wall_s"] for block in blocks)
    return {
        "study": study.name,
        "measuring_min": wall_s / 60,
        "half_width_cell": half_widths(read_csv(study / "tables" / "cells.csv")).median(),
        "half_width_overall": half_widths(read_csv(study / "tables" / "overall.csv")).max(),
        "open_share": sum(block["open_s"] for block in blocks) / wall_s,
        "blocks": len(blocks),
        "date": pd.to_datetime(min(block["started_at"] for block in blocks), unit="s").strftime("%Y-%m-%d"),
        "cpu_model": HostFacts.of(arm["host"]).cpu,
    }


def main(studies: list[Path], out: Path) -> None:
    """Write the rows of studies into the table and print them."""
    made = pd.DataFrame([reached(study) for study in studies])
    there = pd.read_csv(out) if out.exists() else pd.DataFrame(columns=made.columns)
    others = there[~there["study"].isin(made["study"])]
    (pd.concat([others, made]) if len(others) else made).to_csv(out, index=False, float_format="%.3g")
    print(made.round(3).to_string(index=False))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("studies", type=Path, nargs="+", help="folders of finished studies, results/studies/x")
    parser.add_argument("--out", type=Path, default=OUT, help="where the table is written")
    main(**vars(parser.parse_args()))
