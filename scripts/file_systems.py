"""File systems, nothing written: which one holds a folder, how much is free on it, whether it can clone files."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

# Where files share blocks (FICLONE): XFS since its tools make it so by default, OpenZFS since 2.2.
CLONING = ("btrfs", "xfs", "zfs", "bcachefs", "ocfs2")
MOUNTS = Path("/proc/self/mountinfo")


@dataclass(frozen=True)
class FileSystem:
    """`number` is the device's; `name` its type, such as ext4; `free_mib` is what this user may still write."""

    number: int
    name: str
    free_mib: float


def of(path: str | Path) -> FileSystem:
    """Return the file system that holds `path`, or will once it is made."""
    place = nearest(Path(path).expanduser())
    name = mounted(place, MOUNTS.read_text(encoding="utf-8"))
    return FileSystem(place.stat().st_dev, name, shutil.disk_usage(place).free / 2**20)


def clones(source: FileSystem, target: FileSystem) -> bool:
    """Tell whether files are cloned from one place to another without copying, as far as the type tells."""
    return source.number == target.number and source.name in CLONING


def nearest(path: Path) -> Path:
    """Return a folder, or the nearest one above it that exists."""
    return next(folder for folder in [path.absolute(), *path.absolute().parents] if folder.exists()).resolve()


def mounted(path: Path, mountinfo: str) -> str:
    """Return the type of the file system a path is on, from proc_pid_mountinfo(5)."""
    best, kind = "", "unknown"
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        point = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), left.split()[4])
        # Of mounts over one another the last counts.
        if path.is_relative_to(point) and len(point) >= len(best):
            best, kind = point, right.split()[0]
    return kind
