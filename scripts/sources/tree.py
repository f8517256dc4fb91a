"""Tell what a directory of sources holds: a digest of its content, and the release it names itself."""

import hashlib
import os
import re
import stat
from collections.abc import Container, Iterator
from pathlib import Path

CHUNK_BYTES = 1 << 20

RELEASE_FILES: dict[str, str] = {
    "MYSQL_VERSION": r"MYSQL_VERSION_(?:MAJOR|MINOR|PATCH)=(\d+)",
    "VERSION": r"MYSQL_VERSION_(?:MAJOR|MINOR|PATCH)=(\d+)",
    "configure": r"^PACKAGE_VERSION='([\w.]+)'",
}


def entries(folder: bytes, prefix: bytes = b"") -> Iterator[tuple[bytes, int]]:
    """Yield (relative path, mode) of everything below a directory, links not followed."""
    with os.scandir(folder) as found:
        for entry in found:
            relative = prefix + entry.name
            yield relative, entry.stat(follow_symlinks=False).st_mode
            if entry.is_dir(follow_symlinks=False):
                yield from entries(entry.path, relative + b"/")


def content(path: bytes, mode: int) -> Iterator[bytes]:
    """Yield the type letter of one entry, then its content in chunks."""
    match stat.S_IFMT(mode):
        case stat.S_IFREG:
            yield b"x" if mode & 0o100 else b"f"
            with open(path, "rb", buffering=0) as file:  # noqa: PTH123
                while chunk := file.read(CHUNK_BYTES):
                    yield chunk
        case stat.S_IFDIR:
            yield b"d"
        case stat.S_IFLNK:
            yield b"l"
            yield os.readlink(path)  # noqa: PTH115
        case _:
            raise ValueError(f"{os.fsdecode(path)}: neither file, directory nor symbolic link")


def tree_sha256(root: Path, without: Container[bytes] = ()) -> str:
    """Digest paths, types, owner's exec bit and contents below `root` (hex); times, owners and other bits are left out.

    So are the paths in `without`, relative to `root`.
    Bytes paths throughout: pathlib doubles the time on 100 000 files.
    """
    base = os.fsencode(root)
    total = hashlib.sha256()
    for relative, mode in sorted(entry for entry in entries(base) if entry[0] not in without):
        one = hashlib.sha256()
        for chunk in content(base + b"/" + relative, mode):
            one.update(chunk)
        total.update(relative + b"\0" + one.digest())
    return total.hexdigest()


def release_of(tree: Path) -> str | None:
    """Read the release the sources name themselves ("10.11.18", "15.18"), None where they name none known to us."""
    for name, pattern in RELEASE_FILES.items():
        file = tree / name
        if file.is_file():
            text = file.read_text(encoding="utf-8", errors="replace")
            if numbers := re.findall(pattern, text, re.MULTILINE):
                return ".".join(numbers)
    return None


def require_buildable(tree: Path) -> None:
    """Raise ValueError unless there is something to configure at the top."""
    if not any((tree / name).is_file() for name in ("CMakeLists.txt", "configure")):
        found = ", ".join(sorted(path.name for path in tree.iterdir())[:8])
        raise ValueError(f"no CMakeLists.txt or configure at the top of the sources, only: {found}")
