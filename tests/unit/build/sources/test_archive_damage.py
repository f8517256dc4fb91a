"""Every failure to read an archive is one sentence that names it, nothing of it stays, and the next source is tried."""

import bz2
import gzip
import io
import lzma
import os
import stat
import struct
import tarfile
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from scripts.build.sources import SourceError, archive, archive_members, source
from scripts.build.sources.declared import WantedSource
from scripts.build.sources.installed import Product
from scripts.lib.recipe_models import ServerSourceRecipe
from tests.unit.build.sources.test_archive import entry, hardlink, symlink, tar, zip_info

POSTGRESQL = Product(("postgres",), r"(\d+)", (("configure", r"^V=(\S+)$"),))


def named(*entries, **pax):
    """Return an uncompressed tar in pax format, whose first member has the extra headers `pax`."""

    def write(path: Path) -> None:
        with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as out:
            for number, (info, content) in enumerate(entries or [entry("top/a", content=b"1")]):
                info.pax_headers = {} if number else pax
                out.addfile(info, io.BytesIO(content))

    return write


def raw(content: bytes):
    return lambda path: path.write_bytes(content)


def header(name: str, size: int, kind: bytes = tarfile.REGTYPE) -> bytes:
    """Return a header of a tar whose size may be negative or absurd, in base 256."""
    info = tarfile.TarInfo(name)
    info.type = kind
    block = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    block[124:136] = size.to_bytes(12, "big", signed=True) if size < 0 else b"\x80" + size.to_bytes(11, "big")
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def zipped(**changes):
    """Return a writer of a zip of one member, with values of its headers overwritten: offset in each -> bytes."""

    def write(path: Path) -> None:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
            out.writestr("top/a", b"content of a member " * 10)
        data = bytearray(path.read_bytes())
        central = data.index(b"PK\x01\x02")
        for local, value in changes.get("local", {}).items():
            data[local : local + len(value)] = value
            data[central + local + 2 : central + local + 2 + len(value)] = value
        for offset, value in changes.get("content", {}).items():
            data[offset : offset + len(value)] = value
        for offset, value in changes.get("central", {}).items():
            data[central + offset : central + offset + len(value)] = value
        path.write_bytes(data)

    return write


def zip_link(target: bytes):
    def write(path: Path) -> None:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
            out.writestr(zip_info("top/link", stat.S_IFLNK | 0o777), target)

    return write


def chain(kind: bytes) -> bytes:
    """Return a tar of headers that each announce another."""
    return (header("././@LongLink", 512, kind) + b"x" * 512) * 900 + bytes(1024)


WHOLE = io.BytesIO()
with tarfile.open(fileobj=WHOLE, mode="w") as out:
    out.addfile(tarfile.TarInfo("top/a"))
