"""A directory of the user as the sources of a server: its files, their digest, and a copy of them."""

import hashlib
import json
import os
import shutil
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from scripts.build.sources import SourceError, local
from scripts.build.sources.build_output import first_built, first_filtered
from scripts.build.sources.git_command import files_of
from scripts.build.sources.tree import DEPTH_MAX, link_problem
from scripts.lib.host.cache import cache_directory
from scripts.lib.json_record import FORMAT, file_sha256, write_text

# A file written this shortly before it is read could change again within one tick of the file system's clock.
RACY_NS = 2_000_000_000


def file_state(status: os.stat_result) -> str:
    """Return the state by which a change of a file is noticed: size, times of content and inode in ns, inode.

    No program can set the time of the inode's last change. Text, because 30 000 status objects keep the garbage
    collector as busy as all the rest.
    """
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"


def file_digests(base: Path, files: Mapping[str, str]) -> dict[str, str]:
    """Return name -> SHA-256 (hex) of regular files below `base`, given as name -> state.

    Known digests are kept in the user's cache folder, one file per `base`; a damaged one is ignored.
    """
    memory = _memory(base)
    recalled, digests, remembered = _recall(memory), dict[str, str](), dict[str, str]()
    old_enough_ns = time.time_ns() - RACY_NS
    for name, state in files.items():
        key = f"{state} {name}"
        if digest := recalled.get(key):
            remembered[key] = digest
        else:
            digest = file_sha256(base / name)
            if int(state.split()[2]) < old_enough_ns:
                remembered[key] = digest
        digests[name] = digest
    if remembered.keys() != recalled.keys():
        write_text(memory, json.dumps({"format": FORMAT, "digests": remembered}))
    return digests


def digest_of_state(file: Path) -> str:
    """Return the SHA-256 (hex) of one regular file."""
    return file_digests(file.parent, {file.name: file_state(file.lstat())})[file.name]


def _memory(base: Path) -> Path:
    name = hashlib.sha256(os.fsencode(base.resolve())).hexdigest()[:16]
    return cache_directory() / "digests" / f"{name}.json"


