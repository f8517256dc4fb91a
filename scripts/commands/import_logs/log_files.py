"""The files below a folder of logs: every entry is either a file to read or refused with a reason."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from scripts.commands.import_logs.pattern import natural_key


@dataclass
class FilesBelow:
    """The files below a folder, as paths relative to it, and (path, reason) of entries that cannot be read."""

    files: list[str] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)


def shown(path: str) -> str:
    """Return a path as it can be printed: bytes that are not UTF-8 as escapes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def files_below(folder: Path) -> FilesBelow:
    """Return the files below a folder; linked folders outside it are read as if they were inside."""
    below = FilesBelow()
    folders = {os.path.realpath(folder): "."}
    waiting = [""]
    while waiting:
        where = waiting.pop()
        for name, outcome in _entries(folder, where):
            if outcome is None:
                below.files.append(name)
            elif outcome:
                below.refused.append((shown(name), outcome))
            elif refusal := _linked(folder, name, folders):
                below.refused.append((shown(name), refusal))
            else:
                waiting.append(name)
    below.files.sort(key=natural_key)
    return below


def _entries(folder: Path, where: str) -> Iterator[tuple[str, str | None]]:
    """Yield (path, None) of a file, (path, "") of a folder, (path, reason) of all others."""
    try:
        entries = list(os.scandir(folder / where))
    except OSError as error:
        yield where or ".", f"a folder that cannot be read: {error.strerror}"
        return
    for entry in entries:
        yield str(Path(where) / entry.name), _kind(entry)


def _kind(entry: os.DirEntry[str]) -> str | None:
    try:
        if entry.is_dir():
            return ""
        if shown(entry.name) != entry.name:
            return "its name is not UTF-8"
        if entry.is_file():
            return None
        if entry.is_symlink() and not Path(entry.path).exists():
            return f"a link to {shown(str(Path(entry.path).readlink()))}, which does not exist"
    except OSError as error:
        return f"it cannot be looked at: {error.strerror}"
    return "neither a file nor a folder"


def _linked(folder: Path, name: str, folders: dict[str, str]) -> str:
    """Return why a folder is not entered, nothing if it is: each is read once, under its own path."""
    if shown(name) != name:
        return "a folder whose name is not UTF-8"
    real, root = os.path.realpath(folder / name), os.path.realpath(folder)
    if (folder / name).is_symlink():
        if real == root or real.startswith(f"{root}/"):
            return f"a link to {shown(os.path.relpath(real, root))}, which is read under that path"
        if root.startswith(f"{real.rstrip('/')}/"):
            return "a link to a folder that holds all these logs"
    if real in folders:
        return f"the same folder as {folders[real]}"
    folders[real] = name
    return ""
