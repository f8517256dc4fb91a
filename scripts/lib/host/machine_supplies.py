"""Supplies that servers share: huge pages, asynchronous I/O, locked memory, and the limits on processes."""

import re
import resource
from dataclasses import dataclass
from pathlib import Path

from scripts.lib.host.machine_facts import cgroup_folders

FILE_SYSTEM_ROOT = Path("/")
KIB_PER_MIB = 1024
# Lines of /proc/PID/maps: a mapping of huge pages, and the ring of events of an asynchronous I/O context.
HUGE_MAPPING = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) .* /anon_hugepage(?: \(deleted\))?$", re.M)
AIO_RING = re.compile(r" /\[aio\](?: \(deleted\))?$", re.M)
IO_URING = "anon_inode:[io_uring]"


@dataclass(frozen=True)
class Left:
    """What a machine has left: MiB of huge pages and their size, slots of asynchronous I/O; None: not known.

    `lockable_mib` is what one process of this user may lock, None without a limit.
    """

    huge_pages_mib: float | None = None
    huge_page_mib: float | None = None
    aio_slots: int | None = None
    lockable_mib: float | None = None


@dataclass(frozen=True)
class Got:
    """What a process got: MiB of huge pages, contexts of asynchronous I/O, rings of io_uring, MiB that are locked.

    A value that this machine does not tell is None.
    """

    huge_pages_mib: float | None = None
    aio_contexts: int | None = None
    io_urings: int | None = None
    locked_mib: float | None = None


def read_left(root: Path = FILE_SYSTEM_ROOT) -> Left:
    """Read what is left from /proc below `root`, and this process's own limit."""
    meminfo = _text(root / "proc/meminfo")
    size_mib = _kib(meminfo, "Hugepagesize")
    free, reserved = (_count(meminfo, f"HugePages_{name}") for name in ("Free", "Rsvd"))
    most, used = (number_in(root / "proc/sys/fs" / name) for name in ("aio-max-nr", "aio-nr"))
    lockable = bounded(resource.getrlimit(resource.RLIMIT_MEMLOCK)[0])
    return Left(
        huge_pages_mib=None if size_mib is None or free is None else (free - (reserved or 0)) * size_mib,
        huge_page_mib=size_mib,
        aio_slots=None if most is None or used is None else max(most - used, 0),
        lockable_mib=None if lockable is None else lockable / 2**20,
    )


def got_by(pid: int, root: Path = FILE_SYSTEM_ROOT) -> Got:
    """Return what a process got. Its children share its huge pages.

    Of huge pages it is what it mapped, or what it uses where that is more: shared memory of System V has no name.
    """
    folder = root / "proc" / str(pid)
    status, maps = _text(folder / "status"), _text(folder / "maps")
    used_mib, mapped_mib = _kib(status, "HugetlbPages"), _mapped_mib(maps)
    return Got(
        huge_pages_mib=None if used_mib is None or mapped_mib is None else max(used_mib, mapped_mib),
        aio_contexts=len(AIO_RING.findall(maps)) if maps else None,
        io_urings=_io_urings(folder / "fd"),
        locked_mib=_kib(status, "VmLck"),
    )


def _mapped_mib(maps: str) -> float | None:
    if not maps:
        return None
    return sum(int(end, 16) - int(begin, 16) for begin, end in HUGE_MAPPING.findall(maps)) / 2**20


def _io_urings(folder: Path) -> int | None:
    count = 0
    try:
        for link in folder.iterdir():
            try:
                count += str(link.readlink()) == IO_URING
            except FileNotFoundError:  # closed meanwhile
                continue
    except OSError:
        return None
    return count


def _text(path: Path) -> str:
    """Return a file of the kernel, empty when this user may not read it or its process has ended."""
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""


def _kib(text: str, key: str) -> float | None:
    """Return a line `key: N kB` in MiB, None without it."""
    match = re.search(rf"^{key}:\s+(\d+) kB$", text, re.M)
    return int(match[1]) / KIB_PER_MIB if match else None


def _count(text: str, key: str) -> int | None:
    match = re.search(rf"^{key}:\s+(\d+)$", text, re.M)
    return int(match[1]) if match else None


def read_processes(root: Path = FILE_SYSTEM_ROOT, *, remaining: bool = True) -> tuple[str, int | None]:
    """Return the name of the tightest limit on processes and threads, and its number, None without a limit.

    Of a cgroup it is what is `remaining` of its limit, or the limit itself, which does not change from moment to
    moment.
    """
    kernel = {f"kernel.{name}": number_in(root / "proc/sys/kernel" / name) for name in ("pid_max", "threads-max")}
    counts = {
        "`ulimit -u`": bounded(resource.getrlimit(resource.RLIMIT_NPROC)[0]),
        "pids.max of the cgroup": read_pids(root, remaining=remaining),
        **kernel,
    }
    limits = {name: count for name, count in counts.items() if count is not None}
    return min(limits.items(), key=lambda pair: pair[1], default=("", None))


def read_pids(root: Path = FILE_SYSTEM_ROOT, *, remaining: bool = True) -> int | None:
    """Return how many processes this process's cgroup and those above it allow (version 2 or 1), None without a limit.

    `remaining`: how many more.
    """
    folders = cgroup_folders(root, "pids")
    limits = {folder: most for folder in folders if (most := number_in(folder / "pids.max")) is not None}
    used = {folder: (number_in(folder / "pids.current") or 0) if remaining else 0 for folder in limits}
    return min((most - used[folder] for folder, most in limits.items()), default=None)


def number_in(path: Path) -> int | None:
    """Return the number that a file of the kernel holds; None without the file, or when it holds a word."""
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdecimal() else None


def bounded(limit: int) -> int | None:
    """Return a limit of a resource, None when it is infinite."""
    return None if limit == resource.RLIM_INFINITY else limit
