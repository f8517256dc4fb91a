"""Small studies as a user would write them, and their plans."""

import copy
from pathlib import Path
from typing import Any

from scripts.study.config.loading import load
from scripts.study.plan.recipes import Plan
from scripts.study.plan.schedule import Schedule

CHECKOUT = Path(__file__).parents[2]
SMALL: dict[str, Any] = {
    "study": "small",
    "title": "Two builds",
    "question": "Which is faster?",
    "variants": {
        "baseline": {"server": "postgresql-15", "build": "baseline"},
        "pgo": {"server": "postgresql-15", "build": "pgo"},
    },
    "reference": "baseline",
    "workloads": {"simple_select": None, "oltp": None},
    "clients": [8],
    "repetitions": 3,
    "warmup_s": 2,
    "measure_s": 5,
    "placement": "automatic",
    "seed": 1,
    "campaign": 1,
    "relinked": False,
}
PREBUILT_MARIADB = {"server": "mariadb-installed", "build": "prebuilt"}


def config(**changes: Any) -> dict[str, Any]:
    """Return the small study with some of its keys replaced."""
    return {**copy.deepcopy(SMALL), **changes}


def tiny(**changes: Any) -> dict[str, Any]:
    """Return a study that real servers finish in seconds: one run a variant on little data; its variants are given."""
    short = {"workloads": {"oltp": None}, "datasets": {"sbtest": {"tables": 2, "rows": 1000}}, "clients": [2]}
    return config(**{**short, "repetitions": 1, "warmup_s": 1, "measure_s": 3, **changes})


def plan(root: Path = CHECKOUT, **changes: Any) -> Plan:
    """Return the plan of the small study with some of its keys replaced."""
    return Plan(load(config(**changes), root, "small.yaml"), root)


def paths(root: Path = CHECKOUT, **changes: Any) -> Schedule:
    """Return the paths of the small study with some of its keys replaced."""
    return Schedule(plan(root, **changes))
