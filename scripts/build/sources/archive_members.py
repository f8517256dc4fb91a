"""The members of an archive, tar or zip, with limits on what a header may hold and what the whole may unpack to.

What is read between two members is a header: the standard library would read one of any size into memory.
"""

import bz2
import contextlib
import gzip
import lzma
import os
import stat
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Protocol

from scripts.build.sources import SourceError

CHUNK_BYTES = 1 << 20
HEADER_BYTES_MAX = 1 << 20
LINK_BYTES_MAX = 4096
START_BYTES = 16
# End-of-archive blocks and headers, beside the members' contents.
OVERHEAD_BYTES = 1 << 30
OPENERS: dict[bytes, Callable[[IO[bytes]], AbstractContextManager["Seekable"]]] = {
    b"\x1f\x8b": lambda raw: gzip.GzipFile(fileobj=raw),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\0": lzma.LZMAFile,
    b"\x5d\0\0": lzma.LZMAFile,
}
# Start -> what it is, of formats that people have and that are not read.
OTHERS = {
    b"\x28\xb5\x2f\xfd": "a file of zstd",
    b"LZIP": "a file of lzip",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"\x1f\x9d": "a file of compress",
    b"\xed\xab\xee\xdb": "an RPM package",
    b"!<arch>": "a Debian package or a library",
    b"<": "a web page or XML",
}
ZIP_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA}
ENCRYPTED = 1

Content = IO[bytes] | None


class Seekable(Protocol):
    """A stream of bytes, packed or not, that can be read from any place."""

    def read(self, size: int, /) -> bytes:
        """Return up to `size` bytes."""

    def seek(self, offset: int, whence: int = ..., /) -> int:
        """Go to a byte of the stream and return its number."""

    def tell(self) -> int:
        """Return the number of the byte that is read next."""


def members(archive: Path, most_bytes: int) -> Iterator[tuple[tarfile.TarInfo, Content]]:
    """Yield the members in stored order, each regular file with a stream of its content.

    Raises SourceError for a format that is not read, for a header above HEADER_BYTES_MAX, and beyond `most_bytes` of
    unpacked stream; tarfile, zipfile and the decompressors raise theirs.
    """
    with archive.open("rb") as raw:
        start = raw.read(START_BYTES)
        raw.seek(0)
        opened = next((opener for mark, opener in OPENERS.items() if start.startswith(mark)), None)
        with opened(raw) if opened else contextlib.nullcontext(raw) as stream:
            if is_tar(stream):
                yield from _tar_members(Limited(stream, most_bytes + OVERHEAD_BYTES))
                return
    if not zipfile.is_zipfile(archive):
        kind = next((f", as {kind} does" for mark, kind in OTHERS.items() if mark and start.startswith(mark)), "")
        begin = f"it starts with {start!r}" if start else "it is empty"
        raise SourceError(f"neither a tar (plain, gz, bz2, xz) nor a zip archive: {begin}{kind}")
    with zipfile.ZipFile(archive) as zipped:
        for info in zipped.infolist():
            member = _zip_member(zipped, info)
            yield member, zipped.open(info) if member.isreg() else None


def is_tar(stream: Seekable) -> bool:
    """Return whether a stream begins with a tar header, or the zeros of an empty tar; it is set back to its start."""
    block = stream.read(tarfile.BLOCKSIZE)
    stream.seek(0)
    try:
        tarfile.TarInfo.frombuf(block, tarfile.ENCODING, "surrogateescape")
    except tarfile.EOFHeaderError:  # type: ignore[attr-defined]  # typeshed lacks it
        return True
    except tarfile.HeaderError:
        return False
    return True


class Limited:
    """A stream that gives `most_bytes` at most, and at most HEADER_BYTES_MAX of a header, counted from `new_header`."""

    def __init__(self, stream: Seekable, most_bytes: int) -> None:
        self.stream, self.most_bytes, self.left_bytes = stream, most_bytes, HEADER_BYTES_MAX

    def new_header(self, counted: bool = True) -> None:
        """Count what is read from here on as a header, or no longer."""
        self.left_bytes = HEADER_BYTES_MAX if counted else self.most_bytes

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes. Raises SourceError beyond a limit."""
        if not 0 <= size <= self.left_bytes:
            raise SourceError(f"a header at byte {self.tell()} is longer than {HEADER_BYTES_MAX >> 20} MiB")
        self.left_bytes -= size
        return self._within(self.stream.read(size))

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a byte of the stream. Raises SourceError beyond the limit."""
        if not 0 <= offset <= self.most_bytes:
            raise SourceError(f"unpacks to more than {self.most_bytes >> 20} MiB, or has a member of no size")
        return self.stream.seek(offset, whence)

    def tell(self) -> int:
        """Return the byte of the stream that is read next."""
        return self.stream.tell()

    def close(self) -> None:
        """Leave the stream open: who opened it closes it."""

    def _within(self, chunk: bytes) -> bytes:
        if self.tell() > self.most_bytes:
            raise SourceError(f"unpacks to more than {self.most_bytes >> 20} MiB")
        return chunk


def _tar_members(stream: Limited) -> Iterator[tuple[tarfile.TarInfo, Content]]:
    with tarfile.TarFile(fileobj=stream, mode="r", errorlevel=2) as tar:  # type: ignore[arg-type]  # only read
        while member := tar.next():
            # A million of them would take a gigabyte.
            tar.members.clear()  # type: ignore[attr-defined]  # typeshed lacks it
            stream.new_header(counted=False)
            yield member, tar.extractfile(member) if member.isreg() else None
            stream.new_header()
        stream.new_header(counted=False)
        _require_end(stream, tar.offset)


def _require_end(stream: Limited, offset: int) -> None:
    """Raise SourceError unless the closing zero block is there: tarfile takes a cut or a broken header for the end."""
    stream.seek(offset)
    if stream.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
        raise SourceError(f"truncated or damaged at byte {offset} of the tar stream")
    while stream.read(CHUNK_BYTES):
        stream.new_header(counted=False)


def _zip_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> tarfile.TarInfo:
    """Return a zip's member as tarfile would describe it; what has no Unix mode is a regular file.

    Raises SourceError for one that is encrypted, or packed in a way that is not read.
    """
    if info.flag_bits & ENCRYPTED:
        raise SourceError(
            f"member {info.filename[:LINK_BYTES_MAX]!r} is encrypted, expected an archive without a password"
        )
    if info.compress_type not in ZIP_METHODS:
        raise SourceError(
            f"member {info.filename!r} is compressed by method {info.compress_type}, expected 0, 8, 12 or 14"
        )
    mode, member = info.external_attr >> 16, tarfile.TarInfo(info.filename)
    types = {0: tarfile.REGTYPE, stat.S_IFREG: tarfile.REGTYPE, stat.S_IFLNK: tarfile.SYMTYPE}
    member.type = tarfile.DIRTYPE if info.is_dir() else types.get(stat.S_IFMT(mode), tarfile.CHRTYPE)
    member.mode, member.size = stat.S_IMODE(mode), info.file_size
    member.mtime = time.mktime((*info.date_time, 0, 0, -1))
    if member.issym():
        if info.file_size > LINK_BYTES_MAX:
            raise SourceError(f"member {info.filename!r} is a link to a target of {info.file_size} bytes")
        member.linkname = os.fsdecode(archive.read(info))
    return member
