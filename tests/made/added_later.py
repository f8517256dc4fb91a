"""A made-up study to which a variant was added on another day: the machine was slower, and a run or two got lost."""

import random
from collections.abc import Iterator
from typing import Any

from tests.made import synthetic
from tests.made.run import Asked, failed, one_run

PLAN = synthetic.Plan(
    variants={"baseline": 0.0, "pgo": 1.0, "work_mem": 0.03, "aa": 0.0}, workloads=("simple_select", "oltp")
)
FIRST, LATER = ("baseline", "pgo", "aa"), ("baseline", "work_mem", "aa")
SLOWER = -0.14
# Without A/A a block counts less, without the reference alone it is compared with A/A.
LOST = {("aa", "oltp", 2, FIRST), ("pgo", "oltp", 3, FIRST), ("baseline", "simple_select", 1, LATER)}


def declared(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record, study.json with the blocks of both days."""
    if "order" not in record:
        return record
    blocks = {facts["block"]: (facts["workload"], facts["clients"], facts["repetition"]) for facts in runs()}
    order = [[*place, list(FIRST if name.endswith("first") else LATER)] for name, place in blocks.items()]
    return {**record, "order": order, "blocks": list(blocks)}


def runs(plan: synthetic.Plan = PLAN) -> list[dict[str, Any]]:
    """Return the facts of all runs: the blocks of the first day, then those of the variant that was added."""
    made = list(_runs(plan))
    return [{**facts, "run_number": place, "runs_total": len(made)} for place, facts in enumerate(made, start=1)]


def _runs(plan: synthetic.Plan) -> Iterator[dict[str, Any]]:
    chance, now = random.Random(plan.seed), 1_760_000_000.0
    for arms, day, level in ((FIRST, "first", 0.0), (LATER, "later", SLOWER)):
        for repetition in range(1, plan.repetitions + 1):
            for workload in plan.workloads:
                for position, name in enumerate(arms, start=1):
                    cell = (plan.study, name, workload, plan.clients[0], repetition)
                    facts = one_run(Asked(*cell, plan.variants[name], level, plan.noise, now), chance)
                    now = facts["times"]["ended_at"] + 0.08
                    block = f"{workload}/{plan.clients[0]}/{repetition}/{day}"
                    recipe = {"variant": {"server": "mariadb-10.11", "build": name}}
                    facts |= {"block": block, "position": position, "recipe": recipe}
                    yield failed(facts) if (name, workload, repetition, arms) in LOST else facts
