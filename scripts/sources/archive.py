"""Unpack a tar or zip archive: each member is checked by tarfile's data filter (PEP 706) before it is written.

Python 3.11.4 or newer has the filter; on an older one, such as Debian 12's 3.11.2, `_data_filter` refuses the same.
"""

import logging
import lzma
import os
import shutil
import stat
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from scripts.sources import SourceError
from scripts.sources.tree import link_problem, symbolic_links

log = logging.getLogger(__name__)

MEMBERS_MAX = 1_000_000
# The largest known, MySQL with Boost or with its debugging symbols, have 2 to 5 GiB.
UNPACKED_BYTES_MAX = 64 << 30
CHUNK_BYTES = 1 << 20
PROGRESS_S = 5
START_BYTES = 16
DAMAGED = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError)

Content = IO[bytes] | None
Filter = Callable[[tarfile.TarInfo, str], tarfile.TarInfo]


class MemberRefused(SourceError):
    """A member that would be written where it must not, or not as what it is."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"member {name!r} refused: {problem}")


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
    except DAMAGED as error:
        shutil.rmtree(target, ignore_errors=True)
        problem = "" if isinstance(error, SourceError) else "cannot be unpacked, truncated or damaged: "
        raise SourceError(f"{archive}: {problem}{error}") from error
    checked_by = "tarfile.data_filter" if member_filter() is not _data_filter else "the workflow's own data filter"
    log.info("%s: unpacked %d members, checked by %s", archive.name, count, checked_by)


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
    if member.name.startswith("/"):
        raise MemberRefused(member.name, "absolute path")
    if ".." in PurePosixPath(member.name).parts:
        raise MemberRefused(member.name, "'..' in its path")
    if member.isreg() and member.mode & (stat.S_ISUID | stat.S_ISGID):
        raise MemberRefused(member.name, f"setuid or setgid bit (mode {member.mode:o})")
    try:
        member_filter()(member, str(target))
    except tarfile.TarError as error:
        raise MemberRefused(member.name, str(error)) from error
    return member


def _write_members(archive: Path, target: Path) -> int:
    """Check and write each member; return their number."""
    count, size_bytes, reported_s = 0, 0, time.monotonic()
    for member, content in _members(archive):
        count, size_bytes = count + 1, size_bytes + member.size
        if count > MEMBERS_MAX or size_bytes > UNPACKED_BYTES_MAX:
            limits = f"{UNPACKED_BYTES_MAX >> 20} MiB or {MEMBERS_MAX} members"
            raise MemberRefused(member.name, f"the archive unpacks to more than {limits}")
        _write(_checked(member, target), content, target)
        if time.monotonic() - reported_s > PROGRESS_S:
            reported_s = time.monotonic()
            log.info("%s: %d members, %d MiB unpacked", archive.name, count, size_bytes >> 20)
    return count


def _members(archive: Path) -> Iterator[tuple[tarfile.TarInfo, Content]]:
    """Yield the members in stored order, each regular file with a stream of its content."""
    if tarfile.is_tarfile(archive):
        with tarfile.open(archive) as tar:
            for member in tar:
                yield member, tar.extractfile(member) if member.isreg() else None
            _require_end(tar)
    elif zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as zipped:
            for info in zipped.infolist():
                member = _zip_member(zipped, info)
                yield member, zipped.open(info) if member.isreg() else None
    else:
        with archive.open("rb") as stream:
            start = stream.read(START_BYTES)
        raise SourceError(f"neither a tar (plain, gz, bz2, xz) nor a zip archive: it starts with {start!r}")


def _zip_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> tarfile.TarInfo:
    """Return a zip's member as tarfile would describe it; what has no Unix mode is a regular file."""
    mode, member = info.external_attr >> 16, tarfile.TarInfo(info.filename)
    types = {0: tarfile.REGTYPE, stat.S_IFREG: tarfile.REGTYPE, stat.S_IFLNK: tarfile.SYMTYPE}
    member.type = tarfile.DIRTYPE if info.is_dir() else types.get(stat.S_IFMT(mode), tarfile.CHRTYPE)
    member.mode, member.size = stat.S_IMODE(mode), info.file_size
    member.mtime = time.mktime((*info.date_time, 0, 0, -1))
    member.linkname = os.fsdecode(archive.read(info)) if member.issym() else ""
    return member


def _require_end(tar: tarfile.TarFile) -> None:
    """Raise SourceError unless the closing zero block is there: tarfile takes a cut or a broken header for the end."""
    tar.fileobj.seek(tar.offset)
    if tar.fileobj.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
        raise SourceError(f"truncated or damaged at byte {tar.offset} of the tar stream")
    while tar.fileobj.read(CHUNK_BYTES):
        pass


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
    else:
        with path.open("xb") as out:
            shutil.copyfileobj(content, out, CHUNK_BYTES)
        path.chmod(0o755 if member.mode & 0o100 else 0o644)
        # make compares times: a configure older than its configure.ac would be made anew
        os.utime(path, (member.mtime, member.mtime))


def _strip_top(target: Path) -> None:
    """Put the content of a single top folder in the folder's place. Raises SourceError if there is nothing."""
    match list(target.iterdir()):
        case [top] if top.is_dir() and not top.is_symlink():
            moved = target.with_name(f"{target.name}.top")
            top.rename(moved)
            target.rmdir()
            moved.rename(target)
        case []:
            raise SourceError("empty")


def _keep_only(target: Path, folder: str) -> None:
    """Put a folder of an unpacked archive in the archive's place. Raises SourceError naming it if there is none."""
    kept = target / folder
    if not (kept.is_dir() and kept.resolve().is_relative_to(target.resolve())):
        top = ", ".join(sorted(path.name for path in target.iterdir()))
        raise SourceError(f"has no folder {folder} (key folder); at its top are {top}")
    moved = target.with_name(f"{target.name}.top")
    kept.rename(moved)
    shutil.rmtree(target)
    moved.rename(target)
