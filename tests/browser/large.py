"""Made-up studies of many runs, each record as long as a real one: a minute of seconds, a histogram, all variables."""

import random
from collections.abc import Iterator
from typing import Any

from tests.made import synthetic

# runs -> variants with the reference's second one, client counts, repetitions; four workloads in each
SHAPES = {500: (5, (1, 4, 8, 16, 32), 5), 10_000: (10, (1, 4, 8, 16, 32), 50)}
BUILDS = ("baseline", "aa", "pgo", "lto", "pgo_lto", "pgo_lto_bolt", "o3", "native", "pgo_read", "pgo_write")
SECONDS, BINS, VARIABLES, OPTIONS = 60, 90, 350, 12
PLACE = "/srv/measured/here/results/builds/mariadb-10.11/{build}-0123456789ab/install/bin/mariadbd"


def plan(runs: int) -> synthetic.Plan:
    """Return the plan of a study of so many runs; every fortieth of them fails."""
    arms, clients, repetitions = SHAPES[runs]
    gains = {name: 0.1 * place for place, name in enumerate(BUILDS[:arms]) if name != "aa"} | {"aa": 0.0}
    whole = synthetic.Plan(study="large", variants=gains, clients=clients, repetitions=repetitions, title="Large")
    planned = [(name, *block[:3]) for block in synthetic.study(whole)["order"] for name in block[3]]
    return synthetic.Plan(**{**whole.__dict__, "failures": frozenset(planned[::40])})


def runs(large: synthetic.Plan) -> Iterator[dict[str, Any]]:
    """Yield the facts of every run of a plan, at full length."""
    chance = random.Random(3)
    return (facts if facts["outcome"] != "ok" else at_length(facts, chance) for facts in synthetic.runs(large))


def at_length(facts: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """Return a run's facts with everything as long as in a study of a minute a run on a real server."""
    rate, p95_ms = facts["window"]["tps"], facts["window"]["p95_ms"]
    seconds = range(1, SECONDS + 1)
    series = {
        "second": list(seconds),
        "tps": [round(rate * chance.gauss(1, 0.03), 2) for _ in seconds],
        "qps": [round(rate * 20 * chance.gauss(1, 0.03), 2) for _ in seconds],
        "p95_ms": [round(p95_ms * chance.gauss(1, 0.05), 2) for _ in seconds],
        "errors_per_s": [0.0] * SECONDS,
    }
    bins = {
        "latency_ms": [round(p95_ms * 1.018**place / 2, 3) for place in range(BINS)],
        "count": [1 + round(90_000 * chance.random()) for _ in range(BINS)],
    }
    load = [f"--some-option-of-the-load-{place}=value-{place}" for place in range(OPTIONS)]
    commands = {name: [*argv, *load] for name, argv in facts["commands"].items()}
    commands["server"][0] = PLACE.format(build=facts["server"]["build"])
    variables = {f"a_variable_of_the_server_{place}": f"value {place}" for place in range(VARIABLES)}
    return facts | {"series": series, "histogram": bins, "commands": commands, "variables": variables}
