"""Hostile and damaged archives are refused by name, and sound ones come out as they went in.

Each test runs with tarfile's data filter, where this Python has it, and with the one for older Pythons.
"""

import io
import os
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

from scripts.build.sources import SourceError, archive


@pytest.fixture(autouse=True, params=["tarfile", "ours"])
def member_filter(request, monkeypatch):
    """Check members with tarfile's data filter or as on a Python without it."""
    if request.param == "ours":
        monkeypatch.delattr(tarfile, "data_filter", raising=False)
    elif not hasattr(tarfile, "data_filter"):
        pytest.skip("this Python's tarfile has no data filter")


def entry(name: str, **fields) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    content = fields.pop("content", b"")
    info.size = len(content)
    for key, value in fields.items():
        setattr(info, key, value)
    return info, content


def tar(path: Path, *entries: tuple[tarfile.TarInfo, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as out:
        for info, content in entries:
            out.addfile(info, io.BytesIO(content))
    return path


def symlink(name: str, target: str) -> tuple[tarfile.TarInfo, bytes]:
    return entry(name, type=tarfile.SYMTYPE, linkname=target)


def hardlink(name: str, target: str) -> tuple[tarfile.TarInfo, bytes]:
    return entry(name, type=tarfile.LNKTYPE, linkname=target)


HOSTILE = {
    "absolute path": ([entry("/tmp/evil", content=b"x")], "/tmp/evil"),
    "'..' in its path": ([entry("top/../../evil", content=b"x")], "top/../../evil"),
    "link to": ([symlink("top/out", "/etc")], "top/out"),
    "which is outside the destination": ([symlink("top/out", "../../x")], "top/out"),
    # its top folder is taken away
    "symbolic link out of the tree, to '../x'": ([entry("top/a", content=b"a"), symlink("top/out", "../x")], "out"),
    "'..' behind a name": ([symlink("top/a/b/out", "c/../../x")], "a/b/out"),
    "outside": ([symlink("top/a", ".."), symlink("top/b", "a/../out"), entry("top/b/x", content=b"x")], "top/b"),
    "would link to": ([hardlink("top/passwd", "../../etc/passwd")], "top/passwd"),
    "link": ([hardlink("top/passwd", "/etc/passwd")], "top/passwd"),
    "special file": ([entry("top/null", type=tarfile.CHRTYPE, devmajor=1, devminor=3)], "top/null"),
    "a special file": ([entry("top/pipe", type=tarfile.FIFOTYPE)], "top/pipe"),
    "setuid or setgid bit (mode 4755)": ([entry("top/su", mode=0o4755, content=b"x")], "top/su"),
}


@pytest.mark.parametrize("reason", HOSTILE)
def test_hostile_member_is_refused_by_name(tmp_path, reason):
    entries, name = HOSTILE[reason]
    file = tar(tmp_path / "bad.tar.gz", *entries)
    with pytest.raises(SourceError) as caught:
        archive.unpack(file, tmp_path / "in" / "tree")
    assert reason in str(caught.value)
    assert f"{file}: member {name!r} refused: " in str(caught.value)
    assert list((tmp_path / "in").iterdir()) == []


def test_second_member_of_a_name_is_refused(tmp_path):
    file = tar(tmp_path / "bad.tar.gz", entry("top/a", content=b"1"), entry("top/a", content=b"2"))
    with pytest.raises(SourceError, match=rf"{file}: .*File exists: '.*top/a'"):
        archive.unpack(file, tmp_path / "tree")


def test_log_names_what_checked_the_members(tmp_path, caplog, member_filter):
    caplog.set_level("INFO")
    archive.unpack(tar(tmp_path / "good.tar", entry("top/a", content=b"1")), tmp_path / "tree")
    checked_by = "tarfile.data_filter" if hasattr(tarfile, "data_filter") else "the workflow's own data filter"
    assert f"good.tar: unpacked 1 members, checked by {checked_by}" in caplog.text


def test_a_folder_of_an_archive_is_kept_alone(tmp_path):
    file = tar(tmp_path / "many.tar", entry("a/server/bin/x", content=b"1"), entry("b", content=b"2"))
    archive.unpack(file, tmp_path / "tree", "a/server")
    assert [str(path.relative_to(tmp_path / "tree")) for path in sorted((tmp_path / "tree").rglob("*"))] == [
        "bin",
        "bin/x",
    ]
    assert not (tmp_path / "tree.top").exists()


@pytest.mark.parametrize("folder", ["a/client", "b", "../outside"])
def test_a_folder_that_an_archive_does_not_have_is_named(tmp_path, folder):
    (tmp_path / "outside").mkdir()
    file = tar(tmp_path / "many.tar", entry("a/server/x", content=b"1"), entry("b", content=b"2"))
    with pytest.raises(SourceError, match=rf"many.tar: .*has no folder {folder} .*at its top are a, b"):
        archive.unpack(file, tmp_path / "tree", folder)
    assert not (tmp_path / "tree").exists()


def test_symlink_cannot_be_swapped_for_a_directory_that_is_written_through(tmp_path):
    (tmp_path / "outside").mkdir()
    file = tar(
        tmp_path / "bad.tar",
        entry("top/d", type=tarfile.DIRTYPE, mode=0o755),
        symlink("top/d", "../outside"),
        entry("top/d/evil", content=b"x"),
        mode="w",
    )
    with pytest.raises(SourceError):
        archive.unpack(file, tmp_path / "tree")
    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.parametrize("compression", ["", "gz", "bz2", "xz"])
def test_truncated_tar_is_refused(tmp_path, compression):
    entries = [entry(f"top/{number}", content=os.urandom(3000)) for number in range(40)]
    file = tar(tmp_path / "whole.tar", *entries, mode=f"w:{compression}")
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(SourceError, match="truncated"):
        archive.unpack(file, tmp_path / "tree")


def test_tar_cut_exactly_between_two_members_is_refused(tmp_path):
    file = tar(tmp_path / "whole.tar", *[entry(f"top/{number}", content=b"x" * 512) for number in range(4)], mode="w")
    file.write_bytes(file.read_bytes()[:2048])
    with pytest.raises(SourceError, match="truncated or damaged at byte 2048"):
        archive.unpack(file, tmp_path / "tree")


def test_tar_with_a_broken_header_in_the_middle_is_refused(tmp_path):
    file = tar(tmp_path / "whole.tar", *[entry(f"top/{number}", content=b"x" * 512) for number in range(4)], mode="w")
    content = bytearray(file.read_bytes())
    content[2048 + 148 : 2048 + 156] = b"99999999"
    file.write_bytes(content)
    with pytest.raises(SourceError, match="damaged at byte 2048"):
        archive.unpack(file, tmp_path / "tree")


def test_zip_with_a_damaged_member_is_refused(tmp_path):
    file = tmp_path / "bad.zip"
    with zipfile.ZipFile(file, "w") as out:
        out.writestr("top/a", b"A" * 100)
    file.write_bytes(file.read_bytes().replace(b"A" * 100, b"A" * 99 + b"B"))
    with pytest.raises(SourceError, match="CRC"):
        archive.unpack(file, tmp_path / "tree")


def zip_info(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    return info


@pytest.mark.parametrize(
    ("name", "mode", "content", "reason"),
    [
        ("../evil", stat.S_IFREG | 0o644, b"x", "'..' in its path"),
        ("/evil", stat.S_IFREG | 0o644, b"x", "absolute path"),
        ("top/out", stat.S_IFLNK | 0o777, b"../../etc", "would link to"),
        ("top/su", stat.S_IFREG | 0o4755, b"x", "setuid"),
        ("top/dev", stat.S_IFCHR | 0o644, b"", "a special file"),
    ],
)
def test_hostile_zip_member_is_refused_by_name(tmp_path, name, mode, content, reason):
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as out:
        out.writestr(zip_info(name, mode), content)
    with pytest.raises(SourceError, match=reason) as caught:
        archive.unpack(tmp_path / "bad.zip", tmp_path / "tree")
    assert repr(name) in str(caught.value)


def test_archive_above_the_size_limit_is_refused_before_it_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "UNPACKED_BYTES_MAX", 1 << 20)
    file = tar(tmp_path / "bomb.tar.xz", entry("top/zeros", content=bytes(8 << 20)), mode="w:xz")
    with pytest.raises(SourceError, match="more than 1 MiB"):
        archive.unpack(file, tmp_path / "tree")
    assert not (tmp_path / "tree").exists()


@pytest.mark.parametrize(("limit", "most"), [("UNPACKED_BYTES_MAX", 100), ("MEMBERS_MAX", 1)])
def test_limits_hold_for_all_members_together(tmp_path, monkeypatch, limit, most):
    monkeypatch.setattr(archive, limit, most)
    file = tar(tmp_path / "large.tar", entry("a", content=bytes(60)), entry("b", content=bytes(60)))
    with pytest.raises(SourceError, match="member 'b' refused: the archive unpacks to more than"):
        archive.unpack(file, tmp_path / "tree")


def test_text_file_is_called_neither_tar_nor_zip(tmp_path):
    (tmp_path / "page.tar.gz").write_text("<html>moved</html>")
    with pytest.raises(SourceError, match="neither a tar"):
        archive.unpack(tmp_path / "page.tar.gz", tmp_path / "tree")


def test_empty_tar_is_refused(tmp_path):
    with pytest.raises(SourceError, match="empty"):
        archive.unpack(tar(tmp_path / "none.tar"), tmp_path / "tree")


def test_sound_tar_keeps_contents_exec_bits_times_and_links_without_its_top_folder(tmp_path):
    file = tar(
        tmp_path / "good.tar.gz",
        entry("./top", type=tarfile.DIRTYPE, mode=0o2775),
        entry("./top/configure", content=b"#!/bin/sh\n", mode=0o775, mtime=1_000_000_000),
        entry("./top/sub/data", content=b"data", mode=0o600),
        symlink("./top/sub/link", "../configure"),
        hardlink("./top/same", "./top/sub/data"),
    )
    tree = tmp_path / "tree"
    archive.unpack(file, tree)
    assert sorted(path.relative_to(tree).as_posix() for path in tree.rglob("*")) == [
        "configure",
        "same",
        "sub",
        "sub/data",
        "sub/link",
    ]
    assert stat.S_IMODE((tree / "configure").stat().st_mode) == 0o755
    assert (tree / "configure").stat().st_mtime == 1_000_000_000
    assert (tree / "sub/link").read_text() == "#!/bin/sh\n"
    assert (tree / "same").samefile(tree / "sub/data")


def test_tar_without_a_single_top_folder_stays_as_it_is(tmp_path):
    archive.unpack(
        tar(tmp_path / "flat.tar", entry("configure", content=b"c"), entry("src/a", content=b"a")), tmp_path / "tree"
    )
    assert sorted(path.name for path in (tmp_path / "tree").iterdir()) == ["configure", "src"]


def test_sound_zip_keeps_exec_bits_and_symlinks(tmp_path):
    with zipfile.ZipFile(tmp_path / "good.zip", "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr(zip_info("top/", stat.S_IFDIR | 0o755), b"")
        out.writestr(zip_info("top/run", stat.S_IFREG | 0o755), b"run")
        out.writestr("top/plain", b"plain")
        out.writestr(zip_info("top/link", stat.S_IFLNK | 0o777), b"plain")
    archive.unpack(tmp_path / "good.zip", tmp_path / "tree")
    assert os.access(tmp_path / "tree/run", os.X_OK)
    assert not (tmp_path / "tree/plain").stat().st_mode & 0o111
    assert (tmp_path / "tree/link").readlink() == Path("plain")
