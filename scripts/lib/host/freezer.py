"""Hold a process and all its descendants still by the freezer of cgroups of version 2, where this process may use it.

All of them stop at once, also those that are being forked, no system call of theirs returns early as it does after
SIGCONT, and what is frozen obeys SIGKILL, unlike with version 1 (the kernel's Documentation/admin-guide/cgroup-v2.rst).
"""

import contextlib
import re
import secrets
import time
from pathlib import Path

from scripts.lib.host import lifetime, pausing
from scripts.lib.host.cache import NAME

# Linux 5.2 and 5.14.
NEEDED = ("cgroup.freeze", "cgroup.kill")
LOOK_S, FROZEN_WITHIN_S = 0.0001, 0.5
# Killed processes leave a cgroup a moment after the signal. The guard ends one cgroup after the other.
ENDING = (
    '[ -d "$0" ] && echo 1 >"$0/cgroup.kill"; '
    'for delay in 0 0.1 0.2 0.5 1 2; do [ -d "$0" ] || break; sleep "$delay"; rmdir "$0"; done'
)


class Freezer:
    """A cgroup for a process and its descendants; they are killed, and it is removed, when this process dies.

    Raises OSError where this process may not make it.
    """

    NAME = "freezer"

    def __init__(self, folder: Path, pid: int) -> None:
        self._folder, self._pid = folder, pid
        # The other way round, a death in between would leave the folder.
        self._spare = lifetime.run_at_death(["sh", "-c", ENDING, str(folder)])
        try:
            folder.mkdir()
        except OSError:
            self._spare()
            raise

    def stop(self) -> None:
        """Freeze the processes, and wait until none uses CPU time: each finishes its own system call before."""
        self._write("cgroup.freeze", "1")
        deadline_s = time.monotonic() + FROZEN_WITHIN_S
        while "frozen 1" not in (self._folder / "cgroup.events").read_text() and time.monotonic() < deadline_s:
            time.sleep(LOOK_S)
        # A process counts as frozen shortly before it leaves its CPU.
        used_ns = -1
        while used_ns != (used_ns := self.cpu_ns()) and time.monotonic() < deadline_s:
            time.sleep(LOOK_S)

    def go_on(self) -> None:
        """Let the processes go on."""
        self._write("cgroup.freeze", "0")

    def cpu_ns(self) -> int:
        """Return the CPU nanoseconds of all processes so far, those that have ended included, in whole microseconds."""
        (used_us,) = re.findall(r"^usage_usec (\d+)$", (self._folder / "cpu.stat").read_text(), re.M)
        return 1000 * int(used_us)

    def release(self) -> None:
        """Let the processes go on in the cgroup that they came from, and remove their own."""
        self.go_on()
        self._move((self._folder / "cgroup.procs"), self._folder.parent)
        self.remove()

    def remove(self) -> None:
        """Remove the cgroup, which has no processes any more."""
        self._folder.rmdir()
        self._spare()

    def _move(self, pids: Path, folder: Path) -> None:
        """Move the processes listed in a file until there is none, since each may fork while it is moved."""
        while numbers := pids.read_text().split():
            for pid in numbers:
                _add(folder, pid)

    def _write(self, name: str, text: str) -> None:
        (self._folder / name).write_text(text)


def _add(folder: Path, pid: int | str) -> None:
    """Move a process into a cgroup; one that is gone is passed over."""
    with contextlib.suppress(ProcessLookupError):
        (folder / "cgroup.procs").write_text(str(pid))


def freezer_of(pid: int, root: Path = Path("/")) -> Freezer | None:
    """Return a cgroup with a process and its descendants, below this process's own; None where it may not make one."""
    if (parent := own_folder(root)) is None:
        return None
    folder = parent / f"{NAME}-{secrets.token_hex(4)}"
    try:
        freezer = Freezer(folder, pid)
    except OSError:
        return None
    if not all((folder / name).exists() for name in NEEDED):
        freezer.remove()
        return None
    moved: set[int] = set()
    try:
        while new := [process for process in pausing.descendants(pid) if process not in moved]:
            for process in new:
                _add(folder, process)
            moved.update(new)
    except PermissionError:
        freezer.release()
        return None
    return freezer


def own_folder(root: Path = Path("/")) -> Path | None:
    """Return the folder of this process's cgroup of version 2; None where no such hierarchy is mounted."""
    mounts = re.findall(r"^\S+ (\S+) cgroup2 ", (root / "proc/self/mounts").read_text(), re.M)
    path = re.search(r"^0::(/.*)$", (root / "proc/self/cgroup").read_text(), re.M)
    if not mounts or not path:
        return None
    folder = root / mounts[0].lstrip("/") / path[1].lstrip("/")
    return folder if folder.is_dir() else None
