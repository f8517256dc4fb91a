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
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import IO, Literal

MemberKind = Literal["file", "directory", "symlink", "hardlink", "device"]

MEMBERS_MAX = 1_000_000
# Far more than any server's sources have; what walks a tree calls itself for each level.
PATH_DEPTH_MAX = 100


class ArchiveError(RuntimeError):
    """An archive that is damaged, or would write where it must not; the text names the archive and the member."""


@dataclass(frozen=True)
class Member:
    """One entry of an archive; `link` is a link's target, `mtime_s` seconds since the epoch."""

    name: str
    kind: MemberKind
    mode: int = 0o644
    size_bytes: int = 0
    link: str = ""
    mtime_s: float = 0.0

    @property
    def parts(self) -> tuple[str, ...]:
        return PurePosixPath(self.name).parts


@dataclass
class Gate:
    """Remembers what was let through: a later member can turn an earlier, harmless one into a way out."""

    bytes_max: int
    seen: dict[tuple[str, ...], Member] = field(default_factory=dict)
    size_bytes: int = 0

    def admit(self, member: Member) -> None:
        """Raise ArchiveError, naming the member, unless writing it stays inside the tree and the limits."""
        self.size_bytes += member.size_bytes
        problem = self._path_problem(member) or self._kind_problem(member)
        if not problem and (self.size_bytes > self.bytes_max or len(self.seen) >= MEMBERS_MAX):
            problem = f"the archive unpacks to more than {self.bytes_max >> 20} MiB or {MEMBERS_MAX} members"
        if problem:
            raise ArchiveError(f"member {member.name!r} refused: {problem}")
        self.seen[member.parts] = member

    def _kind_at(self, parts: tuple[str, ...]) -> MemberKind | None:
        return self.seen[parts].kind if parts in self.seen else None

    def _path_problem(self, member: Member) -> str | None:
        parts = member.parts
        if member.name.startswith("/"):
            return "absolute path"
        if ".." in parts:
            return "'..' in its path"
        if len(parts) > PATH_DEPTH_MAX:
            return f"more than {PATH_DEPTH_MAX} folders deep"
        if any(self._kind_at(parts[:depth]) == "symlink" for depth in range(1, len(parts))):
            return "its path goes through a symbolic link"
        if parts in self.seen and not (member.kind == self._kind_at(parts) == "directory"):
            return "a second member of this name"
        return None

    def _kind_problem(self, member: Member) -> str | None:
        match member.kind:
            case "device":
                return "a device, fifo or socket"
            case "file" if member.mode & (stat.S_ISUID | stat.S_ISGID):
                return f"setuid or setgid bit (mode {member.mode:o})"
            case "symlink":
                return symlink_problem(member)
            case "hardlink" if self._kind_at(PurePosixPath(member.link).parts) not in ("file", "hardlink"):
                return f"hard link to {member.link!r}, which is no earlier file of this archive"
        return None


def symlink_problem(member: Member) -> str | None:
    """Say why a symbolic link could lead out of the tree, or None.

    `..` passes only at the start of the target: behind a name, that name may be a link itself, and then the kernel goes
    elsewhere than the text says.
    """
    target = PurePosixPath(member.link).parts
    climbs = target.count("..")
    if not target or member.link.startswith("/") or climbs > len(member.parts) - 1:
        return f"symbolic link out of the tree, to {member.link!r}"
    return f"symbolic link with '..' behind a name, to {member.link!r}" if ".." in target[climbs:] else None


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
    tests: dict[MemberKind, bool] = {
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
    kind: MemberKind = "file" if stat.S_IFMT(mode) in (0, stat.S_IFREG) else "device"
    kind = "directory" if info.is_dir() else kind
    return Member(info.filename, kind, stat.S_IMODE(mode), info.file_size, mtime_s=mtime_s)


class Info(tarfile.TarInfo):
    """A member of a tar whose headers are of a sane size: tarfile reads them whole, before any gate sees the member."""

    def _proc_member(self, tar: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in HEADERS and self.size > HEADER_BYTES_MAX:
            raise ArchiveError(f"member {self.name!r} refused: a header of {self.size} bytes")
        return super()._proc_member(tar)


def archive_members(archive: Path) -> Iterator[tuple[Member, IO[bytes] | None]]:
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
        for member, stream in archive_members(archive):
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
