"""How much memory the servers of a block take that are up at the same time, and how many of them fit."""

import re
from pathlib import Path

from scripts.lib.host import machine_facts
from scripts.lib.recipe_models import Scalar
from scripts.measure.loadgen import slice_gate
from scripts.measure.servers import families
from scripts.measure.servers.families.family import Family
from scripts.study.config.run_time import connections_each, rows_of
from scripts.study.plan.recipes import Plan

MIB = 2**20
# A client of sysbench: its Lua state, its stack and what its driver keeps.
CLIENT_MIB = 0.5
SIZE_TEXT = re.compile(r"(\d+)\s*([KMGT]?)i?B?", re.IGNORECASE)
# The rest is left to the machine and to the page cache.
USABLE_SHARE = 0.8
# The reference, the reference a second time, and a variant.
FEWEST_ARMS = 3
# Processes that are there without a client.
OWN_PROCESSES = 100


def in_mib(value: Scalar, unit_bytes: int) -> float:
    """Return a size option such as 4096M, 128MB or a number of bare units in MiB; 0 for what the server will refuse."""
    if not (size := SIZE_TEXT.fullmatch(str(value))):
        return 0
    factor = 1024 ** " KMGT".index(size[2].upper()) if size[2] else unit_bytes
    return int(size[1]) * factor / MIB


def amount_text(mib: float) -> str:
    """Return a size in the unit a person would use."""
    return f"{mib:.0f} MiB" if mib < 10 * 1024 else f"{mib / 1024:.0f} GiB"


def options_of(plan: Plan, variant: str, memory_mib: float) -> dict[str, Scalar]:
    """Return a variant's server options laid over its family's defaults, names written with `_`."""
    defaults = families.of(plan.variant(variant).family).default_options(round(memory_mib))
    return {**defaults, **{name.replace("-", "_"): value for name, value in plan.options(variant).items()}}


def fixed_mib(family: Family, clients: int) -> float:
    """Return the MiB that a server with its clients takes besides its pool, those of sysbench and its gate included."""
    gate_mib = slice_gate.file_bytes(clients) / MIB
    return family.BASE_MIB + clients * (family.CONNECTION_MIB + CLIENT_MIB) + gate_mib


def arm_mib(plan: Plan, variant: str, workload: str, clients: int, memory_mib: float) -> float:
    """Return the MiB that an arm takes: its pool, which fills with data only, and what is fixed.

    Of a server that already runs these are its clients alone.
    """
    family = families.of(plan.variant(variant).family)
    parts = plan.dataset_parts(variant, workload)
    if plan.is_running(parts.server):
        return clients * CLIENT_MIB + slice_gate.file_bytes(clients) / MIB
    pool_mib = in_mib(options_of(plan, variant, memory_mib)[family.POOL_OPTION], family.POOL_UNIT_BYTES)
    if rows := rows_of(plan.loads.tables(parts.dataset, parts.data)):
        pool_mib = min(pool_mib, family.EMPTY_MIB + rows * family.ROW_BYTES / MIB)
    return pool_mib + fixed_mib(family, clients)


def usable_mib(root: Path = Path("/")) -> float:
    """Return the MiB of this machine, or of this process's cgroup, that servers may take."""
    limit_mib = machine_facts.read_memory_limit_mib(root)
    total_mib = machine_facts.meminfo_mib(root)["MemTotal"]
    return USABLE_SHARE * (total_mib if limit_mib is None else min(total_mib, limit_mib))


def arms_by_processes(plan: Plan, workload: str, clients: int, most: int | None) -> int | None:
    """Return of how many arms of a block all clients can be connected where `most` processes may run; None: no limit.

    A client is a thread of sysbench, each of its connections a thread or a process of the server.
    """
    if most is None:
        return None
    load = plan.study.declared.workloads[workload]
    return max(most - OWN_PROCESSES, 0) // (clients * (1 + connections_each(load)))


def fitting_arms(plan: Plan, workload: str, clients: int, memory_mib: float) -> int:
    """Return how many arms of a block fit into `memory_mib` at the same time, each as large as the largest."""
    machine_mib = memory_mib / USABLE_SHARE
    largest_mib = max(arm_mib(plan, name, workload, clients, machine_mib) for name in plan.study.arms)
    return int(memory_mib // largest_mib)
