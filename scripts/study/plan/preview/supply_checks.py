"""Supplies of the whole machine that would not suffice for all servers of a block: the first would get them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scripts.lib.host.machine_supplies import Left
from scripts.lib.wording import plural
from scripts.measure.servers.families.server_supplies import HugePages, SupplyDemand
from scripts.study.plan.memory_room import amount_text
from scripts.study.plan.preview.limit import MachineLimit

# Shared memory beside the pool: PostgreSQL 15 with 1100 connections has 64 MiB more for 128 MiB, 166 more for 4 GiB.
BESIDE_POOL_MIB, BESIDE_POOL_SHARE = 64, 0.03


@dataclass(frozen=True)
class Asking:
    """An arm of a block, what its server asks for, the size of its pool, and the option about huge pages."""

    name: str
    supplies: SupplyDemand
    pool_mib: float
    huge_pages_option: str


def supply_limits(groups: Sequence[Sequence[Asking]], supplies: Left) -> Iterator[MachineLimit]:
    """Yield the limits of what is `left` for groups of arms whose servers are up at the same time, each once."""
    yield from dict.fromkeys(limit for group in groups for limit in _of_group(group, supplies))


def _of_group(group: Sequence[Asking], supplies: Left) -> Iterator[MachineLimit]:
    yield from _huge_pages(group, supplies)
    slots = {arm.name: arm.supplies.aio_slots for arm in group if arm.supplies.aio_slots}
    if supplies.aio_slots is not None and (needed := sum(slots.values())) > supplies.aio_slots:
        text = f"asynchronous I/O: {supplies.aio_slots} slots (fs.aio-max-nr) are left, up to {needed} may be asked for"
        remedy = f"`sysctl fs.aio-max-nr={needed - supplies.aio_slots + 65536}`, or `innodb_use_native_aio: false`"
        yield MachineLimit(f"{text} {_by([*slots])}", remedy, certain=False)
    locked = {arm.name: arm.pool_mib for arm in group if arm.supplies.locks_pool}
    if supplies.lockable_mib is not None and any(pool_mib > supplies.lockable_mib for pool_mib in locked.values()):
        text = f"locked memory: a process may lock {amount_text(supplies.lockable_mib)} (`ulimit -l`), "
        text += f"pools of up to {amount_text(max(locked.values()))} are to be locked"
        yield MachineLimit(
            f"{text} {_by([*locked])}", "raise memlock in limits.conf, or leave `memlock` out", certain=False
        )


def _huge_pages(group: Sequence[Asking], supplies: Left) -> Iterator[MachineLimit]:
    """Yield the limit on huge pages: nobody gets any where none are left, which is no difference between arms."""
    asking = [arm for arm in group if arm.supplies.huge_pages is not HugePages.NOT]
    needing = [arm.name for arm in asking if arm.supplies.huge_pages is HugePages.ONLY]
    asked_mib = sum(arm.pool_mib for arm in asking)
    if supplies.huge_pages_mib is None or not (supplies.huge_pages_mib or needing):
        return
    needed_mib = asked_mib * (1 + BESIDE_POOL_SHARE) + BESIDE_POOL_MIB * len(asking)
    if needed_mib <= supplies.huge_pages_mib:
        return
    text = f"huge pages: {amount_text(supplies.huge_pages_mib)} are left, about {amount_text(needed_mib)} are asked for"
    what = f"does not start: {', '.join(needing)}" if needing else "some servers of a block would get them, others not"
    options = " or ".join(dict.fromkeys(f"`{arm.huge_pages_option}: false`" for arm in asking))
    pages = math.ceil(needed_mib / (supplies.huge_page_mib or 2))
    remedy = f"`sysctl vm.nr_hugepages={pages}` beyond those in use, or {options} under `options`"
    certain = bool(needing) and asked_mib > supplies.huge_pages_mib
    yield MachineLimit(f"{text} {_by([arm.name for arm in asking])}; {what}", remedy, certain, refused=certain)


def _by(arms: Sequence[str]) -> str:
    return f"by {plural(len(arms), 'server')} at the same time ({', '.join(arms)})"