WHOLE = WHOLE.getvalue()
DAMAGED = "cannot be unpacked, truncated or damaged: "
REFUSED = r"member '.*'…? refused: "
# How -> (writer, words of the sentence).
UNREADABLE = {
    "empty": (raw(b""), "neither a tar .* it is empty"),
    "text": (raw(b"hello"), "neither a tar"),
    "page": (raw(b"<html>"), "neither a tar .*, as a web page or XML does"),
    "zst": (raw(b"\x28\xb5\x2f\xfd" + bytes(40)), "neither a tar .*, as a file of zstd does"),
    "7z": (raw(b"7z\xbc\xaf\x27\x1c"), "neither a tar .*, as a 7z archive does"),
    "gz of text": (raw(gzip.compress(b"hello")), "neither a tar"),
    "gz cut": (raw(gzip.compress(WHOLE)[:40]), DAMAGED),
    "gz cut at its end": (raw(gzip.compress(WHOLE)[:-4]), DAMAGED),
    "gz bad sum": (raw(gzip.compress(WHOLE)[:-8] + bytes(8)), f"{DAMAGED}CRC"),
    "gz garbage": (raw(gzip.compress(WHOLE)[:20] + os.urandom(300)), DAMAGED),
    "bz2 cut": (raw(bz2.compress(WHOLE)[:40]), DAMAGED),
    "bz2 garbage": (raw(b"BZh9" + bytes(300)), DAMAGED),
    "xz cut": (raw(lzma.compress(WHOLE)[:60]), DAMAGED),
    "xz garbage": (raw(b"\xfd7zXZ\0" + bytes(300)), DAMAGED),
    "lzma cut": (raw(lzma.compress(WHOLE, lzma.FORMAT_ALONE)[:40]), DAMAGED),
    "tar cut": (raw(WHOLE[:512]), "truncated or damaged at byte 512"),
    "deep": (named(entry("/".join("d" * 1500), type=tarfile.DIRTYPE)), f"{REFUSED}its name is longer"),
    "deep, short": (named(entry("/".join("d" * 300), type=tarfile.DIRTYPE)), f"{REFUSED}folders inside each other"),
    "mtime inf": (named(mtime="inf"), f"{REFUSED}a time of inf"),
    "mtime nan": (named(mtime="nan"), f"{REFUSED}a time of nan"),
    "mtime huge": (named(mtime="1e300"), f"{REFUSED}a time of 1e"),
    "mtime long ago": (named(mtime="-1e12"), f"{REFUSED}a time of -1"),
    "size negative": (named(size="-512"), f"{REFUSED}a size of -512"),
    "size absurd": (named(size=str(2**60)), f"{REFUSED}a size of {2**60} bytes"),
    "size in base 256": (raw(header("top/a", -512) + bytes(1024)), f"{REFUSED}a size of -512"),
    "sparse absurd": (named(**{"GNU.sparse.size": str(2**50), "GNU.sparse.map": "0,1"}), f"{REFUSED}a size of {2**50}"),
    "long name": (named(entry("top/" + "a" * 300)), f"{REFUSED}its name is longer"),
    "long path": (named(entry("/".join(["a" * 100] * 11))), f"{REFUSED}its name is longer"),
    "long link": (named(symlink("top/a", "b" * 5000)), f"{REFUSED}its link is longer"),
    "name with a line feed": (named(entry("top/a\nb")), f"{REFUSED}control character"),
    "name with an escape": (named(entry("top/a\x1b[2J")), f"{REFUSED}control character"),
    "name with a zero byte": (named(path="top/a\0b"), f"{REFUSED}control character"),
    "huge pax header": (named(comment="x" * (2 << 20)), "a header at byte .* is longer than 1 MiB"),
    "pax header of absurd size": (raw(header("x", 1 << 40, tarfile.XHDTYPE) + bytes(2048)), "a header at byte"),
    "pax header of negative size": (raw(header("x", -1024, tarfile.XHDTYPE) + bytes(2048)), "a header at byte"),
    "long name of absurd size": (raw(header("x", 1 << 40, tarfile.GNUTYPE_LONGNAME) + bytes(2048)), "a header at byte"),
    "chain of headers": (raw(chain(tarfile.GNUTYPE_LONGNAME)), "a header at byte|RecursionError"),
    "written through a link": (named(symlink("top/l", "."), entry("top/l/a", content=b"1")), f"{REFUSED}it is behind"),
    "linked through one": (named(entry("top/a"), symlink("top/l", "."), hardlink("top/b", "top/l/a")), "it is behind"),
    "hard link to nothing": (named(hardlink("top/b", "top/a")), "cannot be unpacked: .*No such file"),
    "file and folder": (named(entry("top/a", content=b"1"), entry("top/a/b", content=b"1")), "cannot be unpacked: "),
    "zip cut": (raw(b"PK\x03\x04" + bytes(60)), "neither a tar"),
    "zip encrypted": (zipped(local={6: b"\x01\0"}), "member 'top/a' is encrypted, expected an archive"),
    "zip of another method": (zipped(local={8: b"\x5d\0"}), "member 'top/a' is compressed by method 93"),
    "zip bad sum": (zipped(local={14: b"abcd"}), f"{DAMAGED}Bad CRC"),
    "zip garbage": (zipped(content={30 + 5: b"\xff" * 9}), DAMAGED),
    "zip member elsewhere": (zipped(central={42: b"\xff\xff\0\0"}), DAMAGED),
    "zip64 lies": (zipped(central={24: b"\xff\xff\xff\xff"}), f"{REFUSED}holds 200 bytes, its header says 4294967295"),
    "zip day 0": (zipped(central={12: b"\xff\xff\xff\xff"}), ""),
    "zip link of absurd length": (zip_link(b"a" * (1 << 20)), "is a link to a target of 1048576 bytes"),
    "zip link with a zero byte": (zip_link(b"a\0b"), f"{REFUSED}its link .* zero byte"),
}


