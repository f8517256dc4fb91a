"""A server that is stopped while others work: its processes, and what becomes of them if ours dies meanwhile."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from scripts.host import lifetime, stopping
from scripts.servers.server import Server


@dataclass
class Held:
    """A server of a block that waits, stopped, for its turn.

    `waiting_cpu_ns` is the CPU time that the server used while it was stopped, which must be none. `failure` is what
    ended the arm before the block did; `end` ends the server, and all that belongs to it, at once.
    """

    name: str
    server: Server
    stopped: list[int] = field(default_factory=list)
    waiting_cpu_ns: int = 0
    failure: Exception | None = None
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


@contextlib.contextmanager
def waiting(arms: Sequence[Held]) -> Iterator[None]:
    """Keep the servers of all arms stopped but the one whose turn it is; all go on at the end, whatever happens."""
    with contextlib.ExitStack() as stack:
        for arm in arms:
            stack.callback(arm.release)
            arm.stop()
        yield
