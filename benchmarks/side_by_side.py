"""What the slices of finished studies vary by, and what restarts of the servers add.

Reads the records of blocks, measures nothing. Prints one row per study, workload and number of clients.
"""

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.lib import json_record
from scripts.lib.host.machine_facts import read_host
from scripts.lib.vocabulary import AA, RELINKED, SLICES
from scripts.measure.engine.machine_parts import HostFacts
from scripts.measure.engine.slice_facts import log_standard_error
from scripts.report.analysis.intervals import pooled_variance

PLACE = ["study", "workload", "clients"]


def measured_on() -> dict[str, str]:
    """Return the columns of a table that name today and the CPU of this machine."""
    return {"date": f"{datetime.now(UTC):%Y-%m-%d}", "cpu_model": HostFacts.of(asdict(read_host())).cpu}


def with_earlier(file: Path, measured: pd.DataFrame, key: list[str]) -> pd.DataFrame:
    """Return the rows of a table on disk whose key was not measured again, then those measured now."""
    if not file.exists():
        return measured
    earlier = pd.read_csv(file)
    again = earlier.set_index(key).index.isin(measured.set_index(key).index)
    return pd.concat([earlier[~again], measured])


def blocks_of(study: Path) -> Iterator[dict]:
    """Yield the records of the blocks of a study that were measured in slices."""
    for file in sorted(study.glob("blocks/**/block.json")):
        if (block := json_record.read(file))["method"] == SLICES:
            yield {"study": study.name, **block}


def spreads(block: dict) -> dict:
    """Return what a block's slices tell: their length and spread, and the mean log TPS of each arm.

    `slice_sd` is the standard deviation of log TPS of one arm's slice once the round is taken away, `lag1` the mean
    correlation of neighbouring rounds' log ratios to the first arm.
    """
    slices = pd.DataFrame(block["slices"])
    tps = slices.pivot_table(index="round", columns="arm", values="tps")[list(block["arms"])]
    tps = np.log(tps[(tps > 0).all(axis=1)])
    standard_error = log_standard_error(np.exp(tps).to_numpy())
    ratios = tps.drop(columns=tps.columns[0]).sub(tps[tps.columns[0]], axis=0)
    return {
        **{name: block[name] for name in (*PLACE, "repetition", "open_s", "wall_s")},
        "slice_s": slices["open_ms"].median() / 1e3,
        "slice_sd": standard_error * np.sqrt(len(tps)),
        "slices_alone_sd": standard_error,
        "lag1": ratios.apply(lambda one: one.autocorr(1)).mean(),
        "levels": tps.drop(columns=RELINKED, errors="ignore").mean(),
    }


def summary(studies: list[Path]) -> pd.DataFrame:
    """Return one row per study, workload and clients.

    `block_sd` is the standard deviation between blocks of an arm's log TPS once the block's level is taken away, of so
    many `degrees` of freedom, `alone_sd` what slices account for, `restart_sd` the rest; `open_share` is that of wall
    time with a gate open.
    """
    found = pd.DataFrame([spreads(block) for study in studies for block in blocks_of(study)])
    rows = []
    for place, part in found.groupby(PLACE, sort=False):
        levels = pd.DataFrame(list(part["levels"])).dropna(axis="columns")
        (block_s2, degrees), alone_s2 = pooled_variance(levels.to_numpy()), (part["slices_alone_sd"] ** 2).mean()
        rows.append(
            {
                **dict(zip(PLACE, place, strict=True)),
                "arms": ", ".join(name for name in levels if name != AA),
                "blocks": len(part),
                "slice_s": part["slice_s"].median(),
                "slice_sd": part["slice_sd"].mean(),
                "lag1": part["lag1"].mean(),
                "block_sd": np.sqrt(block_s2),
                "degrees": int(degrees),
                "alone_sd": np.sqrt(alone_s2),
                "restart_sd": np.sqrt(max(block_s2 - alone_s2, 0)),
                "open_share": part["open_s"].sum() / part["wall_s"].sum(),
                "wall_s": part["wall_s"].sum(),
            }
        )
    return pd.DataFrame(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("studies", type=Path, nargs="+", help="folders of finished studies, results/studies/x")
    print(summary(parser.parse_args().studies).round(4).to_string(index=False))
