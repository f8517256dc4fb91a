"""What lies in folders, each folder read once: a plan of ten thousand runs asks for every one of their records."""

import os
from functools import cache
from pathlib import Path
from typing import Any

from scripts import record


class Listing:
    """Names in folders and what records say, as they were when first asked for. Nothing is written."""

    def __init__(self) -> None:
        self.names = cache(_names)
        self.record = cache(_record)

    def has(self, path: str) -> bool:
        """Tell whether a file or folder is there."""
        folder, _, name = path.rpartition("/")
        return name in self.names(folder)

    def versions(self, folder: str, name: str) -> list[str]:
        """Return the folders `name`-digest in `folder`, the last made first."""
        found = [f"{folder}/{entry}" for entry in self.names(folder) if _without_digest(entry) == name]
        return sorted(found, key=lambda path: (Path(path).stat().st_mtime, path), reverse=True)

    def digested(self, folder: str, digest: str) -> str | None:
        """Return the folder in `folder` that ends in a digest, whatever its name, None without one."""
        found = (f"{folder}/{entry}" for entry in self.names(folder) if entry.endswith(f"-{digest}"))
        return next(found, None)


def _without_digest(name: str) -> str:
    return name.rpartition("-")[0]


def _names(folder: str) -> frozenset[str]:
    try:
        with os.scandir(folder) as entries:
            return frozenset(entry.name for entry in entries)
    except (FileNotFoundError, NotADirectoryError):
        return frozenset()


def _record(path: str) -> dict[str, Any] | None:
    """Return a record, None without one; one that cannot be read is told by the rule that needs it."""
    try:
        return record.read(Path(path))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
