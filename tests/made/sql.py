"""Made-up runs of timed SQL: a made-up sysbench study whose workload `oltp` sends statements instead."""

import random

from tests.made import synthetic

PLAN = synthetic.Plan(workloads=("oltp",), clients=(1,))
SECONDS = {"count": 4.0, "join": 1.0, "group": 0.25, "rebuild": 0.0625}
NO_ROWS = ("rebuild",)
WARM = 0.5
SHOWN = {"pass": 1, "name": "size of <t>", "columns": ["rows", "free"], "rows": [["10", None]]}
PUBLISHED = [
    {"metric": f"cold_s/{name}", "variant": "paper", "workload": "oltp", "clients": 1, "value": value}
    for name, value in {"group": 30.0, "join": 80.0}.items()
]
GONE = ("series", "histogram")


def timed(effect=0.5, answers=None, skipped=None, shown=(SHOWN,)):
    """Return an edit that turns the records of `oltp` into timed SQL, pgo taking `effect` of the others' time.

    `answers` gives another answer by (variant, statement), `skipped` holds pairs of variants and statements not
    sent, `shown` the answers that are shown.
    """

    def edit(facts):
        if "variants" in facts and "workloads" in facts:
            loads = {**facts["workloads"], "oltp": {"sql": "q.sql", "dataset": "sbtest"}}
            return {**facts, "workloads": loads, "published": {"source": "a paper", "rows": PUBLISHED}}
        if facts.get("workload") != "oltp" or facts.get("outcome") != "ok":
            return facts
        kept = {key: value for key, value in facts.items() if key not in GONE}
        window = {"duration_s": facts["window"]["duration_s"]}
        told = {**_sql(facts, effect, answers or {}, skipped or ()), "shown": list(shown)}
        return {**kept, "window": window, "page_cache": {"left_bytes": 0}, "timed_sql": told}

    return edit


def _sql(facts, effect, answers, skipped):
    variant, chance = facts["variant"], random.Random(f"{facts['variant']}/{facts['repetition']}")
    names = [name for name in SECONDS if (variant, name) not in skipped]
    factor = effect if variant == "pgo" else 1.0
    executions = [
        {
            "pass": number,
            "statement": name,
            "rows": None if name in NO_ROWS else 3,
            "answer_sha256": None if name in NO_ROWS else answers.get((variant, name), "5a" * 32),
            "seconds": SECONDS[name] * factor * (WARM if number > 1 else 1) * chance.gauss(1, 0.01),
            "server_cpu_s": 0.1,
            "read_bytes": 4096,
            "write_bytes": None,
        }
        for number in (1, 2)
        for name in names
    ]
    against = {"group": "join"}
    return {
        "statements": [
            {"kind": "name", "name": name, "text": f"SELECT '<b>{name}</b>'", "against": against.get(name, "")}
            for name in names
        ],
        "skipped": [name for name in SECONDS if name not in names],
        "executions": executions,
    }
