"""The order of the runs: by repetition, then by block, then drawn at random within the block."""

import random
from dataclasses import dataclass

from scripts.config.study import Study


@dataclass(frozen=True, order=True)
class Run:
    """One run to measure; `position` is its place in the block, from 1."""

    variant: str
    workload: str
    clients: int
    repetition: int
    position: int


def runs_in_order(study: Study) -> list[Run]:
    """Return all runs of a study in the order of measuring."""
    config = study.config
    return [
        Run(variant, workload, clients, repetition, position)
        for repetition in range(1, config["repetitions"] + 1)
        for workload in study.workloads
        for clients in config["clients"]
        for position, variant in enumerate(block_order(study, workload, clients, repetition), start=1)
    ]


def block_order(study: Study, workload: str, clients: int, repetition: int) -> list[str]:
    """Return the variants of a block in an order that depends only on the seed and the block's name."""
    order = sorted(study.variants)
    random.Random(f"{study.config['seed']}/{workload}/{clients}/{repetition}").shuffle(order)
    return order
