"""What is ended and removed even when this process is killed: a small process of its own waits for our end.

The kernel sends a signal to the child of a process that dies (see process.die_with_parent), not to its grandchildren,
such as the compilers below ninja, and it removes no folders.
"""

import contextlib
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from scripts import leaving

# It keeps a list of `group N` and `folder P`, reads what to put before it and to drop from it, and at the end of file,
# which is our end, works it off. What kills our process group does not reach it. A folder is renamed first, since its
# place may be used again at once; it is removed again while what still dies may write there.
WATCH = r"""
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
def group(leader: int) -> Iterator[None]:
    """While in the body, have the process group of `leader` killed when this process dies without leaving it."""
    what = f"group {leader}"
    _tell(what)
    try:
        yield
    finally:
        _tell(f"drop {what}")


def folder(path: Path) -> Callable[[], None]:
    """Have a folder removed when this process dies, unless what is returned was called before: it is gone then.

    Raises ValueError when its path has a line break.
    """
    if "\n" in str(path):
        raise ValueError(f"{str(path)!r}: expected a path without line breaks")
    what = f"folder {path.absolute()}"
    _tell(what)
    return lambda: _tell(f"drop {what}")


def _tell(line: str) -> None:
    if not _watcher:
        _watcher.append(_started())
    _watcher[0].write(f"{line}\n".encode())
    _watcher[0].flush()


def _started() -> IO[bytes]:
    """Start the watcher, not as a child of ours, and return the pipe it reads.

    It is in a session of its own from its first moment on: a signal to our group would end it before its trap is set.
    """
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    command = ["setsid", "--fork", "sh", "-c", WATCH, "guard"]
    with leaving.held():
        starter = subprocess.Popen(command, stdin=subprocess.PIPE, cwd="/", start_new_session=True, **quiet)
        if starter.wait() != 0:
            raise OSError(f"{' '.join(command[:3])}: ended with status {starter.returncode}, expected a watcher")
    return starter.stdin
