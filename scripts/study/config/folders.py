"""Mistakes in paths that must be folders: what is there already is something else, or cannot be written to."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from scripts.build.sources.local import TYPES
from scripts.lib.host.storage import file_system_of
from scripts.study.config.mistakes import Mistake
from scripts.study.config.sound import Sound

# File systems of the kernel's that hold no files of users.
WITHOUT_FILES = ("proc", "sysfs", "cgroup", "cgroup2", "debugfs", "tracefs", "securityfs", "devpts", "mqueue", "bpf")


def folder_mistakes(sound: Sound) -> Iterator[Mistake]:
    """Yield storages that can hold no data directories, and `directories` of toolchains that are no folders.

    A path that leads nowhere is no mistake: its disk may be mounted later.
    """
    for name, path in sound.declared.storage.items():
        folder = Path(path).expanduser()
        if text := _not_a_folder(folder) or _not_for_files(folder) or _not_writable(folder):
            yield Mistake(("storage", name), f"{path!r} {text}, expected a folder that can be written to")
    for name, toolchain in sound.declared.toolchains.items():
        for index, path in enumerate(toolchain.directories):
            if text := _not_a_folder(Path(path)):
                yield Mistake(("toolchains", name, "directories", index), f"{path!r} {text}, expected a folder")


def _not_a_folder(path: Path) -> str:
    """Return what a path is in place of a folder, or which part of it is none; nothing where it leads nowhere."""
    for part in [*reversed(path.absolute().parents), path.absolute()]:
        try:
            mode = part.stat().st_mode
        except OSError:
            return ""
        if not stat.S_ISDIR(mode):
            kind = TYPES.get(stat.S_IFMT(mode), "a file")
            return f"is {kind}" if part == path.absolute() else f"lies below {part}, which is {kind}"
    return ""


def _not_for_files(folder: Path) -> str:
    kind = file_system_of(folder).name
    return f"lies on a file system of kind {kind}" if kind in WITHOUT_FILES else ""


def _not_writable(folder: Path) -> str:
    nearest = folder if folder.exists() else folder.parent
    return (
        f"lies where this user may not write ({nearest})"
        if nearest.exists() and not os.access(nearest, os.W_OK)
        else ""
    )