def _recall(memory: Path) -> dict[str, str]:
    try:
        digests = json.loads(memory.read_text(encoding="utf-8"))["digests"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    is_sound = isinstance(digests, dict) and all(
        isinstance(digest, str) and len(digest) == 64 for digest in digests.values()
    )
    return digests if is_sound else {}


GIT = ".git"
GIT_CLEAN = "`git clean -Xn` lists what git ignores, `git clean -xn` everything it does not track"
PLAIN_CLEAN = "clean it (`make distclean`, or remove the folder of the build), or unpack the sources again"
SHOWN = 100
# A pointer of Git LFS has about 130 bytes.
POINTER_BYTES_MAX = 1024


@dataclass(frozen=True)
class TreeContent:
    """Entries of a directory by relative name: state of each file, executable files, targets of links."""

    files: dict[str, str]
    executables: frozenset[str]
    links: dict[str, str]


def content_sha256(root: Path) -> str:
    """Return the digest (hex) of a directory's content: names, exec bits and contents of files, targets of links.

    In a git working tree (one with .git at its top) tracked files and untracked ones that are not ignored count,
    those of submodules too; elsewhere all files. Empty folders, times and owners do not count. Only files that
    changed since the last call are read. Raises SourceError naming the directory or the entry at fault, also for a
    tree that was compiled in place, or whose content only a filter of git would bring.
    """
    content = tree_content(root)
    _require_sources(root, content)
    return _digest(content, file_digests(root, content.files))


def copy(root: Path, target: Path) -> str:
    """Copy the content of a directory into the new directory `target`; return the digest of the copy (hex).

    The digest is of the copy, so it differs from content_sha256(root) if that changed meanwhile.
    """
    content = tree_content(root)
    target.mkdir(parents=True)
    for name in (*content.files, *content.links):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
    for name in content.files:
        shutil.copy2(root / name, target / name, follow_symlinks=False)
    for name, inner in content.links.items():
        (target / name).symlink_to(inner)
    written = tree_content(target)
    return _digest(written, {name: file_sha256(target / name) for name in written.files})


def tree_content(root: Path) -> TreeContent:
    """Return the content of a directory. Raises SourceError for others than files and links within it."""
    if problem := local.problem(root, stat.S_IFDIR):
        raise SourceError(f"directory: {root}: {problem}, expected a folder with the sources of a server")
    files, executables, links = dict[str, str](), set[str](), dict[str, str]()
    for name, status in entries(f"{root}/"):
        if stat.S_ISREG(status.st_mode):
            files[name] = file_state(status)
            if status.st_mode & stat.S_IXUSR:
                executables.add(name)
        elif stat.S_ISLNK(status.st_mode):
            links[name] = target_of(root, name)
        else:
            raise SourceError(f"directory: {root / name}: neither a file nor a symbolic link")
    if not files:
        raise SourceError(f"directory: {root}: holds no files, expected the sources of a server")
    return TreeContent(files, frozenset(executables), links)


def target_of(root: Path, name: str) -> str:
    """Return the target of the link called `name` of a tree, one within the tree as a relative one.

    Raises SourceError if it could lead out of the tree.
    """
    link = root / name
    target = str(link.readlink())
    if target.startswith("/"):
        target = _relative(root, link, target)
    if problem := link_problem(name, target):
        raise SourceError(f"directory: {link}: {problem}, which would not be part of the copy")
    return target


def _relative(root: Path, link: Path, target: str) -> str:
    """Return an absolute target as one relative to its link, unchanged if it is not below `root`."""
    absolute = Path(target)
    absolute = (absolute.parent.resolve() / absolute.name) if absolute.name != ".." else absolute.resolve()
    inside = absolute.is_relative_to(root.resolve())
    return os.path.relpath(absolute, link.parent.resolve()) if inside else target


def _require_sources(root: Path, content: TreeContent) -> None:
    """Raise SourceError for a tree that was compiled in place, or that holds pointers in place of contents."""
    top, is_git = f"{root}/", os.path.lexists(root / GIT)
    if name := first_built(top, content.files, content.executables):
        clean = GIT_CLEAN if is_git else PLAIN_CLEAN
        raise SourceError(f"directory: {top}{name}: a build left it there, expected sources alone: {clean}")
    small = [name for name, state in content.files.items() if int(state.split()[0]) <= POINTER_BYTES_MAX]
    if problem := first_filtered(top, small):
        raise SourceError(f"directory: {root}: {problem}; `git lfs pull` or the filter's command brings the content")


def entries(top: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield (name, status) of the content of a tree, whose path ends with a slash.

    Text instead of pathlib, and one lstat per file: this runs at every start, and trees have 30 000 files.
    """
    below = [""]
    while below:
        inner = below.pop()
        folder = top + inner
        if inner.count("/") > DEPTH_MAX:
            raise SourceError(f"directory: {top}{inner[:SHOWN]}: folders inside each other more than {DEPTH_MAX} deep")
        for name in _listed(folder) if os.path.lexists(folder + GIT) else _all(folder):
            try:
                status = os.lstat(folder + name)
            except FileNotFoundError:
                continue  # deleted, but still tracked by git
            if stat.S_ISDIR(status.st_mode):
                below.append(f"{inner}{name}/")
            else:
                yield inner + name, status


def _all(folder: str) -> list[str]:
    with os.scandir(folder) as listed:
        return [entry.name for entry in listed if entry.name != GIT]


def _listed(folder: str) -> Iterator[str]:
    """Yield the names that git lists in a working tree, without those behind a link, which git takes for deleted."""
    real = {"": True}

    def is_real(inner: str) -> bool:
        if inner not in real:
            above = inner.rpartition("/")[0]
            real[inner] = is_real(above) and not os.path.islink(folder + inner)  # noqa: PTH114
        return real[inner]

    for name in files_of(folder):
        if name.startswith("/") or ".." in name.split("/"):
            raise SourceError(f"directory: {folder}: git lists {name!r}, expected names within the tree")
        if is_real(name.rpartition("/")[0]):
            yield name


def _digest(content: TreeContent, digests: dict[str, str]) -> str:
    lines = [
        f"{'x' if name in content.executables else 'f'} {digests[name]} {name}\0" for name in sorted(content.files)
    ]
    lines += [f"l {len(os.fsencode(target))} {target} {name}\0" for name, target in sorted(content.links.items())]
    return hashlib.sha256(os.fsencode("".join(lines))).hexdigest()
