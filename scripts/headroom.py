"""What this machine leaves to a study: memory, open files, processes; read, never changed."""

import resource
from dataclasses import dataclass
from pathlib import Path

from scripts import host

ROOT = Path("/")


@dataclass(frozen=True)
class Limit:
    """A limit that would be hit: what it is about, what to do, and whether it is certain to be hit.

    With `refused` it is one of counts, not of estimates: clients beyond it are not granted, so none are sent.
    """

    text: str
    remedy: str
    certain: bool
    refused: bool = False


@dataclass(frozen=True)
class Headroom:
    """MiB of memory, in all and to be had, `memory_limit` saying who leaves it; files one process may open, as it is
    and at most; processes, `process_limit` saying what limits them; connections that a socket keeps waiting. None: no
    limit.
    """

    total_mib: float
    available_mib: float
    memory_limit: str
    open_files: int | None
    most_open_files: int | None
    processes: int | None
    process_limit: str = "`ulimit -u`"
    waiting: int | None = None


def read(root: Path = ROOT) -> Headroom:
    """Read the figures from /proc and /sys below `root`, and this process's own limits."""
    memory_mib = host.meminfo_mib(root)
    available_mib, who = memory_mib["MemAvailable"], "the machine"
    limit_mib = host.read_memory_limit_mib(root)
    if limit_mib is not None and limit_mib < available_mib:
        available_mib, who = limit_mib, "the cgroup's memory.max"
    open_files, most_open_files = map(_bounded, resource.getrlimit(resource.RLIMIT_NOFILE))
    limit, processes = read_processes(root)
    waiting = _number(root / "proc/sys/net/core/somaxconn")
    total_mib = memory_mib["MemTotal"]
    return Headroom(total_mib, available_mib, who, open_files, most_open_files, processes, limit, waiting)


def read_processes(root: Path = ROOT) -> tuple[str, int | None]:
    """Return the tightest limit on processes and threads, and how many it allows, None without one."""
    kernel = {f"kernel.{name}": _number(root / "proc/sys/kernel" / name) for name in ("pid_max", "threads-max")}
    counts = {
        "`ulimit -u`": _bounded(resource.getrlimit(resource.RLIMIT_NPROC)[0]),
        "pids.max of the cgroup": read_pids_left(root),
        **kernel,
    }
    known = {name: count for name, count in counts.items() if count is not None}
    return min(known.items(), key=lambda pair: pair[1], default=("", None))


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
