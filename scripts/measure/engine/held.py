"""A server that is held still while others work, and what becomes of it if this process dies meanwhile."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from scripts.lib.host import lifetime, pausing
from scripts.lib.host.freezer import Freezer, freezer_of
from scripts.measure.servers.server import Server


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


@dataclass
class Held:
    """A server of a block that waits, stopped, for its turn.

    `waiting_cpu_ns` is the CPU time that the server used while it was stopped, which must be none. `failure` is what
    ended the arm before the block did; `end` ends the server, and all that belongs to it, at once.
    """

    name: str
    server: Server
    waiting_cpu_ns: int | None = 0
    failure: Exception | None = None
    end: Callable[[], None] = lambda: None
    held_by: str | None = None
    _hold: Freezer | Signals | None = None
    _is_stopped: bool = False
    _cpu_at_stop_ns: int = 0

    def stop(self) -> None:
        """Stop the server with all its processes; they are killed if this process dies meanwhile."""
        if self._hold is None:
            pid = self.server.process.pid
            self._hold = freezer_of(pid) or Signals(pid)
            self.held_by = self._hold.NAME
        self._is_stopped = True
        self._hold.stop()
        self._cpu_at_stop_ns = self._hold.cpu_ns()

    def go_on(self) -> None:
        """Let the server go on, if it is stopped."""
        if self._is_stopped:
            self.waiting_cpu_ns += self._hold.cpu_ns() - self._cpu_at_stop_ns
            self._hold.go_on()
            self._is_stopped = False

    def cpu_ns(self) -> int:
        """Return the CPU nanoseconds that the server has used."""
        return self._hold.cpu_ns()

    @property
    def waiting_cpu_s(self) -> float | None:
        """Return `waiting_cpu_ns` in seconds, None where the CPU time of the server is unknown."""
        return None if self.waiting_cpu_ns is None else self.waiting_cpu_ns / 1e9

    def release(self) -> None:
        """Let the server go on for good: its processes may end by themselves."""
        self.go_on()
        if self._hold is not None:
            self._hold.release()
            self._hold = None

    def is_alive(self) -> bool:
        """Return whether the server has not ended."""
        return self.server.process.poll() is None


@contextlib.contextmanager
def waiting(arms: Sequence[Held]) -> Iterator[None]:
    """Keep the servers of all arms stopped but the one whose turn it is; all go on at the end, whatever happens."""
    with contextlib.ExitStack() as stack:
        for arm in arms:
            stack.callback(arm.release)
            arm.stop()
        yield