@pytest.mark.parametrize("how", UNREADABLE)
def test_archive_that_cannot_be_read_is_told_and_the_next_source_is_tried(tmp_path, how):
    write, words = UNREADABLE[how]
    write(bad := tmp_path / "bad.archive")
    tar(good := tmp_path / "good.tar", entry("top/configure", content=b"V=15.1\n"), mode="w")
    if words:
        with pytest.raises(SourceError, match=words) as caught:
            archive.unpack(bad, tmp_path / "in" / "tree")
        assert str(caught.value).startswith(f"{bad}: ")
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 800
        assert list((tmp_path / "in").iterdir()) == []
    recipe = ServerSourceRecipe(server="s", product="PostgreSQL", version="15")
    wanted = WantedSource(recipe, [{"file": str(bad)}, {"file": str(good)}])
    made = source.make(wanted, tmp_path / "out" / "tree", tmp_path / "out" / "source.json", POSTGRESQL)
    assert made.origin == str(good)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["source.json", "tree"]


def test_archive_that_cannot_be_opened_is_told(tmp_path):
    for name in ("absent", "folder"):
        (tmp_path / "folder").mkdir(exist_ok=True)
        with pytest.raises(SourceError, match=f"{name}: cannot be unpacked: .*(No such file|Is a directory)"):
            archive.unpack(tmp_path / name, tmp_path / "tree")
        assert not (tmp_path / "tree").exists()


def test_names_that_are_not_utf8_and_times_before_1970_are_sound(tmp_path):
    file = tar(tmp_path / "good.tar", entry("top/caf\udce9", content=b"1", mtime=-1000), mode="w")
    archive.unpack(file, tmp_path / "tree")
    (made,) = (tmp_path / "tree").iterdir()
    assert os.fsencode(made.name) == b"caf\xe9"
    assert made.stat().st_mtime == -1000


def test_link_to_the_folder_it_is_in_is_sound(tmp_path):
    file = tar(tmp_path / "good.tar", symlink("top/self", "."), entry("top/a", content=b"1"), mode="w")
    archive.unpack(file, tmp_path / "tree")
    assert (tmp_path / "tree/self/self/a").read_text() == "1"


def test_stream_that_unpacks_to_more_than_the_limit_is_refused_without_its_members(tmp_path, monkeypatch):
    """Zeros behind the end of a tar are no member, and would be read to their end."""
    monkeypatch.setattr(archive_members, "OVERHEAD_BYTES", 1 << 20)
    monkeypatch.setattr(archive, "UNPACKED_BYTES_MAX", 1 << 20)
    (tmp_path / "bomb.tar.xz").write_bytes(lzma.compress(WHOLE + bytes(16 << 20)))
    with pytest.raises(SourceError, match=r"bomb\.tar\.xz: unpacks to more than 2 MiB"):
        archive.unpack(tmp_path / "bomb.tar.xz", tmp_path / "tree")


def test_many_members_take_no_memory(tmp_path):
    with tarfile.open(tmp_path / "many.tar", "w") as out:
        for number in range(10_000):
            out.addfile(tarfile.TarInfo(f"top/{number % 2}"))
    tracemalloc.start()
    try:
        assert sum(1 for _ in archive_members.members(tmp_path / "many.tar", 1 << 30)) == 10_000
        assert tracemalloc.get_traced_memory()[1] < 2 << 20
    finally:
        tracemalloc.stop()


def test_cause_of_a_failure_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(archive_members, "is_tar", lambda stream: struct.unpack("i", b""))
    with pytest.raises(SourceError, match="cannot be unpacked, truncated or damaged: error: unpack requires") as caught:
        archive.unpack(tar(tmp_path / "a.tar", entry("a")), tmp_path / "tree")
    assert isinstance(caught.value.__cause__, struct.error)
