"""What this machine leaves to a study: memory, open files, processes; read, never changed."""

import resource
from dataclasses import dataclass
from pathlib import Path

from scripts import host

ROOT = Path("/")


@dataclass(frozen=True)
class Limit:
    """A limit that would be hit: what it is about, what to do, and whether it is certain to be hit."""

    text: str
    remedy: str
    certain: bool


@dataclass(frozen=True)
class Headroom:
    """MiB of memory, in all and to be had, `memory_limit` saying who leaves it; files one process may open, as it is
    and at most; processes. None: no limit.
    """

    total_mib: float
    available_mib: float
    memory_limit: str
    open_files: int | None
    most_open_files: int | None
    processes: int | None


def read(root: Path = ROOT) -> Headroom:
    """Read the figures from /proc and /sys below `root`, and this process's own limits."""
    memory_mib = host.meminfo_mib(root)
    available_mib, who = memory_mib["MemAvailable"], "the machine"
    limit_mib = host.read_memory_limit_mib(root)
    if limit_mib is not None and limit_mib < available_mib:
        available_mib, who = limit_mib, "the cgroup's memory.max"
    open_files, most_open_files = map(_bounded, resource.getrlimit(resource.RLIMIT_NOFILE))
    counts = [_bounded(resource.getrlimit(resource.RLIMIT_NPROC)[0]), read_pids_left(root)]
    processes = min((count for count in counts if count is not None), default=None)
    return Headroom(memory_mib["MemTotal"], available_mib, who, open_files, most_open_files, processes)


def read_pids_left(root: Path = ROOT) -> int | None:
    """Return how many more processes this process's cgroup and those above it allow (version 2), None without a limit.

    A container sees its own cgroup as the root of /sys/fs/cgroup.
    """
    top = root / "sys/fs/cgroup"
    own = top / _own_cgroup(root)
    folders = [folder for folder in (own, *own.parents) if folder.is_relative_to(top)]
    left = [
        most - (_number(folder / "pids.current") or 0) for folder in folders if (most := _number(folder / "pids.max"))
    ]
    return min(left, default=None)


def _own_cgroup(root: Path) -> str:
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return ""
    return next((line.removeprefix("0::").strip("/") for line in lines if line.startswith("0::")), "")


def _number(path: Path) -> int | None:
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdecimal() else None


def _bounded(limit: int) -> int | None:
    return None if limit == resource.RLIM_INFINITY else limit
