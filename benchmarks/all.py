"""Run all benchmarks and compare them with the table of the last commit."""

import argparse
import sys
from functools import partial
from pathlib import Path

from benchmarks import planning, run_overhead, snakemake_share, table


def main(config: Path, study: Path) -> int:
    """Run every benchmark; returns the exit status."""
    needing = [partial(run_overhead.measured, config), partial(snakemake_share.measured, study)]
    return table.run([planning.measured, *needing])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=Path, default=run_overhead.CONFIG, help="a study whose baseline is built")
    parser.add_argument("--study", type=Path, default=snakemake_share.STUDY, help="folder of a measured study")
    sys.exit(main(**vars(parser.parse_args())))
