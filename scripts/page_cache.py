"""The page cache of a data directory: emptied without touching anybody else's, and what stayed in it."""

import os
import subprocess
from pathlib import Path
from typing import Any

COMMAND = ["fincore", "--bytes", "--raw", "--noheadings", "--output", "RES"]
MOST_FILES = 500


def empty(folder: Path) -> dict[str, Any]:
    """Have the kernel forget the cached pages of all files below a folder; they are written to storage first.

    Returns `cached_bytes` before and `left_bytes` after: None where no command tells. A file in memory (tmpfs) has
    nothing but cached pages; so these stay, as do those the kernel would not give up.
    """
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    before = cached_bytes(files)
    for file in files:
        _forget(file)
    return {"cached_bytes": before, "left_bytes": cached_bytes(files)}


def _forget(file: Path) -> None:
    handle = os.open(file, os.O_RDONLY)
    try:
        os.fsync(handle)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(handle)


def cached_bytes(files: list[Path]) -> int | None:
    """Return the bytes of files that lie in the page cache, as fincore(1) counts them; None without that command."""
    parts = [files[place : place + MOST_FILES] for place in range(0, len(files), MOST_FILES)]
    try:
        commands = [[*COMMAND, *map(str, part)] for part in parts]
        told = [subprocess.run(command, capture_output=True, text=True, check=True) for command in commands]
    except (FileNotFoundError, subprocess.CalledProcessError):
        return None
    return sum(int(line) for one in told for line in one.stdout.split())
