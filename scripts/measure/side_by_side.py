"""Measure several running servers side by side: only one arm's clients are let through at a time, for a slice."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from scripts.host import stopping
from scripts.loadgen.gated import GatedLoad
from scripts.servers.server import Server

# A transaction that waits for a lock gives up after 50 s (innodb_lock_wait_timeout).
PARKED_WITHIN_S = 120


@dataclass
class Arm:
    """An arm of a block: its server, its load behind the gate, and the processes that are stopped while it waits.

    `waiting_cpu_ns` is the CPU time that the server used while it was stopped, which must be none.
    """

    name: str
    server: Server
    load: GatedLoad
    stopped: list[int] = field(default_factory=list)
    waiting_cpu_ns: int = 0
    _cpu_at_stop_ns: int = 0

    def stop(self) -> None:
        """Stop the server with all its processes."""
        self.stopped = stopping.stop(self.server.process.pid)
        self._cpu_at_stop_ns = stopping.cpu_ns(self.stopped)

    def go_on(self) -> None:
        """Let the server go on, if it is stopped."""
        if self.stopped:
            self.waiting_cpu_ns += stopping.cpu_ns(self.stopped) - self._cpu_at_stop_ns
            stopping.go_on(self.stopped)
            self.stopped = []


@dataclass(frozen=True)
class Slice:
    """One slice of one arm: its round and place from 0, what its clients did, and the server's CPU time meanwhile."""

    arm: str
    round: int
    place: int
    transactions: int
    tps: float
    clients: int
    open_ns: int
    cpu_ns: int


@contextlib.contextmanager
def waiting(arms: Sequence[Arm]) -> Iterator[None]:
    """Keep the servers of all arms stopped but the one in its slice; all go on at the end, whatever happens."""
    try:
        for arm in arms:
            arm.stop()
        yield
    finally:
        for arm in arms:
            arm.go_on()


def take_slice(arm: Arm, number: int, place: int, slice_s: float, skip_s: float) -> Slice:
    """Let one arm's server and clients work for a slice, then stop them again. Raises SysbenchFailed."""
    arm.go_on()
    pids = stopping.descendants(arm.server.process.pid)
    before_ns = stopping.cpu_ns(pids)
    counts = arm.load.slice(slice_s, skip_s, PARKED_WITHIN_S)
    used_ns = stopping.cpu_ns(pids) - before_ns
    arm.stop()
    return Slice(arm.name, number, place, counts.transactions, counts.tps, counts.clients, counts.open_ns, used_ns)


def take_rounds(arms: Sequence[Arm], orders: Sequence[Sequence[str]], slice_s: float, skip_s: float) -> Iterator[Slice]:
    """Yield the slices of all rounds, in the given orders of the arms' names. Raises SysbenchFailed."""
    by_name = {arm.name: arm for arm in arms}
    for number, order in enumerate(orders):
        for place, name in enumerate(order):
            yield take_slice(by_name[name], number, place, slice_s, skip_s)
