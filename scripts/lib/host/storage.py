"""Storage: file systems, what they can do (clone files, punch holes), how fast fsync is, and the page cache.

InnoDB's compressed pages leave holes in files. If the file system has none, the server stores whole pages and only
warns the client that made the table.
"""

import contextlib
import ctypes
import os
import re
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scripts.lib.host.process import CommandFailed, output_of
from scripts.lib.json_record import Json

# Where files share blocks (FICLONE): XFS since its tools make it so by default, OpenZFS since 2.2.
REFLINKING = ("btrfs", "xfs", "zfs", "bcachefs", "ocfs2")
MOUNTS = Path("/proc/self/mountinfo")


@dataclass(frozen=True)
class FileSystem:
    """`number` is the device's; `name` its type, such as ext4; `free_mib` is what this user may still write."""

    number: int
    name: str
    free_mib: float
    mount_options: str = ""

    @property
    def noexec(self) -> bool:
        """Return whether no program can be run from it."""
        return "noexec" in self.mount_options.split(",")


def file_system_of(path: str | Path) -> FileSystem:
    """Return the file system that holds `path`, or will once it is made."""
    folder = nearest_folder(Path(path).expanduser())
    name, options = mount_of(folder, MOUNTS.read_text(encoding="utf-8"))
    return FileSystem(folder.stat().st_dev, name, shutil.disk_usage(folder).free / 2**20, options)


def can_reflink(source: FileSystem, target: FileSystem) -> bool:
    """Return whether files are probably cloned between two places without copying, by the file system's type."""
    return source.number == target.number and source.name in REFLINKING


def nearest_folder(path: Path) -> Path:
    """Return a folder, or the nearest one above it that exists."""
    return next(folder for folder in [path.absolute(), *path.absolute().parents] if folder.exists()).resolve()


def mount_of(path: Path, mountinfo: str) -> tuple[str, str]:
    """Return type and options of the file system a path is on, from proc_pid_mountinfo(5).

    The options are those of the mount and then those of the file system itself, separated by commas, each once.
    """
    best, mount = "", ("unknown", "")
    for line in mountinfo.splitlines():
        head, _, right = line.partition(" - ")
        _, _, _, _, where, of_mount = head.split()[:6]
        point = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), where)
        # Of mounts over one another the last counts.
        if path.is_relative_to(point) and len(point) >= len(best):
            kind, _, of_system = right.split(" ")[:3]
            best, mount = point, (kind, ",".join(dict.fromkeys(f"{of_mount},{of_system}".split(","))))
    return mount


# A redo log is a file with its blocks allocated, written over in pieces of a few KiB.
BLOCK_BYTES, FILE_BYTES = 4096, 2**20
MOST_FSYNCS, LEAST_FSYNCS, ENOUGH_S = 200, 16, 0.25


def fsync_facts(folder: Path) -> dict[str, dict[str, Json]]:
    """Return what a run records of the place of its data: `fsync_ms`, and `medium`, what kind of place it is.

    `device` is the name of a disk or partition as the kernel has it, None where files lie on none, as in memory.
    """
    took_ms = fsync_times_ms(folder)
    low, middle, high, most = np.percentile(took_ms, [0, 50, 95, 100]).tolist()
    system = file_system_of(folder)
    block = Path(f"/sys/dev/block/{os.major(system.number)}:{os.minor(system.number)}")
    device = block.resolve().name if block.exists() else None
    return {
        "fsync_ms": {"min": low, "p50": middle, "p95": high, "max": most},
        "medium": {
            "file_system": system.name,
            "mount_options": system.mount_options,
            "device": device,
            "fsyncs": len(took_ms),
        },
    }


