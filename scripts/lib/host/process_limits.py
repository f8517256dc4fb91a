"""How many processes and threads may run: the limits of the user, of the cgroup and of the kernel."""

import resource
from pathlib import Path

from scripts.lib.host.machine_facts import cgroup_folders

FILE_SYSTEM_ROOT = Path("/")


def read_processes(root: Path = FILE_SYSTEM_ROOT, *, left: bool = True) -> tuple[str, int | None]:
    """Return the name of the tightest limit on processes and threads, and its number, None without a limit.

    Of a cgroup it is what is `left` of its limit, or the limit itself, which does not change from moment to moment.
    """
    kernel = {f"kernel.{name}": number_in(root / "proc/sys/kernel" / name) for name in ("pid_max", "threads-max")}
    counts = {
        "`ulimit -u`": bounded(resource.getrlimit(resource.RLIMIT_NPROC)[0]),
        "pids.max of the cgroup": read_pids(root, left=left),
        **kernel,
    }
    known = {name: count for name, count in counts.items() if count is not None}
    return min(known.items(), key=lambda pair: pair[1], default=("", None))


def read_pids(root: Path = FILE_SYSTEM_ROOT, *, left: bool = True) -> int | None:
    """Return how many processes this process's cgroup and those above it allow (version 2 or 1), None without a limit.

    `left`: how many more.
    """
    folders = cgroup_folders(root, "pids")
    limits = {folder: most for folder in folders if (most := number_in(folder / "pids.max")) is not None}
    used = {folder: (number_in(folder / "pids.current") or 0) if left else 0 for folder in limits}
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
