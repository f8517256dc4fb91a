"""A made-up study with markup in every text from outside, names included, and what a terminal obeys in all others."""

import json
import warnings
from pathlib import Path
from typing import Any

from scripts.lib.vocabulary import AA
from tests.made import synthetic
from tests.made.rendering import rendered

MARKUP = "<img src=x onerror=alert(1)></script><b id=odd>\"'&amp;&{{7*7}}"
MARK = f"{MARKUP}\x1b[2J\x9bm\x07\x00\u202e"
# A name is printable, and a workload's is part of a file's.
NAME_MARK = MARKUP.replace("/", "")
# What the workflow itself writes from a closed list and decides on.
KEPT = {"outcome", "stage", "kind", "family", "tool", "mode", "origin_kind"}
KEYS_FROM_OUTSIDE = {"options", "variables"}
NAMED_BY_KEY = {"variants", "workloads", "datasets", "trainings", "builds", "trained_on"}
PLAN = synthetic.Plan(
    variants={"baseline": 0.0, "aa": 0.0, "lto": 0.2, "pgo": 0.9, "pgo_lto": 1.0, "as_published": 0.0},
    workloads=("simple_select", "oltp"),
    clients=(1, 8),
    failures=frozenset([("pgo", "oltp", 8, 1)]),
)


def names(study: dict[str, Any]) -> set[str]:
    """Return every name the records of a study refer to each other by; A/A's is the workflow's own."""
    return set().union(*(study.get(kind) or {} for kind in NAMED_BY_KEY)) - {AA}


def spoil(value: Any, named: set[str], key: str = "") -> Any:
    """Return a record with markup at the end of every text, the same for equal texts."""
    match value:
        case dict():
            return {_key(name, named, key): spoil(inner, named, name) for name, inner in value.items()}
        case list():
            return [spoil(inner, named, key) for inner in value]
        case str() if key in KEPT or value == AA:
            return value
        case str():
            return value + (NAME_MARK if value in named else MARK)
    return value


def _key(name: str, named: set[str], within: str) -> str:
    if within in KEYS_FROM_OUTSIDE:
        return name + MARK
    return name + NAME_MARK if within in NAMED_BY_KEY and name in named else name


def report(root: Path) -> tuple[synthetic.Tree, str, str]:
    """Make the report of the spoilt study; returns its tree, page and summary."""
    named = names(json.loads(json.dumps(synthetic.study(PLAN))))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "constrained_layout")  # names longer than a figure
        return rendered(PLAN, root, lambda record: spoil(record, named))
