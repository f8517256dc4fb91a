"""Facts about a source tree: its entries, the digest of its content, where its links lead, the release it names."""

import hashlib
import os
import re
import stat
from collections.abc import Container, Iterator
from pathlib import Path, PurePosixPath

from scripts.build.sources import SourceError
from scripts.build.sources.installed import Product

CHUNK_BYTES = 1 << 20
# Of folders inside each other: the trees of servers have fewer than 20; beyond 1000, Python cannot remove them.
DEPTH_MAX = 100


def entries(folder: bytes) -> Iterator[tuple[bytes, int]]:
    """Yield (relative path, mode) of all below a directory, no link followed. Raises SourceError if it is too deep."""
    below = [b""]
    while below:
        inner = below.pop()
        if inner.count(b"/") > DEPTH_MAX:
            raise SourceError(f"{os.fsdecode(folder)}: folders inside each other more than {DEPTH_MAX} deep")
        with os.scandir(folder + b"/" + inner) as listed:
            for entry in listed:
                relative = inner + entry.name
                yield relative, entry.stat(follow_symlinks=False).st_mode
                if entry.is_dir(follow_symlinks=False):
                    below.append(relative + b"/")


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
            raise SourceError(f"{os.fsdecode(path)}: neither file, directory nor symbolic link")


def tree_sha256(root: Path, without: Container[bytes] = ()) -> str:
    """Return the digest (hex) of paths, types, owner's exec bits and contents below `root`.

    Times, owners and the paths in `without`, relative to `root`, are left out.
    Bytes paths throughout: pathlib doubles the time on 100 000 files.
    """
    base = os.fsencode(root)
    total = hashlib.sha256()
    for relative, mode in sorted(entry for entry in entries(base) if entry[0] not in without):
        entry_digest = hashlib.sha256()
        for chunk in content(base + b"/" + relative, mode):
            entry_digest.update(chunk)
        total.update(relative + b"\0" + entry_digest.digest())
    return total.hexdigest()


def symbolic_links(root: Path) -> Iterator[tuple[str, str]]:
    """Yield (name relative to `root`, target) of each symbolic link below `root`."""
    base = os.fsencode(root)
    for relative, mode in entries(base):
        if stat.S_ISLNK(mode):
            yield os.fsdecode(relative), os.fsdecode(os.readlink(base + b"/" + relative))  # noqa: PTH115


def link_problem(name: str, link: str) -> str | None:
    """Return why the symbolic link `name` of a tree could lead out of the tree, None if it cannot.

    `..` passes only at the start of the target: behind a name, that name may be a link itself, and then the kernel goes
    elsewhere than the text says. A link to `.` stays where it is.
    """
    target = PurePosixPath(link).parts
    climbs = target.count("..")
    if not link or link.startswith("/") or climbs > len(PurePosixPath(name).parts) - 1:
        return f"symbolic link out of the tree, to {link!r}"
    return f"symbolic link with '..' behind a name, to {link!r}" if ".." in target[climbs:] else None


def release_of(tree: Path, product: Product) -> str | None:
    """Read the release that sources state ("10.11.18", "15.18"), None if no file of the product states one."""
    for name, pattern in product.release_files:
        file = tree / name
        if file.is_file():
            text = file.read_text(encoding="utf-8", errors="replace")
            if numbers := re.findall(pattern, text, re.MULTILINE):
                return ".".join(numbers)
    return None


def require_buildable(tree: Path) -> None:
    """Raise SourceError unless there is something to configure at the top."""
    if not any((tree / name).is_file() for name in ("CMakeLists.txt", "configure")):
        names = ", ".join(sorted(path.name for path in tree.iterdir())[:8])
        raise SourceError(f"no CMakeLists.txt or configure at the top of the sources, only: {names}")
