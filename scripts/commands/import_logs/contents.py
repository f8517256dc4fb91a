"""What a file holds: itself, what it unpacks to, or the members of an archive, recognised by their first bytes."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import IO

from scripts.commands.import_logs.texts import TROUBLES, NotRead, reason_of

MOST_LOG_BYTES = 256 * 2**20
MOST_ARCHIVE_BYTES = 64 * 2**30
MOST_MEMBERS = 1_000_000
MOST_NESTED = 4  # packings inside each other
HEAD_BYTES = 2**16
START_BYTES = 512
UNPACKERS: dict[bytes, Callable[[IO[bytes]], gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile]] = {
    b"\x1f\x8b": lambda stream: gzip.GzipFile(fileobj=stream, mode="rb"),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\0": lzma.LZMAFile,
    b"\x5d\0\0": lzma.LZMAFile,
}
ENDINGS = (".gz", ".bz2", ".xz", ".lzma", ".tgz", ".tbz", ".tbz2", ".txz", ".tar", ".zip")
ZIP, TAR, TAR_AT = b"PK\x03\x04", b"ustar", 257
UNREAD_PACKINGS = {
    b"\x28\xb5\x2f\xfd": "zstd", b"7z\xbc\xaf\x27\x1c": "7-Zip", b"Rar!": "RAR", b"\x04\x22\x4d\x18": "LZ4",
    b"\x1f\x9d": "compress", b"LZIP": "lzip", b"PK\x05\x06": "an empty zip archive",
}  # fmt: skip


@dataclass(frozen=True)
class LogContent:
    """One text of a file: how it is named, the paths that a pattern may read, likeliest first, and a stream.

    The stream is valid until the next content is taken. `refused` is why there is none.
    """

    name: str
    paths: tuple[str, ...]
    stream: IO[bytes] = field(default_factory=io.BytesIO, compare=False)
    refused: str = ""

    def head(self) -> bytes:
        """Return the beginning, at most HEAD_BYTES; the content cannot be read afterwards."""
        return self.stream.read(HEAD_BYTES)

    def read(self) -> bytes:
        """Return the content. Raises NotRead if it is larger than MOST_LOG_BYTES."""
        content = self.stream.read(MOST_LOG_BYTES + 1)
        if len(content) > MOST_LOG_BYTES:
            raise NotRead(f"it is larger than {MOST_LOG_BYTES // 2**20} MiB")
        return content


def contents(stream: IO[bytes], name: str) -> Iterator[LogContent]:
    """Yield the contents of an open file called `name`, in stored order.

    What cannot be read of an archive is yielded as refused. Raises an error of TROUBLES for a damaged file.
    """
    yield from _contents(LogContent(name, (name,), stream), MOST_NESTED)


def _contents(outer: LogContent, nested: int) -> Iterator[LogContent]:
    stream = outer.stream if outer.stream.seekable() else io.BytesIO(outer.read())
    start = stream.read(START_BYTES)
    stream.seek(0)
    opened = next((open_ for magic, open_ in UNPACKERS.items() if start.startswith(magic)), None)
    members = _tar_members if start[TAR_AT:].startswith(TAR) else _zip_members if start.startswith(ZIP) else None
    if not nested and (opened or members):
        yield replace(outer, refused=f"it is packed more than {MOST_NESTED} times")
    elif opened:
        inner = replace(outer, paths=_without_ending(outer.paths), stream=io.BufferedReader(opened(stream)))
        yield from _contents(inner, nested - 1)
    elif members:
        yield from _of_archive(outer, members(stream), nested)
    elif packing := next((text for magic, text in UNREAD_PACKINGS.items() if start.startswith(magic)), None):
        yield replace(outer, refused=f"it is packed by {packing}, which is not read; unpack it")
    else:
        yield replace(outer, stream=stream)


def _without_ending(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return the paths without the endings of packed files, then as they are."""
    short = [path[: -len(end)] for path in paths for end in ENDINGS if path.lower().endswith(end)]
    return tuple(dict.fromkeys((*short, *paths)))


Member = tuple[str, IO[bytes] | None, str]


def _of_archive(outer: LogContent, members: Iterator[Member], nested: int) -> Iterator[LogContent]:
    """Yield the contents of the members, as if they lay in a folder of the archive's name or beside the archive."""
    folders = (*_without_ending(outer.paths), *(str(PurePosixPath(path).parent) for path in outer.paths))
    try:
        for count, (member, stream, refused) in enumerate(members, 1):
            name = member.lstrip("/").removeprefix("./")
            paths = tuple(dict.fromkeys(str(PurePosixPath(folder, name)) for folder in folders))
            inner = LogContent(f"{outer.name}/{name}", paths, stream or io.BytesIO(), refused)
            if count > MOST_MEMBERS:
                yield replace(outer, refused=f"it has more than {MOST_MEMBERS} members; the rest is not read")
                return
            yield from [inner] if refused else _contents(inner, nested - 1)
    except TROUBLES as error:
        yield replace(outer, refused=f"it is a damaged archive, not read to its end: {reason_of(error)}")


class _Limited(io.RawIOBase):
    """A stream that ends in an error after MOST_ARCHIVE_BYTES: a small archive can unpack to any size.

    `last` holds the end of what was read.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._left, self.last = stream, MOST_ARCHIVE_BYTES, b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        content = self._stream.read(min(size, self._left + 1) if size >= 0 else self._left + 1)
        self._left, self.last = self._left - len(content), content[-tarfile.BLOCKSIZE :] or self.last
        if self._left < 0:
            raise NotRead(f"it unpacks to more than {MOST_ARCHIVE_BYTES // 2**30} GiB")
        return content


def _tar_members(stream: IO[bytes]) -> Iterator[Member]:
    limited = _Limited(stream)
    with tarfile.open(fileobj=limited, mode="r|") as archive:
        for member in archive:
            if stream_of_file := archive.extractfile(member) if member.isreg() else None:
                yield member.name, io.BytesIO(stream_of_file.read(MOST_LOG_BYTES + 1)), ""
            elif not member.isdir():
                kind = (
                    f"a link to {member.linkname} inside" if member.issym() or member.islnk() else "a special file in"
                )
                yield member.name, None, f"{kind} an archive, which is not read"
    if limited.last.strip(b"\0"):  # tarfile takes a cut or a broken header for the end
        raise tarfile.ReadError("it has no closing block")


def _zip_members(stream: IO[bytes]) -> Iterator[Member]:
    with zipfile.ZipFile(stream) as archive:
        for member in archive.infolist():
            if member.flag_bits & 1:
                yield member.filename, None, "it is encrypted"
            elif not member.is_dir():
                with archive.open(member) as opened:
                    yield member.filename, opened, ""
