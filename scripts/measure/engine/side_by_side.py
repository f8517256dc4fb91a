"""Measure several running servers side by side: only one arm's clients are let through at a time, for a slice."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from scripts.lib.host import usage
from scripts.measure.engine.held import GateAlone, Held
from scripts.measure.loadgen.gated import GatedLoad
from scripts.measure.servers.running_server import RunningServer
from scripts.measure.servers.server import Server

# A transaction that waits for a lock gives up after 50 s (innodb_lock_wait_timeout).
PARKED_WITHIN_S = 120


@dataclass
class SlicedArm:
    """An arm of a block: its server, how that waits for its slices, and its load behind the gate.

    `before_slice` is called before the gate opens, `after_slice` with the nanoseconds of the slice, before the server
    is stopped again.
    """

    name: str
    server: Server | RunningServer
    hold: Held | GateAlone
    load: GatedLoad
    before_slice: Callable[[], None] = lambda: None
    after_slice: Callable[[int], None] = lambda open_ns: None


@dataclass(frozen=True)
class Slice:
    """One slice of one arm: its round and position from 0, what its clients did, and who used the CPUs meanwhile.

    `counted` and `busy_ns` have one entry per client; `completed` are all transactions from opening to the last
    client's return, `transactions` those that began after the skipped beginning. `cpu_ns` is the server's CPU time,
    None where it is unknown, `host` and `pressure_s` are the host's in the same time.
    """

    arm: str
    round: int
    position: int
    transactions: int
    completed: int
    tps: float
    clients: int
    open_ns: int
    cpu_ns: int | None
    counted: np.ndarray = field(compare=False, repr=False)
    busy_ns: np.ndarray = field(compare=False, repr=False)
    host: usage.CpuTimes = field(compare=False, repr=False)
    pressure_s: dict[str, float | None] = field(compare=False, repr=False)


def take_slice(arm: SlicedArm, number: int, position: int, slice_s: float, skip_s: float) -> Slice:
    """Let one arm's server and clients work for a slice, then stop them again. Raises SysbenchFailed, ServerFailed."""
    arm.hold.go_on()
    arm.before_slice()
    before_ns, host, pressure_s = arm.hold.cpu_ns(), usage.cpu_times(), usage.pressures_s()
    with arm.server.blamed():
        counts = arm.load.slice(slice_s, skip_s, PARKED_WITHIN_S, arm.hold.is_alive)
    after_ns = arm.hold.cpu_ns()
    used_ns = None if before_ns is None or after_ns is None else after_ns - before_ns
    used = usage.cpu_between(host, usage.cpu_times())
    waited_s = usage.pressure_between(pressure_s, usage.pressures_s())
    with arm.server.blamed():
        arm.after_slice(counts.open_ns)
    arm.hold.stop()
    return Slice(
        arm.name, number, position, counts.transactions, counts.completed, counts.tps, counts.clients, counts.open_ns,
        used_ns, counts.counted, counts.busy_ns, used, waited_s,
    )  # fmt: skip
