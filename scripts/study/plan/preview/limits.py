"""Limits that a study would hit: of file systems, memory, open files, processes and connections."""

import resource
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from scripts.lib.host import machine_facts, machine_supplies, storage
from scripts.lib.host.machine_supplies import FILE_SYSTEM_ROOT, bounded, number_in, read_processes
from scripts.lib.recipe_models import Scalar
from scripts.lib.vocabulary import TURNS
from scripts.measure.loadgen import processes
from scripts.measure.servers import families
from scripts.measure.servers.families.family import Family
from scripts.measure.servers.families.server_supplies import SupplyDemand
from scripts.study.config.run_time import connections_each
from scripts.study.plan.block_layout import Block
from scripts.study.plan.memory_room import FEWEST_ARMS, OWN_PROCESSES, amount_text, fixed_mib, in_mib, options_of
from scripts.study.plan.preview.due import Due
from scripts.study.plan.preview.estimates import Sizes
from scripts.study.plan.preview.limit import FileSystemOf, MachineLimit
from scripts.study.plan.preview.supply_checks import Asking, supply_limits


@dataclass(frozen=True)
class Headroom:
    """MiB of memory, in all and to be had, `memory_limit` saying who leaves it; files one process may open, as it is
    and at most; processes, `process_limit` saying what limits them; connections that a socket keeps waiting. None: no
    limit. `left` are the supplies that servers share.
    """

    total_mib: float
    available_mib: float
    memory_limit: str
    open_files: int | None
    most_open_files: int | None
    processes: int | None
    process_limit: str = "`ulimit -u`"
    waiting: int | None = None
    left: machine_supplies.Left = field(default_factory=machine_supplies.Left)


def read_headroom(root: Path = FILE_SYSTEM_ROOT) -> Headroom:
    """Read the figures from /proc and /sys below `root`, and this process's own limits."""
    memory_mib = machine_facts.meminfo_mib(root)
    available_mib, who = memory_mib["MemAvailable"], "the machine"
    limit_mib = machine_facts.read_memory_limit_mib(root)
    if limit_mib is not None and limit_mib < available_mib:
        available_mib, who = limit_mib, "the cgroup's memory limit"
    open_files, most_open_files = map(bounded, resource.getrlimit(resource.RLIMIT_NOFILE))
    limit, processes = read_processes(root)
    waiting = number_in(root / "proc/sys/net/core/somaxconn")
    total_mib = memory_mib["MemTotal"]
    supplies = machine_supplies.read_left(root)
    return Headroom(total_mib, available_mib, who, open_files, most_open_files, processes, limit, waiting, supplies)


# What we connect with beside the load generator; files that are there without a client.
OWN_CONNECTIONS = 3
OWN_FILES = 50


def find_server_limits(due: Due, sizes: Sizes, headroom: Headroom, system: FileSystemOf) -> list[MachineLimit]:
    """Return the limits that the variants to be measured would hit; `system` returns the file system of a path."""
    variants = sorted({run.variant for run in due.runs.values()})
    demands = {variant: Demands(due, sizes, headroom, variant) for variant in variants}
    clients = max(run.clients for run in due.runs.values())
    connected = max(demand.connected for demand in demands.values())
    alike: dict[MachineLimit, list[str]] = {}
    for variant, demand in demands.items():
        for limit in [*demand.connections(), *demand.waiting()]:
            alike.setdefault(limit, []).append(variant)
    joined = [replace(limit, text=f"{limit.text} ({', '.join(those)})") for limit, those in alike.items()]
    groups = list(dict.fromkeys(group for _, group in block_groups(due)))
    asking = [[demands[name].asking() for name in group] for group in groups]
    return [
        *file_limits(clients, connected, [*demands.values()], headroom),
        *process_limits(clients, connected, max(map(len, groups)), headroom),
        *joined,
        *supply_limits(asking, headroom.left),
        *memory_limits([[demands[name] for name in group] for group in groups], headroom, system),
    ]


def block_groups(due: Due) -> Iterator[tuple[Block, tuple[str, ...]]]:
    """Yield (block, arms whose servers are up at the same time): all of a block, each alone by turns."""
    for block in due.blocks:
        together = due.paths.method(block.key).name != TURNS
        for group in [block.arms] if together else [(name,) for name in block.arms]:
            yield block, group


