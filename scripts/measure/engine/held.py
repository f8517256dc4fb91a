"""A server that is held still while others work, and what becomes of it if this process dies meanwhile."""

import contextlib
from collections.abc import Callable, Iterator, Sequence

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

    def stop(self) -> None:
        """Leave the server alone: no client of this arm is let through."""

    def go_on(self) -> None:
        """Leave the server alone."""

    def release(self) -> None:
        """Leave the server alone."""

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