def fsync_times_ms(folder: Path) -> list[float]:
    """Return the milliseconds of fsync calls one after the other, each after 4 KiB of a file were overwritten.

    The file is in `folder` and has no name. Calls end after 200, or after 16 and a quarter of a second. Raises OSError
    when the file system refuses.
    """
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        file.write(bytes(FILE_BYTES))
        os.fsync(file.fileno())
        times_ms: list[float] = []
        begin_s = time.monotonic()
        while len(times_ms) < LEAST_FSYNCS or (len(times_ms) < MOST_FSYNCS and time.monotonic() - begin_s < ENOUGH_S):
            os.pwrite(file.fileno(), os.urandom(BLOCK_BYTES), len(times_ms) * BLOCK_BYTES % FILE_BYTES)
            called_s = time.perf_counter()
            os.fsync(file.fileno())
            times_ms.append((time.perf_counter() - called_s) * 1000)
    return times_ms


DROP_COMMAND = ["fincore", "--bytes", "--raw", "--noheadings", "--output", "RES"]
MOST_CACHED_FILES = 500


def drop_cached(folder: Path) -> dict[str, int | None]:
    """Write all files below a folder to storage, and drop them from the page cache.

    Returns `cached_bytes` before and `left_bytes` after: None where no command reports it. A file in memory (tmpfs) has
    nothing but cached pages; so these stay, as do those the kernel would not give up.
    """
    files = files_below(folder)
    before = cached_bytes(files)
    drop_files(folder)
    return {"cached_bytes": before, "left_bytes": cached_bytes(files)}


def drop_files(folder: Path) -> None:
    """Write all files below a folder to storage and drop them from the page cache, without counting."""
    for file in files_below(folder):
        with contextlib.suppress(FileNotFoundError):  # a server at work removes files
            _advise_dontneed(file)


def files_below(folder: Path) -> list[Path]:
    """Return all files below a folder, links apart."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def _advise_dontneed(file: Path) -> None:
    handle = os.open(file, os.O_RDONLY)
    try:
        os.fsync(handle)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(handle)


def cached_bytes(files: list[Path]) -> int | None:
    """Return the bytes of files that are in the page cache, by fincore(1); None without that command."""
    parts = [files[start : start + MOST_CACHED_FILES] for start in range(0, len(files), MOST_CACHED_FILES)]
    try:
        counts = [output_of([*DROP_COMMAND, *part]) for part in parts]
    except (FileNotFoundError, CommandFailed):
        return None
    return sum(int(line) for text in counts for line in text.split())


TABLE_OPTION = "create_table_options"
ASKS_COMPRESSED_PAGES = re.compile(
    r"\bCOMPRESSION\s*=\s*['\"]?(?!none\b)\w|\bPAGE_COMPRESSED\b(?!`?\s*=\s*['\"]?(?:0|no|off)\b)", re.IGNORECASE
)
# fallocate(2)
KEEP_SIZE, PUNCH_HOLE = 1, 2
HOLE_TRIAL_BYTES = 64 * 1024


def compressed_page_options(tables: Mapping[str, object]) -> str | None:
    """Return the options of a dataset's `tables` if they ask for compressed pages, otherwise None."""
    options = tables.get("options")
    text = str(options.get(TABLE_OPTION, "")) if isinstance(options, Mapping) else ""
    return text if ASKS_COMPRESSED_PAGES.search(text) else None


def punches_holes(folder: Path) -> bool:
    """Return whether holes can be punched into files of a folder, tried on one without a name.

    Raises OSError when no file can be made there.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    offsets = (ctypes.c_long(HOLE_TRIAL_BYTES // 2), ctypes.c_long(HOLE_TRIAL_BYTES // 4))
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        file.write(b"x" * HOLE_TRIAL_BYTES)
        os.fsync(file.fileno())
        blocks = os.fstat(file.fileno()).st_blocks
        done = libc.fallocate(file.fileno(), KEEP_SIZE | PUNCH_HOLE, *offsets)
        return done == 0 and os.fstat(file.fileno()).st_blocks < blocks


def no_holes_text(folder: Path) -> str:
    kind, _ = mount_of(folder.resolve(), MOUNTS.read_text(encoding="utf-8"))
    return (
        f"needs a file system that can punch holes, which {folder} ({kind}) cannot: pages would stay as large as they "
        "are; use ext4, xfs, btrfs or tmpfs, under `storage` or for the checkout"
    )
