"""What lies on disk, as it was at first use."""

import os
from pathlib import Path
from typing import Any

from scripts.lib import json_record
from scripts.study.plan.recipes import once


class Listing:
    """Names in folders and contents of records as they were at first use. Nothing is written."""

    @once
    def names(self, folder: str) -> frozenset[str]:
        """Return the names in a folder, none where there is no folder."""
        try:
            with os.scandir(folder) as entries:
                return frozenset(entry.name for entry in entries)
        except (FileNotFoundError, NotADirectoryError):
            return frozenset()

    @once
    def record(self, path: str) -> dict[str, Any] | None:
        """Return a record, None without one; the rule that needs an unreadable one reports it."""
        try:
            return json_record.read(Path(path))
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return None

    def has(self, path: str) -> bool:
        """Return whether a file or folder exists."""
        folder, _, name = path.rpartition("/")
        return name in self.names(folder)

    def versions(self, folder: str, name: str) -> list[str]:
        """Return the folders `name`-digest in `folder`, the latest first."""
        found = [f"{folder}/{entry}" for entry in self.names(folder) if entry.rpartition("-")[0] == name]
        return sorted(found, key=lambda path: (Path(path).stat().st_mtime, path), reverse=True)

    def digested(self, folder: str, digest: str) -> str | None:
        """Return the folder in `folder` whose name ends in a digest, None without one."""
        found = (f"{folder}/{entry}" for entry in self.names(folder) if entry.endswith(f"-{digest}"))
        return next(found, None)
