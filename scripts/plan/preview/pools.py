"""Which data of a study exceed the buffer pool of their servers, so that the loads on them read from storage."""

from collections import defaultdict

from scripts.config.run_time import rows_of
from scripts.host.facts import meminfo_mib
from scripts.measure.pool import NEVER
from scripts.plan.methods import has_running_server
from scripts.plan.preview.due import Due
from scripts.plan.preview.estimates import amount_text
from scripts.plan.room import MIB, in_mib, options_of
from scripts.servers import families


def beyond_pool(due: Due, total_mib: float | None = None) -> list[str]:
    """Return one text per dataset and size of a pool that it exceeds, by the runs to be measured.

    `total_mib` is the machine's memory, from which families derive the default of their pool. Data whose rows are not
    declared, and those of loads with `fill: false`, are left out; the pool of a server that already runs is unknown.
    """
    if has_running_server(due.paths.plan):
        return []
    plan, total_mib = due.paths.plan, total_mib or meminfo_mib()["MemTotal"]
    found: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for variant, workload in dict.fromkeys((run.variant, run.workload) for run in due.runs.values()):
        load, family = plan.study.entries["workloads"][workload], families.of(plan.variant(variant)["family"])
        tables = plan.tables(load["dataset"], plan.data(variant))
        pool_mib = in_mib(options_of(plan, variant, total_mib)[family.POOL_OPTION], family.POOL_UNIT_BYTES)
        needed_mib = (rows_of(tables) or 0) * family.ROW_BYTES / MIB
        if "sql" not in load and needed_mib > pool_mib and plan.load(variant, workload).get("fill") != NEVER:
            found[load["dataset"], amount_text(needed_mib), amount_text(pool_mib)].append(variant)
    return [
        f"{dataset} takes about {needed}, the buffer pool of {', '.join(dict.fromkeys(names))} holds {pool}: "
        "loads read from storage (`fill: false` if that is meant)"
        for (dataset, needed, pool), names in found.items()
    ]
