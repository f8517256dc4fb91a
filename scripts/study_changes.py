"""What differs between two finished studies, and which of it forbids to call a ratio of the two a speedup."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from scripts.finished_study import Finished
from scripts.origin_details import HOST
from scripts.tables import fact
from scripts.wording import NOTHING

UNTOLD = ("format", "study", "title", "question", "config_text", "order", "published", "imported")
UNKNOWN = "unknown"
MACHINE = {"host": "host.machine_id", **{f"host, {HOST[key]}": f"host.{key}" for key in HOST if key != "hostname"}}
EVERYWHERE = {
    **MACHINE,
    "sysbench": "sysbench.version",
    "sysbench program": "sysbench.sha256",
    "seconds of warm-up": "recipe.load.warmup_s",
    "seconds of measuring": "recipe.load.measure_s",
    "placement, server": "placement.server_cpus",
    "placement, sysbench": "placement.client_cpus",
}
OF_WORKLOAD = {
    "script": "recipe.load.script",
    "dataset": "recipe.load.tables",
    "workload options": "recipe.load.options",
}
OF_VARIANT = {"server options": "recipe.variant.options", "storage": "storage"}
# A log of sysbench never tells these; that it does not is a difference in itself.
MUST_BE_KNOWN = {"host", "sysbench", "seconds of warm-up", "dataset", "server options", "placement, server"}
OF_BUILD = {
    "release": "release", "build-id": "build_id", "compiler": "toolchain.version", "flags, common": "flags.common",
    "flags, profile": "flags.profile", "flags, LTO": "flags.lto", "flags, link": "flags.link",
}  # fmt: skip


@dataclass(frozen=True)
class Change:
    """One thing that is not the same, as text on both sides."""

    what: str
    a: str
    b: str


def config(a: Finished, b: Finished) -> list[Change]:
    """Return what differs between the two resolved configs, leaf by leaf; what one lacks altogether is one line."""
    sides = [{key: value for key, value in each.study.items() if key not in UNTOLD} for each in (a, b)]
    return list(_leaves(*sides, ""))


def _leaves(a: Any, b: Any, at: str) -> Iterator[Change]:
    if isinstance(a, dict) and isinstance(b, dict):
        for key in dict.fromkeys([*a, *b]):
            yield from _leaves(a.get(key), b.get(key), f"{at}.{key}" if at else str(key))
    elif a != b:
        yield Change(at, *(NOTHING if value is None else _text(value) for value in (a, b)))


def _differing(a: dict[str, str], b: dict[str, str]) -> list[Change]:
    return [Change(key, a[key], b[key]) for key in a if a[key] != b[key]]


def _text(value: Any) -> str:
    match value:
        case None:
            return UNKNOWN
        case bool():
            return "on" if value else "off"
        case list():
            return " ".join(map(_text, value)) or "none"
        case dict():
            return ", ".join(f"{key} {_text(inner)}" for key, inner in value.items()) or "none"
    return str(value)


@dataclass(frozen=True)
class Refusals:
    """Differences that forbid to call B over A a speedup: in every cell, by variant, and by workload."""

    everywhere: list[Change]
    of_variant: dict[str, list[Change]]
    of_workload: dict[str, list[Change]]

    def load(self, variant: str, workload: str) -> list[Change]:
        """Return the differences in what was run: load, server options, storage."""
        return [*self.of_workload.get(workload, []), *self.of_variant[variant]]

    def of(self, variant: str, workload: str) -> list[Change]:
        """Return all differences of a cell."""
        return [*self.everywhere, *self.load(variant, workload)]

    def kinds(self) -> list[str]:
        """Return what differs in a word each: all that differs of a host is the host."""
        local = [
            change for part in (self.of_workload, self.of_variant) for changes in part.values() for change in changes
        ]
        return list(dict.fromkeys(change.what.partition(",")[0] for change in [*self.everywhere, *local]))

    def named(self) -> list[Change]:
        """Return every difference once, those of a variant or workload with its name."""
        local = [
            (name, change) for part in (self.of_workload, self.of_variant) for name in part for change in part[name]
        ]
        return [*self.everywhere, *(replace(change, what=f"{name}: {change.what}") for name, change in local)]


def refusals(a: Finished, b: Finished, shared: dict[str, list[tuple[str, int]]]) -> Refusals:
    """Return the differences of host, sysbench and settings; `shared` holds the cells both have, by variant."""
    workloads = dict.fromkeys(workload for cells in shared.values() for workload, _ in cells)
    return Refusals(
        _settings(a, b, EVERYWHERE),
        {name: _settings(a, b, OF_VARIANT, variant=name) for name in shared},
        {name: _settings(a, b, OF_WORKLOAD, workload=name) for name in workloads},
    )


def _settings(a: Finished, b: Finished, places: dict[str, str], **wanted: str) -> list[Change]:
    found = {what: (a.found(where, **wanted), b.found(where, **wanted)) for what, where in places.items()}
    return [
        Change(what, _several(ours), _several(theirs))
        for what, (ours, theirs) in found.items()
        if ours != theirs or (what in MUST_BE_KNOWN and "null" in ours)
    ]


def _several(values: frozenset[str]) -> str:
    return "; ".join(sorted(_text(json.loads(value)) for value in values)) or UNKNOWN


def builds(a: Finished, b: Finished) -> list[Change]:
    """Return the differences between the builds of variants both have, and between the servers' releases."""
    shared = [name for name in a.variants if name in b.variants]
    sides = [{f"{name}: {key}": text for name in shared for key, text in _build(each, name).items()} for each in (a, b)]
    return _differing(*sides)


def _build(study: Finished, variant: str) -> dict[str, str]:
    arm = study.study["variants"][variant]
    facts = study.builds.get((arm["server"], arm["build"]), {})
    told = {what: _text(fact(facts, where)) for what, where in OF_BUILD.items()}
    measured = {"release": "server.release", "build-id": "server.build_id"}
    said = {what: _several(study.found(where, variant=variant)) for what, where in measured.items()}
    return {"server": _text(arm["server"]), "build": _text(arm["build"]), **told, **said}


def times(a: Finished, b: Finished) -> list[Change]:
    """Return boots and dates of the two."""
    boots = [_several(each.found("host.boot_id")) for each in (a, b)]
    return [Change("measured", *map(dates, (a, b))), *([Change("boot", *boots)] if boots[0] != boots[1] else [])]


def dates(study: Finished) -> str:
    """Return when a study was measured, from the first start to the last end."""
    runs = study.tables["runs"]
    ends = (pd.to_datetime(runs["started_at"].min(), unit="s"), pd.to_datetime(runs["ended_at"].max(), unit="s"))
    return UNKNOWN if any(map(pd.isna, ends)) else f"{ends[0]:%Y-%m-%d %H:%M} to {ends[1]:%Y-%m-%d %H:%M} UTC"
