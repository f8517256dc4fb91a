"""Turn termination signals into SystemExit, and clean up even if this process is killed.

A watcher process kills process groups, runs commands and removes folders when this process dies, even by SIGKILL.

The kernel sends a signal to the child of a process that dies (see process.die_with_parent), not to its grandchildren,
such as the compilers below ninja, and it removes no folders.
"""

import _thread
import contextlib
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import IO

from scripts.lib import signals
from scripts.lib.host import ledger
from scripts.lib.host.made_environment import made_environment

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
AGAIN_AFTER_S = 0.01
# Signals whose exception was dropped and is raised again.
_received_again: list[int] = []
_dropping = SimpleNamespace(in_hook=False)


def heed_signals() -> None:
    """Turn INT, TERM and HUP into SystemExit from now on, reliably, so that `finally` blocks run."""
    for number in ENDING:
        signal.signal(number, _leave)
    sys.unraisablehook = _leave_after_all


def ignore_signals() -> None:
    """Ignore INT, TERM and HUP from now on."""
    for number in ENDING:
        signal.signal(number, lambda *_: None)


@contextlib.contextmanager
def signals_held() -> Iterator[None]:
    """Delay INT, TERM and HUP to the end of the body, so that a process that is being started can be ended.

    Raises SystemExit at once if a signal was received before.
    """
    signals.leave_if_signalled()
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    noted: list[int] = []
    before = {number: signal.signal(number, lambda signal_number, _: noted.append(signal_number)) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if noted:
            signal.raise_signal(noted[0])


def _leave(number: int, _frame: object) -> None:
    # A second signal, which Ctrl-C and Snakemake may both send, must not interrupt the clean-up.
    if signals.received and not _received_again:
        return
    if _dropping.in_hook:
        _strike_later(number)
        return
    _received_again.clear()
    signals.received.append(number)
    signals.leave_if_signalled()


def _leave_after_all(unraisable: "sys.UnraisableHookArgs") -> None:
    """Send the signal again if SystemExit was raised where Python drops exceptions: in a hook of fork, in a `__del__`.

    It is sent after this function returned: within it Python would drop the exception again. Other errors are printed
    until a signal is received, and then are its consequences: the next hook of fork releases a lock that none took.
    """
    _dropping.in_hook = True
    try:
        if isinstance(unraisable.exc_value, SystemExit):
            _strike_later(signals.received[0])
        elif not signals.received:
            sys.__unraisablehook__(unraisable)
    finally:
        _dropping.in_hook = False  # no call follows, after which Python would look for signals


def _strike_later(number: int) -> None:
    # threading.Timer would wait for its thread, on a busy machine longer than the thread rests.
    _thread.start_new_thread(_strike_again, (number,))


def _strike_again(number: int) -> None:
    time.sleep(AGAIN_AFTER_S)
    _received_again.append(number)
    os.kill(os.getpid(), number)


# It keeps a list of lines `group N`, `process N S` (S: its start, which tells it from a later one of that number),
# `folder P` and `run C` (C: a command line of a shell), to which it reads additions and removals, and works the list
# off at the end of file, which this process's death causes. A signal to our process group does not reach it. A folder
# is renamed first, since its path may be used again at once, and removed repeatedly while dying processes may write
# to it. The ledger (see ledger.py) is removed when nothing of it is left.
WATCHER_CODE = r"""
trap "" INT TERM HUP
ledger= left=
started() {
    read -r found <"/proc/$1/stat" && set -- ${found##*) } && echo "${20}"
}
while IFS=" " read -r verb what; do
    case $verb in
        drop)
            for held in "$@"; do
                shift
                [ "$held" = "$what" ] || set -- "$@" "$held"
            done
            ;;
        ledger) ledger=$what ;;
        *) set -- "$verb $what" "$@" ;;
    esac
done
for held in "$@"; do
    case $held in
        "group "*) kill -s KILL -- "-${held#group }" ;;
        "process "*)
            held=${held#process }
            [ "$(started "${held% *}")" = "${held#* }" ] && kill -s KILL "${held% *}"
            ;;
    esac
done
for held in "$@"; do
    case $held in
        "run "*) eval "${held#run }" ;;
        "folder "*)
            folder=${held#folder }
            mv -T -- "$folder" "$folder.gone" && folder=$folder.gone
            for delay in 0 0.1 0.5 1 2 4; do
                sleep "$delay"
                rm -rf -- "$folder" && break
            done
            [ -e "$folder" ] && left=$folder
            ;;
    esac
done
[ "$ledger" ] && [ -z "$left" ] && rm -f -- "$ledger"
"""
_watcher: list[IO[bytes]] = []
_ledger: list[ledger.Ledger] = []
# Servers of a block are started by threads: without it each could start a watcher of its own.
_sending = threading.RLock()


@contextlib.contextmanager
def kill_group_at_death(leader: int) -> Iterator[None]:
    """Kill the process group of `leader` if this process dies within the body."""
    what = f"group {leader}"
    _send(what)
    try:
        yield
    finally:
        _send(f"drop {what}")


def kill_processes_at_death(pids: Iterable[int]) -> Callable[[], None]:
    """Kill each of these processes when this process dies, unless the returned function was called before.

    Stopped processes outlive the leader of their group: a PostgreSQL backend has a session of its own, and ends with
    the postmaster only when it runs.
    """
    starts = {pid: start for pid in pids if (start := start_of(pid))}
    for pid, start in starts.items():
        _send(f"process {pid} {start}")

    def drop() -> None:
        for pid, start in starts.items():
            _send(f"drop process {pid} {start}")

    return drop


def run_at_death(command: Iterable[str]) -> Callable[[], None]:
    """Run a command when this process dies, unless the returned function was called before.

    Raises ValueError when it has a line break.
    """
    if "\n" in (what := f"run {shlex.join(command)}"):
        raise ValueError(f"{what!r}: expected a command without line breaks")
    _send(what)
    return lambda: _send(f"drop {what}")


def start_of(pid: int) -> str | None:
    """Return when a process started, in clock ticks since boot (proc_pid_stat(5), starttime); None when it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return None


def remove_folder_at_death(path: Path) -> Callable[[], None]:
    """Remove a folder when this process dies, unless the returned function was called before.

    Raises ValueError when its path has a line break.
    """
    if "\n" in str(path):
        raise ValueError(f"{str(path)!r}: expected a path without line breaks")
    what = f"folder {path.absolute()}"
    _send(what)
    return lambda: _send(f"drop {what}")


def _send(line: str) -> None:
    with _sending:
        if not _watcher:
            _watcher.append(_start_watcher())
        if not _ledger and line.startswith(ledger.MADE_FOR):
            _ledger.append(ledger.Ledger(start_of(os.getpid()) or ""))
            _write_to_watcher(f"ledger {_ledger[0].path}")
        if _ledger:
            _ledger[0].note(line)
        _write_to_watcher(line)


def _write_to_watcher(line: str) -> None:
    _watcher[0].write(f"{line}\n".encode())
    _watcher[0].flush()


def _start_watcher() -> IO[bytes]:
    """Start the watcher, not as a child of this process, and return the pipe that it reads.

    It starts in its own session: a signal to our process group could end it before its trap is set.
    """
    command = ["setsid", "--fork", "sh", "-c", WATCHER_CODE, "guard"]
    with signals_held():
        starter = subprocess.Popen(
            command,
            env=made_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
        if starter.wait() != 0 or starter.stdin is None:
            raise OSError(f"{' '.join(command[:3])}: ended with status {starter.returncode}, expected a watcher")
    return starter.stdin
