"""What killed jobs left on this machine: the doctor tells it, the next job that measures or trains ends it.

A job's guard removes all of it when the job dies alone. Where both were killed together, data directories stay, and
PostgreSQL's backends that were frozen or stopped: these never see the end of their server.
"""

import contextlib
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scripts.lib.host import ledger, lifetime, pausing, workplace
from scripts.lib.host.entry import say, say_waiting
from scripts.lib.host.ledger import Owner
from scripts.lib.host.locks import Busy, exclusive, refuse
from scripts.lib.host.made_environment import made_environment
from scripts.lib.wording import listing, plural, size

ENDED_WITHIN_S, LOOK_S, COMMAND_WITHIN_S = 10, 0.02, 60
# The guard renames a folder before it removes it.
RENAMED = ".gone"


@dataclass(frozen=True)
class Leftover:
    """What an ended job held and what is still there: folders, processes at work in them, commands to clean up.

    The commands end cgroups and remove shared memory. They, and the processes, are of this boot of this machine.
    """

    ledger: Path
    owner: Owner
    folders: tuple[Path, ...]
    processes: tuple[int, ...]
    commands: tuple[str, ...]

    @property
    def is_there(self) -> bool:
        """Whether anything is left but the ledger, which remains where the guard alone was killed."""
        return bool(self.folders or self.processes or self.commands)

    def __str__(self) -> str:
        parts = [plural(len(self.processes), "process", "processes")] if self.processes else []
        parts += [f"{folder} ({size(_allocated_bytes(folder))})" for folder in self.folders]
        return f"{self.owner} was killed and left {listing(parts) or 'a cgroup or shared memory'}"


def find() -> list[Leftover]:
    """Return what jobs that have ended left on this machine, without folders that a living job holds now."""
    return [leftover for leftover in _of_ended_jobs() if leftover.is_there]


def _of_ended_jobs() -> list[Leftover]:
    readings = ledger.read_all()
    living = {folder for reading in readings if reading.is_living for folder in reading.entries.folders}
    return [_still_there(reading, living) for reading in readings if not reading.is_living]


def _still_there(reading: ledger.Reading, living: set[Path]) -> Leftover:
    entries, is_here = reading.entries, reading.owner.boot_id == ledger.read_boot_id()
    names = [name for path in entries.folders for name in (path, path.with_name(path.name + RENAMED))]
    folders = tuple(name for name in names if name not in living and os.path.lexists(name))
    noted = {pid for pid, start in entries.processes if is_here and lifetime.start_of(pid) == start}
    processes = sorted(noted | set(_at_work_in(folders)))
    return Leftover(reading.path, reading.owner, folders, tuple(processes), entries.commands if is_here else ())


def _at_work_in(folders: tuple[Path, ...]) -> Iterator[int]:
    """Yield the processes whose working directory is in one of these folders, as that of a server is."""
    if not folders:
        return
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):  # it has ended, or is another user's
            if entry.name.isdecimal() and any((entry / "cwd").readlink().is_relative_to(path) for path in folders):
                yield int(entry.name)


def end(leftover: Leftover) -> None:
    """Kill the processes, run the commands, remove the folders, then the ledger.

    Only for a process that holds the machine's lock exclusively. Raises OSError when a folder cannot be removed,
    RuntimeError naming processes that do not end.
    """
    pausing.signal_all(leftover.processes, signal.SIGKILL)
    _wait_for_end(leftover)
    for command in leftover.commands:
        words = shlex.split(command)
        subprocess.run(words, env=made_environment(), check=False, capture_output=True, timeout=COMMAND_WITHIN_S)
    for folder in leftover.folders:
        workplace.remove(folder)
    leftover.ledger.unlink(missing_ok=True)


def _wait_for_end(leftover: Leftover) -> None:
    deadline_s = time.monotonic() + ENDED_WITHIN_S
    while pids := [pid for pid in leftover.processes if not has_ended(pid)]:
        if time.monotonic() > deadline_s:
            raise RuntimeError(f"{leftover}; processes {listing(list(map(str, pids)))} did not end by SIGKILL")
        time.sleep(LOOK_S)


def has_ended(pid: int) -> bool:
    """Return whether a process is gone, or waits as a zombie for a parent that may never ask."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def clear() -> None:
    """End what killed jobs left, and say so; only for a process that holds the machine's lock exclusively."""
    for leftover in _of_ended_jobs():
        if leftover.is_there:
            say(f"{leftover}: ended and removed")
        end(leftover)


def clear_if_free() -> None:
    """End what killed jobs left, unless a process measures or compiles on this machine: that one may be using it."""
    with contextlib.suppress(Busy), exclusive(refuse):
        clear()


@contextlib.contextmanager
def hold_machine() -> Iterator[float]:
    """Hold this machine exclusively, freed of what killed jobs left on it; yields the seconds waited for it."""
    with exclusive(say_waiting) as waited_s:
        clear()
        yield waited_s


def _allocated_bytes(folder: Path) -> int:
    """Return the bytes of a folder on disk; files that vanish meanwhile count nothing."""
    size_bytes = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):
            size_bytes += path.lstat().st_blocks * 512
    return size_bytes
