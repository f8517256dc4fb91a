"""Servers that are up side by side: only one arm's clients are let through at a time, for a slice; the others wait.

A server of ours waits stopped, and is killed if this process dies meanwhile.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from scripts.lib.host import lifetime, pausing, usage
from scripts.lib.host.freezer import Freezer, freezer_of
from scripts.measure.loadgen.gated import GatedLoad
from scripts.measure.servers.running_server import RunningServer
from scripts.measure.servers.server import Server

# A transaction that waits for a lock gives up after 50 s (innodb_lock_wait_timeout).
PARKED_WITHIN_S = 120


class Signals:
    """Hold a process and its descendants still by SIGSTOP; they are killed if this process dies while they are."""

    NAME = "SIGSTOP"

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._stopped: list[int] = []
        self._condemned: set[int] = set()
        self._spare: list[Callable[[], None]] = []

    def stop(self) -> None:
        """Stop the processes, and wait until none runs."""
        self._stopped = []
        pausing.stop(self._pid, self._condemn)
        self._condemned.intersection_update(self._stopped)

    def _condemn(self, pids: list[int]) -> None:
        """Note processes that are about to be stopped: to let them go on, and to kill them if this process dies."""
        if new := [pid for pid in pids if pid not in self._condemned]:
            self._spare.append(lifetime.kill_processes_at_death(new))
            self._condemned.update(new)
        self._stopped += pids

    def go_on(self) -> None:
        """Let the processes go on."""
        pausing.go_on(self._stopped)

    def cpu_ns(self) -> int:
        """Return the CPU nanoseconds of the process, its descendants and its children that have ended.

        The time of those that ended has the kernel's tick.
        """
        return pausing.cpu_ns(pausing.descendants(self._pid)) + pausing.ended_children_cpu_ns(self._pid)

    def release(self) -> None:
        """Let the processes go on for good: they may end by themselves."""
        self.go_on()
        while self._spare:
            self._spare.pop()()
        self._condemned.clear()


class Held:
    """A server that waits, stopped, for its turn; `held_by` names what stops it, None before it first waits."""

    def __init__(self, server: Server) -> None:
        self.held_by: str | None = None
        self._server = server
        self._holds: list[Freezer | Signals] = []  # one from the first stop to the release
        self._waiting_cpu_ns = 0
        self._cpu_at_stop_ns: int | None = None

    def stop(self) -> None:
        """Stop the server with all its processes; they are killed if this process dies meanwhile."""
        if not self._holds:
            pid = self._server.process.pid
            self._holds.append(freezer_of(pid) or Signals(pid))
        (hold,) = self._holds
        self.held_by = hold.NAME
        hold.stop()
        self._cpu_at_stop_ns = hold.cpu_ns()

    def go_on(self) -> None:
        """Let the server go on, if it is stopped."""
        if self._cpu_at_stop_ns is not None:
            (hold,) = self._holds
            self._waiting_cpu_ns += hold.cpu_ns() - self._cpu_at_stop_ns
            hold.go_on()
            self._cpu_at_stop_ns = None

    def cpu_ns(self) -> int:
        """Return the CPU nanoseconds that the server has used; it must be waiting for its turns."""
        (hold,) = self._holds
        return hold.cpu_ns()

    @property
    def waiting_cpu_s(self) -> float:
        """The CPU time that the server used while it was stopped, which must be none."""
        return self._waiting_cpu_ns / 1e9

    def release(self) -> None:
        """Let the server go on for good: its processes may end by themselves."""
        self.go_on()
        while self._holds:
            self._holds.pop().release()

    def is_alive(self) -> bool:
        """Return whether the server has not ended."""
        return self._server.process.poll() is None


class GateAlone:
    """A server that is neither stopped nor frozen while others work: its clients' gate alone is closed."""

    held_by = "gate"
    waiting_cpu_s = None

    def stop(self) -> None: ...
    def go_on(self) -> None: ...
    def release(self) -> None: ...

    def cpu_ns(self) -> None:
        """Return None: the CPU time of the server is unknown."""

    def is_alive(self) -> bool:
        """Return True: a server that is gone ends its clients."""
        return True


@contextlib.contextmanager
def waiting(holds: Sequence[Held | GateAlone]) -> Iterator[None]:
    """Keep all servers stopped but the one whose turn it is; all go on at the end, whatever happens."""
    with contextlib.ExitStack() as stack:
        for hold in holds:
            stack.callback(hold.release)
            hold.stop()
        yield


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


@dataclass(frozen=True, kw_only=True)
class OpenTime:
    """A part of an arm's open time: the server's CPU time in it, None where it is unknown, and the host's.

    `pressure_s` are the seconds in which something of the host waited.
    """

    open_ns: int
    cpu_ns: int | None
    host: usage.CpuTimes = field(compare=False, repr=False)
    pressure_s: dict[str, float | None] = field(compare=False, repr=False)


@dataclass(frozen=True, kw_only=True)
class Slice(OpenTime):
    """One slice of one arm: its round and position from 0, what its clients did, and who used the CPUs meanwhile.

    `counted` and `busy_ns` have one entry per client; `completed` are all transactions from opening to the last
    client's return, `transactions` those that began after the skipped beginning.
    """

    arm: str
    round: int
    position: int
    transactions: int
    completed: int
    tps: float
    clients: int
    counted: np.ndarray = field(compare=False, repr=False)
    busy_ns: np.ndarray = field(compare=False, repr=False)


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
    spent = OpenTime(open_ns=counts.open_ns, cpu_ns=used_ns, host=used, pressure_s=waited_s)
    return Slice(arm=arm.name, round=number, position=position, **{**vars(counts), **vars(spent)})
