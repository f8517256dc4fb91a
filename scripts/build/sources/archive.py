"""Unpack a tar or zip archive: each member is checked, by tarfile's data filter (PEP 706) too, before it is written.

Python 3.11.4 or newer has the filter; on an older one, such as Debian 12's 3.11.2, `_data_filter` refuses the same.
"""

import logging
import os
import shutil
import stat
import tarfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from scripts.build.sources import SourceError, archive_members
from scripts.build.sources.archive_members import Content
from scripts.build.sources.tree import DEPTH_MAX, link_problem, symbolic_links

log = logging.getLogger(__name__)

MEMBERS_MAX = 1_000_000
# The largest known, MySQL with Boost or with its debugging symbols, have 2 to 5 GiB.
UNPACKED_BYTES_MAX = 64 << 30
MEMBER_BYTES_MAX = 16 << 30
# The longest name of MariaDB's sources has 140 bytes; a file system takes parts of 255.
NAME_BYTES_MAX = 1000
PART_BYTES_MAX = 255
# From 1901 to 2514: what every file system of Linux holds.
TIMES_S = (-(2**31), 2**34)
CHUNK_BYTES = 1 << 20
PROGRESS_S = 5
SHOWN_CHARACTERS = 120

Filter = Callable[[tarfile.TarInfo, str], tarfile.TarInfo]


class MemberRefused(SourceError):
    """A member that would be written where it must not, or not as what it is."""

    def __init__(self, name: str, problem: str) -> None:
        cut = "…" if len(name) > SHOWN_CHARACTERS else ""
        super().__init__(f"member {name[:SHOWN_CHARACTERS]!r}{cut} refused: {problem}")


def unpack(archive: Path, target: Path, folder: str = "") -> None:
    """Unpack a tar or zip archive into the new directory `target`, without its single top folder.

    With a `folder` of the archive, only that one is kept, in the archive's place.
    Raises SourceError naming the archive and the member at fault; `target` is removed then.
    """
    target.mkdir(parents=True)
    try:
        count = _write_members(archive, target)
        _strip_top(target)
        if folder:
            _keep_only(target, folder)
        for name, link in symbolic_links(target):
            if problem := link_problem(name, link):
                raise MemberRefused(name, problem)
    except Exception as error:  # the parsers of the standard library fail in every way on archives that are none
        for unfinished in (target, _aside(target)):
            shutil.rmtree(unfinished, ignore_errors=True)
        raise SourceError(f"{archive}: {_problem(error)}") from error
    checked_by = "tarfile.data_filter" if member_filter() is not _data_filter else "the workflow's own data filter"
    log.info("%s: unpacked %d members, checked by %s", archive.name, count, checked_by)


def _problem(error: Exception) -> str:
    """Return what is wrong with an archive that could not be unpacked."""
    if isinstance(error, SourceError):
        return str(error)
    text = " ".join(str(error).split()) or "no reason given"
    if isinstance(error, OSError) and error.errno:
        return f"cannot be unpacked: {text}"
    plain = isinstance(error, (tarfile.TarError, zipfile.BadZipFile, EOFError, ValueError, OSError))
    name = "" if plain else f"{type(error).__name__}: "
    return f"cannot be unpacked, truncated or damaged: {name}{text[: 3 * SHOWN_CHARACTERS]}"


def member_filter() -> Filter:
    """Return tarfile's data filter where this Python has it, otherwise our own."""
    return getattr(tarfile, "data_filter", _data_filter)


def _data_filter(member: tarfile.TarInfo, target: str) -> tarfile.TarInfo:
    """Return the member if it and its link stay below `target`, as tarfile.data_filter does. Raises MemberRefused."""
    root = os.path.realpath(target)

    def leads_out(*parts: str) -> bool:
        return os.path.commonpath([os.path.realpath(os.path.join(root, *parts)), root]) != root  # noqa: PTH118

    if leads_out(member.name):
        raise MemberRefused(member.name, "it would be extracted outside the destination")
    if not (member.isreg() or member.isdir() or member.issym() or member.islnk()):
        raise MemberRefused(member.name, "it is a special file")
    if member.issym() or member.islnk():
        base = os.path.dirname(member.name) if member.issym() else ""  # noqa: PTH120
        if leads_out(base, member.linkname):
            raise MemberRefused(member.name, f"it would link to {member.linkname!r}, which is outside the destination")
    return member


def _checked(member: tarfile.TarInfo, target: Path) -> tarfile.TarInfo:
    """Return the member if it may be written. Raises MemberRefused, also where the data filter would only correct."""
    if problem := _name_problem(member.name) or _fact_problem(member):
        raise MemberRefused(member.name, problem)
    try:
        member_filter()(member, str(target))
    except tarfile.TarError as error:
        raise MemberRefused(member.name, str(error)) from error
    return member


