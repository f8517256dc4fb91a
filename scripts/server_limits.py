"""What servers and the load generator need of a machine: memory, open files, processes, connections."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from scripts import families, sysbench_many
from scripts.due import Due
from scripts.headroom import Headroom, Limit
from scripts.sizes import MIB, Sizes, amount

# What we connect with beside the load generator; files and processes that are there without a client.
OWN_CONNECTIONS = 3
OWN_FILES = 50
OWN_PROCESSES = 100
# A client of sysbench: its Lua state, its stack and what its driver keeps.
CLIENT_MIB = 0.5
SIZE = re.compile(r"(\d+)\s*([KMGT]?)i?B?", re.IGNORECASE)


@dataclass(frozen=True)
class Needs:
    """Of a family: the option that sizes its pool and that option's bare unit in bytes; MiB of a server without its
    pool and of each connection; files an InnoDB server keeps for tables before it grants connections.
    """

    pool: str
    unit_bytes: int
    base_mib: float
    connection_mib: float
    table_files: int


FAMILIES = {
    "mariadb": Needs("innodb_buffer_pool_size", 1, 150, 0.5, 810),
    "mysql": Needs("innodb_buffer_pool_size", 1, 400, 0.5, 810),
    "postgresql": Needs("shared_buffers", 8192, 50, 5, 0),
}


def find(due: Due, sizes: Sizes, headroom: Headroom, system: Callable) -> list[Limit]:
    """Return the limits that the variants to be measured would hit; `system` tells the file system of a path."""
    demands = [Demands(due, sizes, headroom, variant) for variant in sorted({run.variant for run in due.runs.values()})]
    clients = max(run.clients for run in due.runs.values())
    alike: dict[Limit, list[str]] = {}
    for demand in demands:
        for limit in [*demand.connections(), *demand.waiting(), *demand.memory(system)]:
            alike.setdefault(limit, []).append(demand.variant)
    told = [replace(limit, text=f"{limit.text} ({', '.join(variants)})") for limit, variants in alike.items()]
    return [*files(clients, demands, headroom), *processes(clients, headroom), *told]


def files(clients: int, demands: list["Demands"], headroom: Headroom) -> Iterator[Limit]:
    """Yield what the load generator cannot open, and what servers that hold every connection themselves cannot."""
    soft, hard = headroom.open_files, headroom.most_open_files
    carried = sysbench_many.parts(clients)[0]
    if soft is not None and (needed := carried + OWN_FILES) > soft:
        possible = hard is None or needed <= hard
        remedy = f"`ulimit -n {needed}` before starting" if possible else "raise the hard limit (nofile in limits.conf)"
        text = f"open files: a process may have {soft}, {carried} clients need {needed}"
        yield Limit(text, remedy, certain=True, refused=True)
    tables = max(demand.family.table_files for demand in demands)
    if tables and hard is not None and (needed := clients + tables) > hard:
        text = f"open files: at most {hard}, the server wants {needed} or grants fewer than {clients} connections"
        yield Limit(text, "raise the hard limit (nofile in limits.conf)", certain=True, refused=True)


def processes(clients: int, headroom: Headroom) -> Iterator[Limit]:
    """Yield what cannot be started: a client is a thread of the load generator, and one or a process of the server."""
    most = headroom.processes
    if most is not None and 2 * clients + OWN_PROCESSES > most:
        text = f"processes: {most} may run, {clients} clients need about {2 * clients + OWN_PROCESSES}"
        certain = 2 * clients > most
        yield Limit(text, f"raise {headroom.process_limit}", certain=certain, refused=certain)


@dataclass(frozen=True)
class Demands:
    """What one variant asks of a headroom."""

    due: Due
    sizes: Sizes
    headroom: Headroom
    variant: str

    @cached_property
    def family(self) -> Needs:
        """Return what its family needs."""
        return FAMILIES[self.due.paths.plan.variant(self.variant)["family"]]

    @cached_property
    def module(self) -> families.Family:
        """Return the module that knows its family."""
        return families.of(self.due.paths.plan.variant(self.variant)["family"])

    @cached_property
    def clients(self) -> int:
        """Return its largest client count to be measured."""
        return max(run.clients for run in self.due.runs.values() if run.variant == self.variant)

    @cached_property
    def options(self) -> dict[str, Any]:
        """Return its server options laid over its family's defaults, names written with `_`."""
        plan = self.due.paths.plan
        defaults = self.module.default_options(round(self.headroom.total_mib))
        return {**defaults, **{name.replace("-", "_"): value for name, value in plan.options(self.variant).items()}}

    def connections(self) -> Iterator[Limit]:
        """Yield that the server grants fewer connections than there are clients."""
        granted, needed = self.options.get("max_connections"), self.clients + OWN_CONNECTIONS
        if granted is not None and int(granted) < needed:
            text = f"max_connections: {granted} are granted, {self.clients} clients and ours need {needed}"
            yield Limit(text, f"state `max_connections: {needed}` under `options`", certain=True, refused=True)

    def waiting(self) -> Iterator[Limit]:
        """Yield that fewer connections may wait at a socket than come at a time: libpq, which does not block, fails."""
        kept = self.headroom.waiting
        if self.module.SYSBENCH_DRIVER == "pgsql" and kept is not None and self.clients > kept:
            text = f"waiting connections: net.core.somaxconn is {kept}, {self.clients} clients connect at a time"
            yield Limit(text, f"`sysctl net.core.somaxconn={self.clients}`", certain=False)

    def memory(self, system: Callable) -> Iterator[Limit]:
        """Yield that it needs more memory than there is."""
        least_mib, most_mib = self.memory_mib(system)
        available_mib, what = self.headroom.available_mib, self.headroom.memory_limit
        if most_mib > available_mib:
            text = f"memory: up to {amount(most_mib)} needed, {what} leaves {amount(available_mib)}"
            yield Limit(text, f"lower {self.family.pool}, rows or clients", certain=least_mib > available_mib)

    def memory_mib(self, system: Callable) -> tuple[float, float]:
        """Return the least and the most it takes: a pool fills with data only; a tmpfs holds the data once more."""
        fixed_mib = self.family.base_mib + self.clients * (self.family.connection_mib + CLIENT_MIB)
        pool_mib = in_mib(self.options[self.family.pool], self.family.unit_bytes)
        clones = [self.sizes.clone_mib(*group) for group in self.due.groups if group[0] == self.variant]
        least_mib, most_mib = max(clones, key=lambda clone: clone[1])
        folder = self.sizes.storage(self.variant)
        again = int(bool(folder) and system(folder).name in ("tmpfs", "ramfs"))
        return min(pool_mib, least_mib) + fixed_mib + again * least_mib, pool_mib + fixed_mib + again * most_mib


def in_mib(value: Any, unit_bytes: int) -> float:
    """Return a size option such as 4096M, 128MB or a number of bare units in MiB; 0 for what the server will refuse."""
    if not (found := SIZE.fullmatch(str(value))):
        return 0
    factor = 1024 ** " KMGT".index(found[2].upper()) if found[2] else unit_bytes
    return int(found[1]) * factor / MIB
