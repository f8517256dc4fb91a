"""Limits a study would hit, told before it hits them; those of file systems here, those of servers beside."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from scripts import file_systems, server_limits
from scripts.due import Due
from scripts.headroom import Headroom, Limit
from scripts.sizes import Sizes, amount


@dataclass(frozen=True)
class Demand:
    """What would be on a file system at one time: `least_mib` is certain, `most_mib` includes what is estimated."""

    path: str
    what: str
    least_mib: float
    most_mib: float


def find(due: Due, sizes: Sizes, headroom: Headroom, cache: str, system: Callable = file_systems.of) -> list[Limit]:
    """Return the limits that what is due would hit, those that are certain first.

    `cache` is the folder of build trees and clones; `system` tells the file system of a path.
    """
    found = list(disk(due, sizes, cache, system))
    if due.runs:
        found += server_limits.find(due, sizes, headroom, system)
    return sorted(found, key=lambda limit: not limit.certain)


def disk(due: Due, sizes: Sizes, cache: str, system: Callable) -> Iterator[Limit]:
    """Yield the file systems that are too small for what they would have to hold at the same time."""
    demands: dict[int, list[Demand]] = defaultdict(list)
    for demand in demanded(due, sizes, cache):
        demands[system(demand.path).number].append(demand)
    for asked in demands.values():
        place, most_mib = system(asked[0].path), sum(demand.most_mib for demand in asked)
        if most_mib > place.free_mib:
            parts = ", ".join(f"{one.what} {amount(one.most_mib)}" for one in asked if one.most_mib >= 1)
            folders = ", ".join(dict.fromkeys(one.path for one in asked))
            text = f"disk of {folders} ({place.name}): {amount(place.free_mib)} free, up to {amount(most_mib)} needed"
            certain = sum(demand.least_mib for demand in asked) > place.free_mib
            yield Limit(f"{text} ({parts})", "make room there, or name another place in `storage`", certain)


def demanded(due: Due, sizes: Sizes, cache: str) -> Iterator[Demand]:
    """Yield all that would be on disk at the same time: what is kept, one build tree, one clone in each storage."""
    for name, size in sizes.kept().items():
        yield Demand("results", name, size.least_mib, size.mib)
    trees_mib = max((sizes.stated(thing.server).build_mib for thing in due.of("build")), default=0)
    yield Demand(cache, "a build tree", trees_mib / 2, trees_mib)
    clones: dict[str, list[Demand]] = defaultdict(list)
    for variant, workload in due.groups:
        path = sizes.storage(variant) or cache
        clones[path].append(Demand(path, "a run's data directory", *sizes.clone_mib(variant, workload)))
    for asked in clones.values():
        yield max(asked, key=lambda demand: demand.most_mib)
