"""What lies on disk, as it was at first use."""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

from scripts.lib import json_record
from scripts.lib.json_record import Json

Facts = dict[str, Json]


def _names(folder: str) -> frozenset[str]:
    """Return the names in a folder, none where there is no folder."""
    try:
        with os.scandir(folder) as entries:
            return frozenset(entry.name for entry in entries)
    except (FileNotFoundError, NotADirectoryError):
        return frozenset()


def _record(path: str) -> Facts | None:
    """Return a record, None without one; the rule that needs an unreadable one reports it."""
    try:
        return json_record.read(Path(path))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None


class Listing:
    """Names in folders and contents of records as they were at first use. Nothing is written."""

    def __init__(self) -> None:
        self.names: Callable[[str], frozenset[str]] = cache(_names)
        self.record: Callable[[str], Facts | None] = cache(_record)

    def has(self, path: str) -> bool:
        """Return whether a file or folder exists."""
        folder, _, name = path.rpartition("/")
        return name in self.names(folder)

    def versions(self, folder: str, name: str) -> list[str]:
        """Return the folders `name`-digest in `folder`, the latest first."""
        versions = [f"{folder}/{entry}" for entry in self.names(folder) if entry.rpartition("-")[0] == name]
        return sorted(versions, key=lambda path: (Path(path).stat().st_mtime, path), reverse=True)

    def digested(self, folder: str, digest: str) -> str | None:
        """Return the folder in `folder` whose name ends in a digest, None without one."""
        folders = (f"{folder}/{entry}" for entry in self.names(folder) if entry.endswith(f"-{digest}"))
        return next(folders, None)
