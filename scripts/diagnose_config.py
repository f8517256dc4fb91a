"""What `diagnose` of a config names, and what of that makes no sense."""

from collections.abc import Iterator
from typing import Any

from scripts.config_mistakes import Mistake

NAMING = ("variants", "workloads")


def named(config: dict[str, Any]) -> Iterator[tuple[tuple, Any, str]]:
    """Yield (key path, name, kind of the thing named) of every name under the key."""
    own = config.get("diagnose")
    for key in NAMING if isinstance(own, dict) else ():
        several = own.get(key)
        for place, name in enumerate(several if isinstance(several, list) else ()):
            yield ("diagnose", key, place), name, key


def mistakes(config: dict[str, Any], workloads: dict[str, dict[str, Any]]) -> Iterator[Mistake]:
    """Find workloads that cannot be looked into, of other studies or without a window; `workloads` are whole."""
    if "diagnose" not in config:
        return
    ours = config.get("workloads", {})
    for place, name in enumerate(config["diagnose"].get("workloads", ())):
        path = ("diagnose", "workloads", place)
        if name in workloads and name not in ours:
            yield Mistake(path, f"{name!r} is no workload of this study, expected one of {', '.join(ours)}")
        elif "sql" in workloads.get(name, {}):
            yield Mistake(path, f"{name!r} is timed SQL, which has no window to look into, expected one with a script")
    if ours and all("sql" in workloads.get(name, {}) for name in ours):
        yield Mistake(("diagnose",), "all workloads are timed SQL, which has no window to look into, expected another")
