"""What is ended and removed even when this process is killed: a small process of its own waits for our end.

The kernel sends a signal to the child of a process that dies (see process.die_with_parent), not to its grandchildren,
such as the compilers below ninja, and it removes no folders.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from scripts import signals

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
AGAIN_AFTER_S = 0.01
# Signals whose exception was dropped and is raised again.
_received_again: list[int] = []


def heed_signals() -> None:
    """Turn INT, TERM and HUP into SystemExit from now on."""
    for number in ENDING:
        signal.signal(number, _leave)
    sys.unraisablehook = _leave_after_all


def ignore_signals() -> None:
    """Go on to the end whatever signal comes: INT, TERM and HUP are dropped from now on."""
    for number in ENDING:
        signal.signal(number, lambda *_: None)


@contextlib.contextmanager
def signals_held() -> Iterator[None]:
    """Put off INT, TERM and HUP to the end of the body, which starts what could not be ended while half started.

    Nothing is started any more once one of them came before.
    """
    signals.leave_if_signalled()
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    noted: list[int] = []
    before = {number: signal.signal(number, lambda found, _: noted.append(found)) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if noted:
            signal.raise_signal(noted[0])


def _leave(number: int, _frame: object) -> None:
    # A second signal, which Ctrl-C and Snakemake may both send, must not cut the cleaning short.
    if not signals.received or _received_again:
        _received_again.clear()
        signals.received.append(number)
        signals.leave_if_signalled()


def _leave_after_all(unraisable: "sys.UnraisableHookArgs") -> None:
    """Try again when SystemExit was raised where Python drops exceptions: in a hook of fork, in a `__del__`.

    A second signal must find nothing to raise until this is left, where Python would drop it again.
    """
    if isinstance(unraisable.exc_value, SystemExit):
        threading.Timer(AGAIN_AFTER_S, _strike_again, [signals.received[0]]).start()
    else:
        sys.__unraisablehook__(unraisable)


def _strike_again(number: int) -> None:
    _received_again.append(number)
    os.kill(os.getpid(), number)


# It keeps a list of `group N` and `folder P`, reads what to put before it and to drop from it, and at the end of file,
# which is our end, works it off. What kills our process group does not reach it. A folder is renamed first, since its
# place may be used again at once; it is removed again while what still dies may write there.
WATCHER_CODE = r"""
trap "" INT TERM HUP
while IFS=" " read -r verb what; do
    case $verb in
        drop)
            for held in "$@"; do
                shift
                [ "$held" = "$what" ] || set -- "$@" "$held"
            done
            ;;
        *) set -- "$verb $what" "$@" ;;
    esac
done
for held in "$@"; do
    case $held in
        "group "*) kill -s KILL -- "-${held#group }" ;;
    esac
done
for held in "$@"; do
    case $held in
        "folder "*)
            folder=${held#folder }
            mv -T -- "$folder" "$folder.gone" && folder=$folder.gone
            for delay in 0 0.1 0.5 1 2 4; do
                sleep "$delay"
                rm -rf -- "$folder" && break
            done
            ;;
    esac
done
"""
_watcher: list[IO[bytes]] = []


@contextlib.contextmanager
def kill_group_at_death(leader: int) -> Iterator[None]:
    """While in the body, have the process group of `leader` killed when this process dies without leaving it."""
    what = f"group {leader}"
    _send(what)
    try:
        yield
    finally:
        _send(f"drop {what}")


def remove_folder_at_death(path: Path) -> Callable[[], None]:
    """Have a folder removed when this process dies, unless what is returned was called before: it is gone then.

    Raises ValueError when its path has a line break.
    """
    if "\n" in str(path):
        raise ValueError(f"{str(path)!r}: expected a path without line breaks")
    what = f"folder {path.absolute()}"
    _send(what)
    return lambda: _send(f"drop {what}")


def _send(line: str) -> None:
    if not _watcher:
        _watcher.append(_start_watcher())
    _watcher[0].write(f"{line}\n".encode())
    _watcher[0].flush()


def _start_watcher() -> IO[bytes]:
    """Start the watcher, not as a child of ours, and return the pipe it reads.

    It is in a session of its own from its first moment on: a signal to our group would end it before its trap is set.
    """
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    command = ["setsid", "--fork", "sh", "-c", WATCHER_CODE, "guard"]
    with signals_held():
        starter = subprocess.Popen(command, stdin=subprocess.PIPE, cwd="/", start_new_session=True, **quiet)
        if starter.wait() != 0:
            raise OSError(f"{' '.join(command[:3])}: ended with status {starter.returncode}, expected a watcher")
    return starter.stdin
