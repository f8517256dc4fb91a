"""Stub: writes the records of a block whose figures are made up from its place in the study.

Within a block every variant meets the same level of the machine; pgo has exactly 1.25 times the baseline's TPS, `other`
0.8 times, and aa a seeded noise of a tenth of a per cent.
"""

import math
import random
import time
from pathlib import Path

from scripts.jobs.stub import begin

from scripts.lib import json_record
from scripts.lib.host import outcome
from scripts.measure.engine import planned
from scripts.measure.engine.planned import PlannedArm
from scripts.measure.engine.programs import with_programs
from tests.made.run import SPEEDUP, Asked, failed, one_run

FACTOR = {"baseline": 1.0, "pgo": 1.25, "other": 0.8}


def made_up(context: dict) -> dict:
    """Return the facts of a run, the same every time it is measured."""
    block = [context[key] for key in ("workload", "clients", "repetition")]
    level = random.Random(f"level {block}").gauss(0, 0.05)
    chance = random.Random(f"{context['variant']} {block}")
    factor = FACTOR.get(context["variant"]) or math.exp(chance.gauss(0, 0.001))
    effect = math.log(factor) / math.log(SPEEDUP[context["workload"]])
    return one_run(Asked(context["study"], context["variant"], *block, effect, level, 0.0, 0.0), chance)


def write_arm(arm: PlannedArm, block: Path) -> dict:
    """Write the record and the text of an arm; returns what block.json lists of it."""
    started_at, context = time.time(), json_record.dump(arm.context)
    reason = outcome.first_reason([Path(arm.identity), *map(Path, context.pop("judged"))])
    identity = json_record.read(Path(arm.identity))
    names = ("family", "release", "build", "build_id", "sha256")
    server = {"name": identity["server"], **{name: identity.get(name) for name in names}}
    facts = {
        **made_up(context),
        **context,
        "recipe": arm.recipe.dump(),
        "server": server,
        "sliced": {"method": "turns"},
    }
    if reason:
        facts = {**failed(facts), **outcome.failure_facts(reason)}
    edges = {"window_started_at": started_at, "window_ended_at": time.time()}
    block.with_name(f"{arm.name}.txt").write_text("what sysbench would have printed\n")
    times = {"started_at": started_at, **edges, "ended_at": time.time()}
    json_record.write(block.with_name(f"{arm.name}.json"), {**facts, "times": times})
    sums = {"json": json_record.file_sha256(block.with_name(f"{arm.name}.json"))}
    return {"digest": arm.digest, "outcome": facts["outcome"], "sha256": sums}


if __name__ == "__main__":
    job = begin()
    for described in map(with_programs, planned.read(job.plan, job.block.parent)):
        block = Path(described.folder, job.block.name)
        block.parent.mkdir(parents=True, exist_ok=True)
        names = {name: getattr(described, name) for name in ("workload", "clients", "repetition", "method", "why")}
        arms = {arm.name: write_arm(arm, block) for arm in described.arms}
        json_record.write(block, {**names, "arms": arms, "wall_s": 10.0})
