"""What a job holds outside its results, written down for the case that the job and its guard are killed together.

A ledger is a file of lines `folder P`, `run C` and `process N S`, as the guard has them (see lifetime), or `drop` and
such a line. The job holds a lock on it, which the kernel releases at the job's death; the guard removes it once all is
worked off. So a ledger without a lock tells what a container, a cluster's step or a kernel short of memory left behind.
"""

import contextlib
import fcntl
import os
import secrets
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from scripts.lib.host import cache

PREFIX = "held-"
# Process groups end with their leader, which dies with its parent; what outlives it is at work in a folder.
LASTING = ("folder", "run", "process")
# A job that holds none of these leaves nothing, and needs no ledger.
MADE_FOR = ("folder ", "run ")


@dataclass(frozen=True)
class Owner:
    """The job of a ledger: process id, start in clock ticks since boot, id of that boot, name of the host."""

    pid: int
    start: str
    boot_id: str
    host: str

    def __str__(self) -> str:
        return f"process {self.pid} of host {self.host}"


@dataclass(frozen=True)
class Entries:
    """What an ended job still held: folders to remove, commands to run, processes as (id, start in clock ticks)."""

    folders: tuple[Path, ...]
    commands: tuple[str, ...]
    processes: tuple[tuple[int, str], ...]


def read_boot_id() -> str:
    """Return the id that the kernel drew when it started (proc_sys_kernel(5))."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


class Ledger:
    """The ledger of this process, locked until it ends."""

    def __init__(self, start: str) -> None:
        owner = Owner(os.getpid(), start, read_boot_id(), socket.gethostname())
        self.path = cache.cache_directory() / f"{PREFIX}{secrets.token_hex(8)}"
        # Locked before it has its name: a ledger without a lock counts as that of an ended job.
        unnamed = self.path.with_name(f".{self.path.name}")
        self._handle = os.open(unnamed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        self._write(f"owner {owner.pid} {owner.start} {owner.boot_id} {owner.host}")
        unnamed.rename(self.path)

    def note(self, line: str) -> None:
        """Write a line of the guard down, unless what it names ends with the job in any case."""
        verb, _, rest = line.partition(" ")
        if (rest.partition(" ")[0] if verb == "drop" else verb) in LASTING:
            self._write(line)

    def _write(self, line: str) -> None:
        os.write(self._handle, f"{line}\n".encode("utf-8", "surrogateescape"))
        if line.startswith(MADE_FOR):  # a folder outlives a power cut as well
            os.fsync(self._handle)


@dataclass(frozen=True)
class Reading:
    """A ledger as it was read: what its owner holds, or held at its end, and whether the owner lives."""

    path: Path
    owner: Owner
    entries: Entries
    is_living: bool


def read_all() -> list[Reading]:
    """Return what is in the ledgers of this user's jobs on this machine.

    Raises ValueError naming a ledger that no job can have written.
    """
    readings = []
    for path in sorted(cache.cache_path().glob(f"{PREFIX}*")):
        with contextlib.suppress(FileNotFoundError), path.open("rb") as file:  # a guard may remove it meanwhile
            is_living = _is_locked(file)
            readings.append(Reading(path, *parse(path, file.read().decode("utf-8", "surrogateescape")), is_living))
    return readings


def _is_locked(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def parse(path: Path, text: str) -> tuple[Owner, Entries]:
    """Return the owner of a ledger and what it holds. Raises ValueError naming the ledger if it begins otherwise."""
    head, *lines = text.splitlines() or [""]
    verb, *words = head.split(maxsplit=4)
    if verb != "owner" or len(words) != 4 or not words[0].isdecimal():
        raise ValueError(f"{path}: begins with {head!r}, expected the owner of a ledger; remove the file")
    entries_left: dict[str, None] = {}
    for line in lines:
        if line.startswith("drop "):
            entries_left.pop(line.removeprefix("drop "), None)
        else:
            entries_left[line] = None
    parts = [line.partition(" ") for line in entries_left]
    starts = [rest.split() for verb, _, rest in parts if verb == "process"]
    entries = Entries(
        folders=tuple(Path(rest) for verb, _, rest in parts if verb == "folder"),
        commands=tuple(rest for verb, _, rest in parts if verb == "run"),
        processes=tuple((int(pid), start) for pid, start in starts),
    )
    return Owner(int(words[0]), *words[1:]), entries
