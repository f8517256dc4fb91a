"""A tree of sysbench logs as people keep them: recorded outputs with other numbers of clients and transactions."""

import math
import random
import re
from pathlib import Path

DATA = Path(__file__).parents[1] / "data" / "sysbench"
OF_1_0, OF_1_1, OF_0_5 = "1.0.20-mariadb-oltp_read_write", "1.1.0-oltp_write", "0.5-oltp"
LAID_OUT = "{variant}/{workload}_{clients}_{repetition}.log"
EFFECTS = {"baseline": 0.0, "pgo": 0.3}


def log(clients: int, transactions: int, like: str = OF_1_0) -> str:
    """Return a recorded output with these clients and transactions; the histogram is left as it was."""
    text = re.sub(r"(Number of threads: )\d+", rf"\g<1>{clients}", (DATA / f"{like}.txt").read_text())
    return re.sub(r"(?m)^( +transactions: +)\d+", rf"\g<1>{transactions}", text)


def tree(
    root: Path,
    effects: dict[str, float] = EFFECTS,
    workloads: tuple[str, ...] = ("oltp",),
    clients: tuple[int, ...] = (4,),
    repetitions: int = 5,
    like: str = OF_1_0,
) -> Path:
    """Write a tree of logs with 2 % of noise and return its folder; `effects` are logs of ratios."""
    chance = random.Random(5)
    for variant, effect in effects.items():
        for workload in workloads:
            for number in clients:
                for repetition in range(1, repetitions + 1):
                    count = round(3000 * number**0.5 * math.exp(effect + chance.gauss(0, 0.02)))
                    write(
                        root, LAID_OUT.format(**_named(variant, workload, number, repetition)), log(number, count, like)
                    )
    return root


def _named(variant: str, workload: str, clients: int, repetition: int) -> dict[str, object]:
    return {"variant": variant, "workload": workload, "clients": clients, "repetition": repetition}


def write(root: Path, file: str, text: str) -> Path:
    """Write one file below the tree."""
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


TIERS = {"2G": 0.03, "12G": 0.04, "32G": 0.12}
TIERED = "{product}-{version}/{build}/tier_{tier}/{workload}_{clients}th_run{repetition}.log"


def tiered(root: Path) -> Path:
    """Write logs as a benchmark repository keeps them, by product, version, build, tier, clients and run."""
    chance = random.Random(7)
    for build, share in (("base", 0.0), ("pgo", 1.0)):
        for tier, effect in TIERS.items():
            for clients in (16, 64):
                for repetition in (1, 2, 3):
                    count = round(30000 * clients**0.5 * math.exp(share * effect + chance.gauss(0, 0.01)))
                    names = {"product": "mysql", "version": "9.7.0", "build": build, "tier": tier}
                    load = {"workload": "oltp_read_write", "clients": clients, "repetition": repetition}
                    write(root, TIERED.format(**names, **load), log(clients, count))
    write(root, "README.md", "How these logs were made")
    return root
