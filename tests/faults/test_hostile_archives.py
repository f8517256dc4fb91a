"""Archives made to escape: random ones never write outside their tree."""

import io
import os
import tarfile
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.build.sources import SourceError, archive
from tests.faults.scale import scaled
from tests.unit.build.sources.test_archive import entry

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
KINDS = {
    "file": tarfile.REGTYPE,
    "folder": tarfile.DIRTYPE,
    "symlink": tarfile.SYMTYPE,
    "hardlink": tarfile.LNKTYPE,
    "fifo": tarfile.FIFOTYPE,
    "device": tarfile.CHRTYPE,
    "unknown": b"Z",
}
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
    except SourceError as error:
        return str(error)
    return None


@settings(max_examples=scaled(1000, 300), deadline=None, database=None, derandomize=True)
@given(st.lists(MEMBERS, min_size=1, max_size=6), st.booleans())
def test_no_archive_writes_or_leads_out_of_its_tree(members, old_python):
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        if old_python:
            patch.delattr(tarfile, "data_filter", raising=False)
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


def sound(kind):
    """Return the bytes of a sound archive of a kind."""
    made = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as out:
            for name in ("top/a", "top/b/c"):
                out.writestr(name, b"content " * 40)
        return made.getvalue()
    with tarfile.open(fileobj=made, mode=f"w:{kind}", format=tarfile.PAX_FORMAT) as out:
        for name in ("top/a", "top/b/c", "top/" + "long" * 60):
            info, content = entry(name, content=b"content " * 40, mtime=1.5, pax_headers={"comment": "of a file"})
            out.addfile(info, io.BytesIO(content))
    return made.getvalue()


SOUND = {kind: sound(kind) for kind in ("", "gz", "bz2", "xz", "zip")}
CHANGES = st.lists(
    st.tuples(st.floats(0, 1, exclude_max=True), st.binary(min_size=1, max_size=12)), min_size=1, max_size=4
)


@settings(max_examples=scaled(1000, 300), deadline=10_000, database=None, derandomize=True)
@given(st.sampled_from(sorted(SOUND)), CHANGES, st.floats(0, 1))
def test_damage_anywhere_is_a_sentence_and_leaves_nothing(kind, changes, kept):
    with tempfile.TemporaryDirectory() as name:
        content = bytearray(SOUND[kind])
        for where, written in changes:
            start = int(where * len(content))
            content[start : start + len(written)] = written
        file = Path(name) / "damaged"
        file.write_bytes(content[: int(len(content) * max(kept, 0.1))] if kept < 0.5 else content)
        told = refusal(file, Path(name) / "in" / "tree")
        assert told is None or (told.startswith(f"{file}: ") and "\n" not in told)
        left = [path.name for path in (Path(name) / "in").iterdir()]
        assert left == ([] if told else ["tree"])


def test_zip_that_says_less_than_it_holds_is_refused(tmp_path):
    file = tmp_path / "liar.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("top/zeros", bytes(1 << 20))
    content, size = file.read_bytes(), (1 << 20).to_bytes(4, "little")
    assert content.count(size) == 2
    file.write_bytes(content.replace(size, (10).to_bytes(4, "little")))
    with pytest.raises(SourceError, match=r"liar\.zip: cannot be unpacked, truncated or damaged"):
        archive.unpack(file, tmp_path / "tree")
    assert not (tmp_path / "tree").exists()