def _name_problem(name: str) -> str | None:
    """Return why a name is refused, None for one that every file system takes and that stays below the tree."""
    parts = PurePosixPath(name).parts
    if name.startswith("/"):
        return "absolute path"
    if ".." in parts:
        return "'..' in its path"
    if any(ord(letter) < ord(" ") or letter == "\x7f" for letter in name):
        return "control character in its name"
    if len(os.fsencode(name)) > NAME_BYTES_MAX or any(len(os.fsencode(part)) > PART_BYTES_MAX for part in parts):
        return f"its name is longer than {NAME_BYTES_MAX} bytes, or a part of it than {PART_BYTES_MAX}"
    return f"folders inside each other more than {DEPTH_MAX} deep" if len(parts) > DEPTH_MAX else None


def _fact_problem(member: tarfile.TarInfo) -> str | None:
    """Return why the mode, size, time or target of a member is refused, None if it is not."""
    first_s, last_s = TIMES_S
    if member.isreg() and member.mode & (stat.S_ISUID | stat.S_ISGID):
        return f"setuid or setgid bit (mode {member.mode:o})"
    if not 0 <= member.size <= MEMBER_BYTES_MAX:
        return f"a size of {member.size} bytes, expected at most {MEMBER_BYTES_MAX >> 20} MiB"
    if not first_s <= member.mtime <= last_s:
        return f"a time of {member.mtime} s, expected one from {first_s} to {last_s} s since 1970"
    if len(os.fsencode(member.linkname)) > NAME_BYTES_MAX or "\0" in member.linkname:
        return f"its link is longer than {NAME_BYTES_MAX} bytes, or holds a zero byte"
    return None


class Links:
    """The symbolic links written so far: nothing is written or linked through one, wherever it leads."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def check(self, member: tarfile.TarInfo) -> None:
        """Remember a symbolic link. Raises MemberRefused for a member, or a hard link's target, behind one."""
        behind = [member.name, member.linkname] if member.islnk() else [member.name]
        for name in behind:
            if above := next((str(part) for part in PurePosixPath(name).parents if str(part) in self.names), None):
                raise MemberRefused(member.name, f"it is behind the symbolic link {above!r}")
        if member.issym():
            self.names.add(str(PurePosixPath(member.name)))


def _write_members(archive: Path, target: Path) -> int:
    """Check and write each member; return their number."""
    count, size_bytes, reported_s, links = 0, 0, time.monotonic(), Links()
    for member, content in archive_members.members(archive, UNPACKED_BYTES_MAX):
        checked = _checked(member, target)
        count, size_bytes = count + 1, size_bytes + member.size
        if count > MEMBERS_MAX or size_bytes > UNPACKED_BYTES_MAX:
            limits = f"{UNPACKED_BYTES_MAX >> 20} MiB or {MEMBERS_MAX} members"
            raise MemberRefused(member.name, f"the archive unpacks to more than {limits}")
        links.check(member)
        _write(checked, content, target)
        if time.monotonic() - reported_s > PROGRESS_S:
            reported_s = time.monotonic()
            log.info("%s: %d members, %d MiB unpacked", archive.name, count, size_bytes >> 20)
    return count


def _write(member: tarfile.TarInfo, content: Content, target: Path) -> None:
    """Write one member, readable to everybody. Raises FileExistsError for a second member of a name."""
    path = target / member.name
    path.parent.mkdir(parents=True, exist_ok=True)
    if member.isdir():
        path.mkdir(exist_ok=True)
    elif member.issym():
        path.symlink_to(member.linkname)
    elif member.islnk():
        path.hardlink_to(target / member.linkname)
    elif content is None:
        raise MemberRefused(member.name, "is a regular file without content")
    else:
        with path.open("xb") as out:
            shutil.copyfileobj(content, out, CHUNK_BYTES)
            if out.tell() != member.size:
                raise MemberRefused(member.name, f"holds {out.tell()} bytes, its header says {member.size}")
        path.chmod(0o755 if member.mode & 0o100 else 0o644)
        # make compares times: a configure older than its configure.ac would be made anew
        os.utime(path, (member.mtime, member.mtime))


def _aside(target: Path) -> Path:
    """Return the place of a tree while its top folder is taken away."""
    return target.with_name(f"{target.name}.top")


def _strip_top(target: Path) -> None:
    """Put the content of a single top folder in the folder's place. Raises SourceError if there is nothing."""
    match list(target.iterdir()):
        case [top] if top.is_dir() and not top.is_symlink():
            moved = _aside(target)
            top.rename(moved)
            target.rmdir()
            moved.rename(target)
        case []:
            raise SourceError("empty")


def _keep_only(target: Path, folder: str) -> None:
    """Put a folder of an unpacked archive in the archive's place. Raises SourceError naming it if there is none."""
    part = target / folder
    if not (part.is_dir() and part.resolve().is_relative_to(target.resolve())):
        top = ", ".join(sorted(path.name for path in target.iterdir()))
        raise SourceError(f"has no folder {folder} (key folder); at its top are {top}")
    moved = _aside(target)
    part.rename(moved)
    shutil.rmtree(target)
    moved.rename(target)
