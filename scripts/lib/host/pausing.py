"""Stop a process and all its descendants, let them go on, and read their CPU clocks.

SIGSTOP rather than a cgroup of version 1's freezer: what that froze does not even obey SIGKILL.
"""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

# Descendants appear while they are being stopped; a process that forks faster than this is no server.
MOST_LOOKS = 50
LOOK_S, STILL_WITHIN_S = 0.0001, 0.5


def descendants(pid: int) -> list[int]:
    """Return a process and all processes below it, parents first; an empty list when it is gone."""
    processes, waiting = [], [pid]
    while waiting:
        process = waiting.pop(0)
        tasks = Path(f"/proc/{process}/task")
        try:
            children = [int(child) for task in tasks.iterdir() for child in (task / "children").read_text().split()]
        except OSError:
            continue
        processes.append(process)
        waiting += children
    return processes


def stop(pid: int, before: Callable[[list[int]], None] = lambda pids: None) -> list[int]:
    """Stop a process, then its descendants until a look finds no new one; return them, parents first.

    `before` is called with the processes of each look before they are stopped, so that none is ever stopped and
    unknown, whenever this process is interrupted or killed. A server's own process is first because it alone starts
    others. Raises RuntimeError when it never comes to rest.
    """
    stopped: list[int] = []
    for _ in range(MOST_LOOKS):
        if not (new := [process for process in descendants(pid) if process not in stopped]):
            _wait_still(stopped)
            return stopped
        before(new)
        signal_all(new, signal.SIGSTOP)
        stopped += new
    raise RuntimeError(f"process {pid} started new processes in each of {MOST_LOOKS} looks while it was being stopped")


def _wait_still(pids: Iterable[int]) -> None:
    """Wait until processes run no more: a signal only asks, and a system call in progress is finished first.

    A parent in vfork(2) waits for its child, which is stopped, and never gets so far: it uses no CPU either.
    """
    deadline_s = time.monotonic() + STILL_WITHIN_S
    for pid in pids:
        while _is_running(pid) and time.monotonic() < deadline_s:
            time.sleep(LOOK_S)


def _is_running(pid: int) -> bool:
    """Return whether a thread of a process still runs: each finishes its own system call before it stops."""
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return False
    return any(map(_thread_is_running, threads))


def _thread_is_running(thread: Path) -> bool:
    try:
        state = (thread / "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "TtZX"


def go_on(pids: Iterable[int]) -> None:
    """Let stopped processes go on; those that are gone are passed over."""
    signal_all(pids, signal.SIGCONT)


def signal_all(pids: Iterable[int], number: int) -> None:
    """Send a signal to each process that is still there."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


@contextlib.contextmanager
def stopped(pid: int) -> Iterator[list[int]]:
    """Hold a process and its descendants still in the body; yields them."""
    pids: list[int] = []
    try:
        pids = stop(pid)
        yield pids
    finally:
        go_on(pids or descendants(pid))


def ended_children_cpu_ns(pid: int) -> int:
    """Return the CPU nanoseconds of the children that a process has waited for (proc_pid_stat(5), cutime and cstime).

    0 when it is gone.
    """
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return (int(words[13]) + int(words[14])) * 10**9 // os.sysconf("SC_CLK_TCK")


def cpu_ns(pids: Iterable[int]) -> int:
    """Return the CPU nanoseconds that processes have used, from each one's CPU clock; those gone count nothing.

    The clock's number is that of clock_getcpuclockid(3): it needs no open file and has no tick.
    """
    used = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            used += time.clock_gettime_ns((~pid << 3) | 2)
    return used