def memory_limits(groups: list[list["Demands"]], headroom: Headroom, system: FileSystemOf) -> Iterator[MachineLimit]:
    """Yield a limit for each group of servers, up at the same time, that needs more memory than there is."""
    alike: dict[MachineLimit, list[str]] = {}
    for group in groups:
        least_mib, most_mib = (sum(part) for part in zip(*(demand.memory_mib(system) for demand in group), strict=True))
        available_mib = headroom.available_mib
        if most_mib > available_mib:
            text = f"memory: up to {amount_text(most_mib)} needed, {headroom.memory_limit} leaves"
            pools = " or ".join(dict.fromkeys(demand.family.POOL_OPTION for demand in group))
            remedy = f"lower {pools}, rows or clients{', or `together`' if len(group) > FEWEST_ARMS else ''}"
            limit = MachineLimit(f"{text} {amount_text(available_mib)}", remedy, certain=least_mib > available_mib)
            names = ", ".join(demand.variant for demand in group)
            alike.setdefault(limit, []).append(f"{names} at the same time" if len(group) > 1 else names)
    for limit, those in alike.items():
        yield replace(limit, text=f"{limit.text} ({', '.join(those)})")


def file_limits(clients: int, connected: int, demands: list["Demands"], headroom: Headroom) -> Iterator[MachineLimit]:
    """Yield the limits on files of the load generator, and of servers that hold all connections in one process."""
    soft, hard = headroom.open_files, headroom.most_open_files
    carried = processes.client_parts(clients)[0]
    if soft is not None and (needed := carried * -(-connected // clients) + OWN_FILES) > soft:
        possible = hard is None or needed <= hard
        remedy = f"`ulimit -n {needed}` before starting" if possible else "raise the hard limit (nofile in limits.conf)"
        text = f"open files: a process may have {soft}, {carried} clients need {needed}"
        yield MachineLimit(text, remedy, certain=True, refused=True)
    tables = max(demand.family.TABLE_FILES for demand in demands)
    if tables and hard is not None and (needed := connected + tables) > hard:
        text = f"open files: at most {hard}, the server wants {needed} or grants fewer than {connected} connections"
        yield MachineLimit(text, "raise the hard limit (nofile in limits.conf)", certain=True, refused=True)


def process_limits(clients: int, connected: int, arms: int, headroom: Headroom) -> Iterator[MachineLimit]:
    """Yield the limit on processes: a client is a thread of the load generator, a connection one or a process of the
    server.

    The clients of `arms` servers are connected at the same time.
    """
    most, needed = headroom.processes, (clients + connected) * arms
    if most is not None and needed + OWN_PROCESSES > most:
        who = f"{clients} clients" if arms == 1 else f"{clients} clients of each of {arms} servers"
        text = f"processes: {most} may run, {who} need about {needed + OWN_PROCESSES}"
        certain = needed > most
        yield MachineLimit(text, f"raise {headroom.process_limit}", certain=certain, refused=certain)


@dataclass(frozen=True)
class Demands:
    """What one variant asks of a headroom."""

    due: Due
    sizes: Sizes
    headroom: Headroom
    variant: str

    @cached_property
    def family(self) -> Family:
        """Return the family of its server."""
        return families.of(self.due.paths.plan.variant(self.variant).family)

    @cached_property
    def clients(self) -> int:
        """Return its largest client count to be measured."""
        return max(run.clients for run in self.due.runs.values() if run.variant == self.variant)

    @cached_property
    def connected(self) -> int:
        """Return the most connections that its clients have at a time."""
        workloads = self.due.paths.plan.study.declared.workloads
        runs = [run for run in self.due.runs.values() if run.variant == self.variant]
        return max(run.clients * connections_each(workloads[run.workload]) for run in runs)

    @cached_property
    def options(self) -> dict[str, Scalar]:
        """Return its server options laid over its family's defaults, names written with `_`."""
        return options_of(self.due.paths.plan, self.variant, self.headroom.total_mib)

    def connections(self) -> Iterator[MachineLimit]:
        """Yield a limit if the server grants fewer connections than its clients need."""
        granted, needed = self.options.get("max_connections"), self.connected + OWN_CONNECTIONS
        if granted is not None and int(granted) < needed:
            text = f"max_connections: {granted} are granted, {self.clients} clients and ours need {needed}"
            yield MachineLimit(text, f"state `max_connections: {needed}` under `options`", certain=True, refused=True)

    def waiting(self) -> Iterator[MachineLimit]:
        """Yield a limit if more clients connect at a time than a socket queues: libpq does not block, and fails."""
        queue = self.headroom.waiting
        if self.family.CONNECTING_FAILS and queue is not None and self.clients > queue:
            text = f"waiting connections: net.core.somaxconn is {queue}, {self.clients} clients connect at a time"
            yield MachineLimit(text, f"`sysctl net.core.somaxconn={self.clients}`", certain=False)

    def asking(self) -> Asking:
        """Return what it asks of supplies that servers share."""
        plan, pool_mib = self.due.paths.plan, in_mib(self.options[self.family.POOL_OPTION], self.family.POOL_UNIT_BYTES)
        running = plan.is_running(plan.study.arms[self.variant].server)
        demand = SupplyDemand() if running else self.family.supplies(self.options)
        return Asking(self.variant, demand, pool_mib, self.family.HUGE_PAGES_OPTION)

    def memory_mib(self, system: FileSystemOf) -> tuple[float, float]:
        """Return the least and the most it takes: a pool fills with data only; a tmpfs holds the data once more."""
        own_mib = fixed_mib(self.family, self.clients)
        pool_mib = in_mib(self.options[self.family.POOL_OPTION], self.family.POOL_UNIT_BYTES)
        clones = [self.sizes.clone_mib(*group) for group in self.due.groups if group[0] == self.variant]
        least_mib, most_mib = max(clones, key=lambda clone: clone[1])
        folder = self.sizes.storage(self.variant)
        again = int(folder is not None and system(folder).name in ("tmpfs", "ramfs"))
        filled_mib = min(pool_mib, least_mib)
        return filled_mib + own_mib + again * least_mib, pool_mib + own_mib + again * most_mib


@dataclass(frozen=True)
class DiskDemand:
    """What would be on a file system at one time: `least_mib` is certain, `most_mib` includes what is estimated."""

    path: str
    what: str
    least_mib: float
    most_mib: float


def find_limits(
    due: Due, sizes: Sizes, headroom: Headroom, cache: str, system: FileSystemOf = storage.file_system_of
) -> list[MachineLimit]:
    """Return the limits that the due outputs would hit, certain ones first.

    `cache` is the folder of build trees and clones; `system` returns the file system of a path.
    """
    found_limits = list(disk_limits(due, sizes, cache, system))
    if due.runs:
        found_limits += find_server_limits(due, sizes, headroom, system)
    return sorted(found_limits, key=lambda limit: not limit.certain)


def disk_limits(due: Due, sizes: Sizes, cache: str, system: FileSystemOf) -> Iterator[MachineLimit]:
    """Yield a limit for each file system that is too small for what it would hold at one time."""
    demands: dict[int, list[DiskDemand]] = defaultdict(list)
    for demand in demanded(due, sizes, cache):
        demands[system(demand.path).number].append(demand)
    for sharing in demands.values():
        target, most_mib = system(sharing[0].path), sum(demand.most_mib for demand in sharing)
        if most_mib > target.free_mib:
            parts = ", ".join(f"{part.what} {amount_text(part.most_mib)}" for part in sharing if part.most_mib >= 1)
            folders = ", ".join(dict.fromkeys(part.path for part in sharing))
            free, needed = amount_text(target.free_mib), amount_text(most_mib)
            text = f"disk of {folders} ({target.name}): {free} free, up to {needed} needed"
            certain = sum(demand.least_mib for demand in sharing) > target.free_mib
            yield MachineLimit(f"{text} ({parts})", "make room there, or name another place in `storage`", certain)


def demanded(due: Due, sizes: Sizes, cache: str) -> Iterator[DiskDemand]:
    """Yield all that would be on disk at the same time: what is kept, one build tree, the clones of one block."""
    for name, size in sizes.kept().items():
        yield DiskDemand("results", name, size.least_mib, size.mib or 0)
    trees_mib = max((float(sizes.stated(thing.server).BUILD_MIB) for thing in due.of("build")), default=0.0)
    yield DiskDemand(cache, "a build tree", trees_mib / 2, trees_mib)
    clones: dict[str, list[DiskDemand]] = defaultdict(list)
    for group, workload in dict.fromkeys((group, block.key.workload) for block, group in block_groups(due)):
        for path in {sizes.storage(variant) or cache for variant in group}:
            clones_mib = [
                sizes.clone_mib(member, workload) for member in group if (sizes.storage(member) or cache) == path
            ]
            what = "a run's data directory" if len(clones_mib) == 1 else "the data directories of a block"
            clones[path].append(DiskDemand(path, what, *map(sum, zip(*clones_mib, strict=True))))
    for same_path in clones.values():
        yield max(same_path, key=lambda demand: demand.most_mib)
