"""Run a command, and end all that it leaves behind: `python keeper.py HANDLE COMMAND...`, which `kept` starts.

It adopts the orphans of the command, whatever sessions they made (prctl(2), PR_SET_CHILD_SUBREAPER), and ends as the
command did. It writes the command's process number to HANDLE unless that is 0. It needs the standard library only.
"""

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36
# When the command is ended early, processes in sessions of their own may end by themselves so long.
GRACE_S, ENDED_WITHIN_S, LOOK_S = 3.0, 10.0, 0.002
NOT_STARTED = 127
AWAITED = {signal.SIGCHLD, signal.SIGTERM}


def main(handle: int, command: list[str]) -> None:
    """Run the command to its end, or to SIGTERM, which the death of the parent sends as well."""
    prctl = ctypes.CDLL(None).prctl
    if handle:
        os.set_inheritable(handle, False)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, AWAITED)
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    started = os.fork()
    if started == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        _become(command)
    if handle:
        os.write(handle, str(started).encode())
        os.close(handle)
    status = None
    while status is None and signal.sigwait(AWAITED) == signal.SIGCHLD:
        status = _reaped(started)
    if status is None:
        _kill([pid for pid in below(os.getpid()) if pid == started or _group(pid) == os.getpgid(0)])
        status = _wait_for_all(started, GRACE_S, lambda: None)
    late_status = _wait_for_all(started, ENDED_WITHIN_S, lambda: _kill(below(os.getpid())))
    _end_as(late_status if status is None else status)


def _become(command: list[str]) -> None:
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
    os._exit(NOT_STARTED)


def _reaped(started: int) -> int | None:
    """Wait for children that have ended, up to the command; return its status, None when it is not among them.

    Raises ChildProcessError when no child is left.
    """
    while (ended := os.waitpid(-1, os.WNOHANG))[0]:
        if ended[0] == started:
            return ended[1]
    return None


def _wait_for_all(started: int, within_s: float, at_each_look: Callable[[], None]) -> int | None:
    """Wait until no child is left, or for so long; return the command's status if it ended meanwhile."""
    deadline_s, status = time.monotonic() + within_s, None
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() < deadline_s:
            at_each_look()
            ended = _reaped(started)
            status = ended if status is None else status
            time.sleep(LOOK_S)
    return status


def below(pid: int) -> list[int]:
    """Return all processes below one."""
    try:
        tasks = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208
        children = [int(word) for task in tasks for word in _read(f"/proc/{pid}/task/{task}/children").split()]
    except OSError:
        return []
    return [*children, *(process for child in children for process in below(child))]


def _read(path: str) -> str:
    with open(path, encoding="ascii") as file:  # noqa: PTH123
        return file.read()


def _group(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


def _kill(pids: list[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _end_as(status: int | None) -> None:
    """End with the status of the command, or by the signal that ended it; a command that never ended was killed."""
    code = -signal.SIGKILL if status is None else os.waitstatus_to_exitcode(status)
    if code < 0:
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)  # no second core file
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
