"""Stub: writes the record of a run whose figures are made up from its place in the study.

Within a block every variant meets the same level of the machine; pgo has exactly 1.25 times the baseline's TPS, `other`
0.8 times, and aa a seeded noise of a tenth of a per cent.
"""

import math
import random
import time
from pathlib import Path

from scripts.jobs.stub import begin

from scripts import record
from scripts.host import outcome
from tests.made.run import SPEEDUP, Asked, failed, one_run

FACTOR = {"baseline": 1.0, "pgo": 1.25, "other": 0.8}


def made_up(place: dict) -> dict:
    """Return the facts of a run, the same every time it is measured."""
    block = [place[key] for key in ("workload", "clients", "repetition")]
    level = random.Random(f"level {block}").gauss(0, 0.05)
    chance = random.Random(f"{place['variant']} {block}")
    factor = FACTOR.get(place["variant"]) or math.exp(chance.gauss(0, 0.001))
    effect = math.log(factor) / math.log(SPEEDUP[place["workload"]])
    return one_run(Asked(place["study"], place["variant"], *block, effect, level, 0.0, 0.0), chance)


if __name__ == "__main__":
    started_at = time.time()
    job = begin()
    reason = outcome.first_reason([job.identity, *map(Path, job.place.pop("judged"))])
    identity = record.read(job.identity)
    server = {
        "name": identity["server"],
        **{key: identity.get(key) for key in ("family", "release", "build", "build_id")},
    }
    facts = {
        **made_up(job.place),
        **job.place,
        "recipe": job.recipe,
        "server": {**server, "sha256": identity.get("sha256")},
    }
    if reason:
        facts = {**failed(facts), **outcome.failure_facts(reason)}
    edges = {"window_started_at": started_at, "window_ended_at": time.time()}
    job.text.write_text("what sysbench would have printed\n")
    record.write(job.run, {**facts, "times": {"started_at": started_at, **edges, "ended_at": time.time()}})
