"""What intervals and words of simulated studies hold: the larger proof behind tests/unit/report/analysis.

Writes coverage.csv, one row per case with a fixed number of blocks, and stopping.csv, one row per case and precision
of studies that stop at it. Exits with status 1 when a share is beyond its limit by more than two standard errors.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pandas as pd

from tests.made.simulation import Simulated, looks, medium_precision, outcome, stopped
from tests.unit.report.analysis.test_simulated_studies import CASES, SHARED

FOLDER = Path(__file__).parent
AT_ONCE = 4000
PLAIN, WORST = 0.95, 0.94
STOPPING = {
    "plain": Simulated(blocks=16, shared=0.0),
    "four variants": Simulated(blocks=16, variants=4, shared=0.0),
    "one cell": Simulated(blocks=16, cells=1),
    "cells together": Simulated(blocks=16, shared=0.04),
    "one variant noisier, cells together": Simulated(blocks=16, uneven=2.0, shared=SHARED, cells=8),
    "10 % failed A/A, one variant noisier": Simulated(blocks=16, failed=0.1, uneven=2.0, shared=SHARED, variants=4),
    "heavy tails": Simulated(blocks=16, tails=5, shared=0.0),
}
MORE = {
    "one variant 3 times as noisy, 8 cells": Simulated(uneven=3.0, shared=SHARED, cells=8),
    "one variant 3 times as noisy, 10 blocks": Simulated(uneven=3.0, shared=SHARED, variants=4, blocks=10),
    "one variant 4 times as noisy, cells together": Simulated(uneven=4.0, shared=0.04, cells=8),
    "one variant half as noisy": Simulated(uneven=0.5, shared=SHARED),
}
SHARES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5)


def parts(plan: Simulated, studies: int) -> Iterator[Simulated]:
    """Yield plans of AT_ONCE studies with seeds of their own, `studies` in all."""
    return (replace(plan, studies=AT_ONCE, seed=1000 + number) for number in range(studies // AT_ONCE))


def coverage(studies: int) -> pd.DataFrame:
    """Return the mean outcome of each case."""
    rows = []
    for case, plan in {**CASES, **MORE}.items():
        found = pd.DataFrame([asdict(outcome.__wrapped__(part)) for part in parts(plan, studies)]).mean()
        rows.append({"case": case, "studies": studies, **found})
        print(case, dict(found.round(4)), flush=True)
    return pd.DataFrame(rows)


def stopping(studies: int) -> pd.DataFrame:
    """Return what the intervals of each case cover when studies stop at some precisions, and after how many blocks."""
    rows = []
    for case, plan in STOPPING.items():
        every = [looks(part) for part in parts(plan, studies)]
        means, halves = (np.concatenate(each, axis=-1) for each in zip(*every, strict=True))
        for share in SHARES:
            precision = medium_precision(halves, share)
            found = stopped(means, halves, precision)
            plainly = stopped(means, halves, precision, wider=1.0)
            row = {"case": case, "studies": studies, "precision": precision, **asdict(found)}
            rows.append({**row, "covered_without_widening": plainly.covered})
            print(row, flush=True)
    return pd.DataFrame(rows)


def missed(table: pd.DataFrame, column: str, studies: int) -> list[str]:
    """Return the cases that cover less than they must."""
    limit = np.where(table["case"] == "plain", PLAIN, WORST)
    low = table[column] < limit - 2 * np.sqrt(limit * (1 - limit) / studies)
    return [f"{row.case}: {column} {getattr(row, column):.4f}" for row in table[low].itertuples()]


def false_words(table: pd.DataFrame, studies: int) -> list[str]:
    """Return the cases with false words in more than one study of twenty."""
    most = 0.05 + 2 * np.sqrt(0.05 * 0.95 / studies)
    return [
        f"{row.case}: {name} {row[name]:.4f}"
        for _, row in table.iterrows()
        for name in ("words", "word_overall")
        if row[name] > most
    ]


def main(studies: int) -> int:
    """Simulate, archive, and return the exit status."""
    date, begin_s = time.strftime("%Y-%m-%d"), time.process_time()
    fixed, early = coverage(studies), stopping(studies)
    for name, table in (("coverage", fixed), ("stopping", early)):
        table.assign(date=date).to_csv(FOLDER / f"{name}.csv", index=False, float_format="%.4f")
    wrong = [*missed(fixed, "covered", studies), *missed(fixed, "covered_overall", studies)]
    wrong += [*missed(early, "covered", studies), *false_words(fixed, studies)]
    print(*wrong, f"{time.process_time() - begin_s:.0f} s", sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=20_000)
    sys.exit(main(**vars(parser.parse_args())))
