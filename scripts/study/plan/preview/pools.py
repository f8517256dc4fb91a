"""Data and the buffer pools of servers: what a pool can hold is read into it at each start."""

from collections import defaultdict
from dataclasses import dataclass

from scripts.lib.host.machine_facts import meminfo_mib
from scripts.measure.engine.buffer_pool import NEVER
from scripts.measure.servers import families
from scripts.study.config.run_time import rows_of
from scripts.study.plan.memory_room import MIB, amount_text, in_mib, options_of
from scripts.study.plan.methods import has_running_server
from scripts.study.plan.preview.due import Due
from scripts.study.plan.recipes import Plan

# A disk of 200 MiB/s. From the page cache, MySQL read 1200 to 1460 MiB/s and PostgreSQL 126 (2 CPUs, small tables).
READ_MIB_PER_S = 200


@dataclass(frozen=True)
class Need:
    """MiB of the tables of one load and of the pool of one variant's server."""

    tables_mib: float
    pool_mib: float

    @property
    def fits(self) -> bool:
        """Whether the pool holds the tables."""
        return self.tables_mib <= self.pool_mib


def need(plan: Plan, variant: str, workload: str, total_mib: float) -> Need | None:
    """Return what is needed, None for a load whose data are not read into the pool: timed SQL and `fill: false`.

    `total_mib` is the machine's memory, from which families derive the default of their pool. Rows that are not
    declared count as none.
    """
    parts, family = plan.dataset_parts(variant, workload), families.of(plan.variant(variant).family)
    if plan.study.declared.workloads[workload].sql or plan.load(variant, workload).fill == NEVER:
        return None
    tables = plan.loads.tables(parts.dataset, parts.data)
    pool_mib = in_mib(options_of(plan, variant, total_mib)[family.POOL_OPTION], family.POOL_UNIT_BYTES)
    return Need(rows_of(tables) * family.ROW_BYTES / MIB, pool_mib)


def needs(due: Due, total_mib: float | None = None) -> dict[tuple[str, str], Need]:
    """Return what each variant and workload of the runs to be measured needs; nothing of servers that already run."""
    plan, total_mib = due.paths.plan, total_mib or meminfo_mib()["MemTotal"]
    if has_running_server(plan):
        return {}
    pairs = dict.fromkeys((run.variant, run.workload) for run in due.runs.values())
    need_of = {pair: need(plan, *pair, total_mib) for pair in pairs}
    return {pair: pair_need for pair, pair_need in need_of.items() if pair_need}


def beyond_pool(due: Due, total_mib: float | None = None) -> list[str]:
    """Return one text per dataset and size of a pool that it exceeds, by the runs to be measured."""
    exceeding: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for (variant, workload), pool_need in needs(due, total_mib).items():
        if not pool_need.fits:
            dataset = due.paths.plan.study.declared.workloads[workload].dataset
            exceeding[dataset, amount_text(pool_need.tables_mib), amount_text(pool_need.pool_mib)].append(variant)
    return [
        f"{dataset} takes about {needed}, the buffer pool of {', '.join(dict.fromkeys(names))} holds {pool}: "
        "loads read from storage (`fill: false` if that is meant)"
        for (dataset, needed, pool), names in exceeding.items()
    ]


def filling_s(due: Due, total_mib: float | None = None) -> float:
    """Return the seconds in which one run's tables are read into the pool, the mean over variants and workloads."""
    needed = needs(due, total_mib).values()
    return (
        sum(pair_need.tables_mib for pair_need in needed if pair_need.fits) / READ_MIB_PER_S / len(needed)
        if needed
        else 0.0
    )
