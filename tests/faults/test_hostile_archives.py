"""Archives made to exhaust or to escape: random ones never write outside their tree, large headers are never read."""

import io
import os
import resource
import tarfile
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.sources import archive
from scripts.sources.archive import PATH_DEPTH_MAX, ArchiveError
from tests.faults.scale import scaled
from tests.unit.sources.test_archive import entry, tar

HUGE = 1 << 28
NAMES = [
    "a",
    "b",
    "a/b",
    "a/b/c",
    "../out",
    "a/../../out",
    "/tmp/out",
    "./a",
    "a//b",
    "a/.",
    "..",
    ".",
    "a\n",
    "ж",
    "a" * 300,
]
TARGETS = ["a", "b", "..", "../..", "../out", "a/../..", "/etc", "b/../../out", ".", "a/b", "../a"]
KINDS = {"file": tarfile.REGTYPE, "folder": tarfile.DIRTYPE, "symlink": tarfile.SYMTYPE, "hardlink": tarfile.LNKTYPE,
         "fifo": tarfile.FIFOTYPE, "device": tarfile.CHRTYPE, "unknown": b"Z"}  # fmt: skip
MEMBERS = st.tuples(
    st.sampled_from(sorted(KINDS)), st.sampled_from(NAMES), st.sampled_from(TARGETS), st.integers(0, 0o7777)
)


def put(path, members):
    with tarfile.open(path, "w") as out:
        for number, (kind, name, target, mode) in enumerate(members):
            content = f"member {number}".encode() if kind == "file" else b""
            linked = {"linkname": target} if kind in ("symlink", "hardlink") else {}
            info, _ = entry(name, type=KINDS[kind], mode=mode, **linked)
            info.size = len(content)
            out.addfile(info, io.BytesIO(content))
    return path


def refusal(file, tree):
    try:
        archive.unpack(file, tree)
    except ArchiveError as error:
        return str(error)
    return None


@settings(max_examples=scaled(5000, 300), deadline=None, database=None, derandomize=True)
@given(st.lists(MEMBERS, min_size=1, max_size=6))
def test_no_archive_writes_or_leads_out_of_its_tree(members):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in").mkdir()
        (folder / "out").write_text("not ours")
        told = refusal(put(folder / "any.tar", members), folder / "in" / "tree")
        assert told is None or told.startswith(f"{folder}/any.tar: ")
        assert sorted(path.name for path in folder.iterdir()) == ["any.tar", "in", "out"]
        assert (folder / "out").read_text() == "not ours"
        for path in (folder / "in").rglob("*"):
            assert Path(os.path.realpath(path)).is_relative_to(folder / "in"), members
            assert path.is_symlink() or path.is_file() or path.is_dir(), members
            assert not path.lstat().st_mode & 0o6000, members
        assert not Path("/tmp/out").exists()


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK])
@pytest.mark.parametrize("first", [True, False])
def test_header_of_a_quarter_gigabyte_is_refused_unread(tmp_path, kind, first):
    with tarfile.open(tmp_path / "bomb.tar.xz", "w:xz", preset=0) as out:
        if not first:
            out.addfile(entry("a")[0])
        info, _ = entry("header", type=kind)
        info.size = HUGE
        out.fileobj.write(info.tobuf())
    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ArchiveError, match=f"member 'header' refused: a header of {HUGE} bytes"):
        archive.unpack(tmp_path / "bomb.tar.xz", tmp_path / "tree")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib < HUGE / 1024 / 2


def test_archive_of_folders_without_end_is_refused(tmp_path):
    deep = "/".join("d" * (PATH_DEPTH_MAX + 1))
    with pytest.raises(ArchiveError, match=f"more than {PATH_DEPTH_MAX} folders deep"):
        archive.unpack(tar(tmp_path / "deep.tar", entry(f"{deep}/file", content=b"x")), tmp_path / "tree")


def test_zip_that_says_less_than_it_holds_is_refused(tmp_path):
    file = tmp_path / "liar.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("top/zeros", bytes(1 << 20))
    content, size = file.read_bytes(), (1 << 20).to_bytes(4, "little")
    assert content.count(size) == 2
    file.write_bytes(content.replace(size, (10).to_bytes(4, "little")))
    with pytest.raises(ArchiveError, match=r"liar\.zip: cannot be unpacked, truncated or damaged"):
        archive.unpack(file, tmp_path / "tree")
    assert sum(path.stat().st_size for path in (tmp_path / "tree").rglob("*") if path.is_file()) <= 10
