"""Measure several running servers side by side: only one arm's clients are let through at a time, for a slice."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from scripts.host import lifetime, outcome, stopping, usage
from scripts.loadgen.gated import GatedLoad
from scripts.loadgen.output import SysbenchFailed
from scripts.servers.server import Server, ServerFailed

# A transaction that waits for a lock gives up after 50 s (innodb_lock_wait_timeout).
PARKED_WITHIN_S = 120


@dataclass
class Arm:
    """An arm of a block: its server, its load behind the gate, and the processes that are stopped while it waits.

    `waiting_cpu_ns` is the CPU time that the server used while it was stopped, which must be none. `failure` is what
    ended the arm before the block did. `after_slice` is called with the nanoseconds of each slice, before the server
    is stopped again; `end` ends the server and its load at once.
    """

    name: str
    server: Server
    load: GatedLoad
    stopped: list[int] = field(default_factory=list)
    waiting_cpu_ns: int = 0
    failure: Exception | None = None
    after_slice: Callable[[int], None] = lambda open_ns: None
    end: Callable[[], None] = lambda: None
    _cpu_at_stop_ns: int = 0
    _condemned: set[int] = field(default_factory=set)
    _spare: list[Callable[[], None]] = field(default_factory=list)

    def stop(self) -> None:
        """Stop the server with all its processes; they are killed if this process dies meanwhile."""
        stopping.stop(self.server.process.pid, self._condemn)
        self._condemned.intersection_update(self.stopped)
        self._cpu_at_stop_ns = stopping.cpu_ns(self.stopped)

    def _condemn(self, pids: list[int]) -> None:
        """Note processes that are about to be stopped: to let them go on, and to kill them if this process dies."""
        if new := [pid for pid in pids if pid not in self._condemned]:
            self._spare.append(lifetime.kill_processes_at_death(new))
            self._condemned.update(new)
        self.stopped += pids

    def go_on(self) -> None:
        """Let the server go on, if it is stopped."""
        if self.stopped:
            self.waiting_cpu_ns += stopping.cpu_ns(self.stopped) - self._cpu_at_stop_ns
            stopping.go_on(self.stopped)
            self.stopped = []

    def release(self) -> None:
        """Let the server go on for good: its processes may end by themselves."""
        self.go_on()
        while self._spare:
            self._spare.pop()()
        self._condemned.clear()

    def is_alive(self) -> bool:
        """Return whether the server has not ended."""
        return self.server.process.poll() is None


@dataclass(frozen=True)
class Slice:
    """One slice of one arm: its round and place from 0, what its clients did, and who used the CPUs meanwhile.

    `counted` and `busy_ns` have one entry per client; `completed` are all transactions from opening to the last
    client's return, `transactions` those that began after the skipped beginning. `cpu_ns` is the server's CPU time,
    `host` and `pressure_s` are the host's in the same time.
    """

    arm: str
    round: int
    place: int
    transactions: int
    completed: int
    tps: float
    clients: int
    open_ns: int
    cpu_ns: int
    counted: np.ndarray = field(compare=False, repr=False)
    busy_ns: np.ndarray = field(compare=False, repr=False)
    host: usage.CpuTimes = field(compare=False, repr=False)
    pressure_s: dict[str, float | None] = field(compare=False, repr=False)


@contextlib.contextmanager
def waiting(arms: Sequence[Arm]) -> Iterator[None]:
    """Keep the servers of all arms stopped but the one in its slice; all go on at the end, whatever happens."""
    with contextlib.ExitStack() as stack:
        for arm in arms:
            stack.callback(arm.release)
            arm.stop()
        yield


def take_slice(arm: Arm, number: int, place: int, slice_s: float, skip_s: float) -> Slice:
    """Let one arm's server and clients work for a slice, then stop them again. Raises SysbenchFailed, ServerFailed."""
    arm.go_on()
    pids = stopping.descendants(arm.server.process.pid)
    before_ns, host, pressure_s = stopping.cpu_ns(pids), usage.cpu_times(), usage.pressures_s()
    with arm.server.blamed():
        counts = arm.load.slice(slice_s, skip_s, PARKED_WITHIN_S, arm.is_alive)
    used_ns, used = stopping.cpu_ns(pids) - before_ns, usage.cpu_between(host, usage.cpu_times())
    waited_s = usage.pressure_between(pressure_s, usage.pressures_s())
    with arm.server.blamed():
        arm.after_slice(counts.open_ns)
    arm.stop()
    return Slice(
        arm.name, number, place, counts.transactions, counts.completed, counts.tps, counts.clients, counts.open_ns,
        used_ns, counts.counted, counts.busy_ns, used, waited_s,
    )  # fmt: skip


def take_rounds(arms: Sequence[Arm], orders: Sequence[Sequence[str]], slice_s: float, skip_s: float) -> Iterator[Slice]:
    """Yield the slices of all rounds, in the given orders of the arms' names.

    An arm whose server or sysbench fails has the `failure` noted, is ended, so that it takes nothing from the others,
    and has no further slice. A failure of the host is raised.
    """
    by_name = {arm.name: arm for arm in arms}
    for number, order in enumerate(orders):
        for place, name in enumerate(order):
            arm = by_name[name]
            if arm.failure is not None:
                continue
            try:
                yield take_slice(arm, number, place, slice_s, skip_s)
            except (SysbenchFailed, ServerFailed) as failure:
                if outcome.of_host(failure):
                    raise
                arm.failure = failure
                arm.end()
