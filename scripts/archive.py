"""Unpack source archives without trusting them: each member is checked, then written here, never by `extractall`."""

import logging
import lzma
import os
import shutil
import stat
import tarfile
import time
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import IO

from scripts.archive_gate import ArchiveError, Gate, Kind, Member, symlink_problem

log = logging.getLogger(__name__)

EXPANSION_MAX = 300
SMALL_BYTES = 1 << 30
CHUNK_BYTES = 1 << 20
PROGRESS_S = 5
START_BYTES = 16
# Headers that hold a long name or further keys of the next member (POSIX pax, GNU tar).
HEADERS = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)
HEADER_BYTES_MAX = 1 << 20


def tar_member(info: tarfile.TarInfo) -> Member:
    tests: dict[Kind, bool] = {
        "file": info.isreg(),
        "directory": info.isdir(),
        "symlink": info.issym(),
        "hardlink": info.islnk(),
    }
    kind = next((kind for kind, holds in tests.items() if holds), "device")
    return Member(info.name, kind, info.mode, info.size if kind == "file" else 0, info.linkname, info.mtime)


def zip_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Member:
    mode = info.external_attr >> 16
    mtime_s = time.mktime((*info.date_time, 0, 0, -1))
    if stat.S_ISLNK(mode):
        if info.file_size > os.pathconf("/", "PC_PATH_MAX"):
            raise ArchiveError(f"member {info.filename!r} refused: symbolic link of {info.file_size} bytes")
        return Member(info.filename, "symlink", link=os.fsdecode(archive.read(info)))
    kind: Kind = "file" if stat.S_IFMT(mode) in (0, stat.S_IFREG) else "device"
    kind = "directory" if info.is_dir() else kind
    return Member(info.filename, kind, stat.S_IMODE(mode), info.file_size, mtime_s=mtime_s)


class Info(tarfile.TarInfo):
    """A member of a tar whose headers are of a sane size: tarfile reads them whole, before any gate sees the member."""

    def _proc_member(self, tar: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in HEADERS and self.size > HEADER_BYTES_MAX:
            raise ArchiveError(f"member {self.name!r} refused: a header of {self.size} bytes")
        return super()._proc_member(tar)


def members(archive: Path) -> Iterator[tuple[Member, IO[bytes] | None]]:
    """Yield members in stored order, each regular file with a stream of its content."""
    if _is_tar(archive):
        with tarfile.open(archive, "r:*", tarinfo=Info) as tar:
            for info in tar:
                yield tar_member(info), tar.extractfile(info) if info.isreg() else None
            require_end(tar)
    elif zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as zipped:
            for info in zipped.infolist():
                member = zip_member(zipped, info)
                yield member, zipped.open(info) if member.kind == "file" else None
    else:
        with archive.open("rb") as stream:
            start = stream.read(START_BYTES)
        raise ArchiveError(f"neither a tar (plain, gz, bz2, xz) nor a zip archive: it starts with {start!r}")


def _is_tar(archive: Path) -> bool:
    # tarfile.is_tarfile reads the first header with a TarInfo of its own.
    try:
        with tarfile.open(archive, "r:*", tarinfo=Info):
            return True
    except tarfile.TarError:
        return False


def require_end(tar: tarfile.TarFile) -> None:
    """Raise unless the closing zero block is there: tarfile takes a cut or a broken header for the end."""
    tar.fileobj.seek(tar.offset)
    if tar.fileobj.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
        raise ArchiveError(f"truncated or damaged at byte {tar.offset} of the tar stream")
    while tar.fileobj.read(CHUNK_BYTES):
        pass


def write_member(member: Member, stream: IO[bytes] | None, root: Path) -> None:
    path = root.joinpath(*member.parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    match member.kind:
        case "directory":
            path.mkdir(exist_ok=True)
        case "symlink":
            path.symlink_to(member.link)
        case "hardlink":
            path.hardlink_to(root.joinpath(*PurePosixPath(member.link).parts))
        case "file":
            with path.open("xb") as out:
                shutil.copyfileobj(stream, out, CHUNK_BYTES)
            path.chmod(0o755 if member.mode & 0o100 else 0o644)
            # make compares times: a configure older than its configure.ac would be made anew
            os.utime(path, (member.mtime_s, member.mtime_s))


def unpack(archive: Path, target: Path) -> None:
    """Unpack a tar or zip archive into the new directory `target`, without its single top folder.

    Raises ArchiveError naming archive and member; `target` is then left half written for the caller to remove.
    """
    gate = Gate(max(SMALL_BYTES, EXPANSION_MAX * archive.stat().st_size))
    target.mkdir(parents=True)
    told_at = time.monotonic()
    try:
        for member, stream in members(archive):
            gate.admit(member)
            write_member(member, stream, target)
            if time.monotonic() - told_at > PROGRESS_S:
                told_at = time.monotonic()
                log.info("%s: %d members, %d MiB unpacked", archive.name, len(gate.seen), gate.size_bytes >> 20)
        strip_top(target, gate)
    except ArchiveError as error:
        raise ArchiveError(f"{archive}: {error}") from error
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError) as error:
        raise ArchiveError(f"{archive}: cannot be unpacked, truncated or damaged: {error}") from error
    log.info("%s: unpacked %d members, %d MiB", archive.name, len(gate.seen), gate.size_bytes >> 20)


def strip_top(target: Path, gate: Gate) -> None:
    match list(target.iterdir()):
        case [top] if top.is_dir() and not top.is_symlink():
            for member in gate.seen.values():
                stripped = replace(member, name="/".join(member.parts[1:]))
                if member.kind == "symlink" and (problem := symlink_problem(stripped)):
                    raise ArchiveError(f"member {member.name!r} refused: {problem}")
            moved = target.with_name(f"{target.name}.top")
            top.rename(moved)
            target.rmdir()
            moved.rename(target)
        case []:
            raise ArchiveError("empty")
