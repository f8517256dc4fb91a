"""A user's directory: which files count, that every change of them is seen, and that unchanged ones are not read."""

import hashlib
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from scripts.build.sources import SourceError, working_tree
from scripts.build.sources.working_tree import content_sha256, copy, tree_content
from scripts.lib import json_record

# Longer than any clock of a file system takes to move on.
TICK_S = 0.05
IDENTITY = ["-c", "user.name=x", "-c", "user.email=x@y", "-c", "protocol.file.allow=always"]


@pytest.fixture(autouse=True)
def memory(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(working_tree, "cache_directory", lambda: tmp_path / "cache")
    return tmp_path / "cache" / "digests"


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *IDENTITY, *arguments], cwd=folder, check=True, capture_output=True)


def plain(root: Path) -> Path:
    (root / "src").mkdir(parents=True)
    (root / "configure").write_text("#!/bin/sh\n")
    (root / "configure").chmod(0o755)
    (root / "src" / "a.c").write_text("int a;\n")
    (root / "src" / "link").symlink_to("a.c")
    return root


def repository(root: Path) -> Path:
    plain(root)
    (root / ".gitignore").write_text("*.o\n")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    return root


def with_submodule(root: Path, inner: Path) -> Path:
    repository(inner)
    repository(root)
    git(root, "submodule", "add", "-q", str(inner), "lib")
    git(root, "commit", "-qm", "with lib")
    return root


def test_ignored_files_and_the_repository_itself_do_not_count(tmp_path):
    root = repository(tmp_path / "tree")
    before = content_sha256(root)
    (root / "src" / "a.o").touch()
    git(root, "commit", "-q", "--allow-empty", "-m", "second")
    assert content_sha256(root) == before
    assert sorted(tree_content(root).files) == [".gitignore", "configure", "src/a.c"]


def test_commit_of_what_was_there_changes_nothing_and_an_untracked_file_counts(tmp_path):
    root = repository(tmp_path / "tree")
    before = content_sha256(root)
    (root / "src" / "patch.c").write_text("int patch;\n")
    with_patch = content_sha256(root)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "patch")
    assert before != with_patch == content_sha256(root)


def test_files_of_submodules_count(tmp_path):
    root = with_submodule(tmp_path / "tree", tmp_path / "inner")
    before = content_sha256(root)
    assert "lib/src/a.c" in tree_content(root).files
    (root / "lib" / "src" / "a.o").touch()
    assert content_sha256(root) == before
    (root / "lib" / "src" / "a.c").write_text("int b;\n")
    assert content_sha256(root) != before


def relink(root: Path) -> None:
    (root / "src" / "link").unlink()
    (root / "src" / "link").symlink_to("../configure")


CHANGES = {
    "content": lambda root: (root / "src/a.c").write_text("int b;\n"),
    "name": lambda root: (root / "src/a.c").rename(root / "src/b.c"),
    "exec bit": lambda root: (root / "configure").chmod(0o644),
    "new file": lambda root: (root / "new").touch(),
    "deleted file": lambda root: (root / "src/a.c").unlink(),
    "link target": relink,
}


@pytest.mark.parametrize("make", [plain, repository])
@pytest.mark.parametrize("change", CHANGES)
def test_every_change_of_content_changes_the_digest(tmp_path, monkeypatch, make, change):
    monkeypatch.setattr(working_tree, "RACY_NS", 0)
    root = make(tmp_path / "tree")
    before = content_sha256(root)
    time.sleep(TICK_S)
    CHANGES[change](root)
    assert content_sha256(root) != before


def test_change_of_equal_length_with_its_time_set_back_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(working_tree, "RACY_NS", 0)
    root = plain(tmp_path / "tree")
    before, times = content_sha256(root), (root / "src/a.c").stat()
    time.sleep(TICK_S)
    (root / "src/a.c").write_text("int b;\n")
    os.utime(root / "src/a.c", ns=(times.st_atime_ns, times.st_mtime_ns))
    assert content_sha256(root) != before


def test_unchanged_files_are_not_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(working_tree, "RACY_NS", 0)
    root = plain(tmp_path / "tree")
    before, read = content_sha256(root), []

    def reading(path: Path) -> str:
        read.append(path.name)
        return real(path)

    real = json_record.file_sha256
    monkeypatch.setattr(working_tree, "file_sha256", reading)
    assert content_sha256(root) == before
    assert read == []
    (root / "configure").write_text("#!/bin/sh -e\n")
    content_sha256(root)
    assert read == ["configure"]


def test_file_written_just_now_is_read_again(tmp_path, memory):
    root = plain(tmp_path / "tree")
    content_sha256(root)
    assert not memory.exists()


@pytest.mark.parametrize("damage", ["", "{", "[1]", '{"x": 1}', '{"x": "short"}', "\0"])
def test_damaged_memory_is_as_good_as_none(tmp_path, memory, monkeypatch, damage):
    monkeypatch.setattr(working_tree, "RACY_NS", 0)
    root = plain(tmp_path / "tree")
    before = content_sha256(root)
    (file,) = memory.iterdir()
    whole = file.read_text()
    file.write_text(damage)
    assert content_sha256(root) == before
    assert file.read_text() == whole


@pytest.mark.parametrize("make", [plain, repository])
def test_copy_holds_what_counts_and_has_the_same_digest(tmp_path, make):
    root = make(tmp_path / "tree")
    (root / "src" / "a.o").touch()
    (root / "src" / "caf\udce9").touch()
    assert copy(root, tmp_path / "copy") == content_sha256(root) == content_sha256(tmp_path / "copy")
    assert (tmp_path / "copy/src/a.o").exists() == (make is plain)
    assert not (tmp_path / "copy/.git").exists()
    assert (tmp_path / "copy/src/link").readlink() == Path("a.c")
    assert (tmp_path / "copy/configure").stat().st_mtime == (root / "configure").stat().st_mtime


def test_copy_of_a_changed_tree_has_another_digest(tmp_path):
    root = plain(tmp_path / "tree")
    before = content_sha256(root)
    (root / "src/a.c").write_text("int b;\n")
    assert copy(root, tmp_path / "copy") != before


ELF = b"\x7fELF\2\1\1" + bytes(40)
BUILT = {
    "config.status": b"#! /bin/bash\n",
    "build/CMakeCache.txt": b"# This is the CMakeCache file.\n",
    "build/CMakeFiles/a.txt": b"",
    "src/cmake_install.cmake": b"",
    "src/.ninja_log": b"# ninja log v5\n",
    "src/a.o": ELF,
    "src/lto.o": b"BC\xc0\xde\x35\x14",
    "src/a.lo": b"# a.lo - a libtool object file\n# Generated by libtool\n",
    "src/libx.a": b"!<arch>\na.o/   ",
    "src/libx.so.5.15": ELF,
    "src/a.gcda": b"adcg*21B",
    "src/a.gcno": b"oncg*21B",
}
# Files of such names that tests of compilers and servers hold.
NOT_BUILT = {
    "src/a.o": b"",
    "src/b.o": b"no object\n",
    "src/a.a": b"text",
    "src/CMakeLists.txt": b"",
    "config.log": b"",
}


@pytest.mark.parametrize("make", [plain, repository])
@pytest.mark.parametrize("name", BUILT)
def test_tree_that_was_compiled_in_place_is_refused_by_its_first_file(tmp_path, make, name):
    root = make(tmp_path / "tree")
    for each in (name, "z/CMakeCache.txt"):
        (root / each).parent.mkdir(parents=True, exist_ok=True)
        (root / each).write_bytes(BUILT.get(each, b""))
    if make is repository:
        git(root, "add", "-f", "-A")
    with pytest.raises(SourceError) as caught:
        content_sha256(root)
    assert f"directory: {root}/{name}: a build left it there, expected sources alone: " in str(caught.value)
    assert ("`git clean -Xn`" in str(caught.value)) == (make is repository)
    assert ("make distclean" in str(caught.value)) == (make is plain)


def test_built_program_without_a_suffix_is_build_output_too(tmp_path):
    root = plain(tmp_path / "tree")
    (root / "src" / "server").write_bytes(ELF)
    content_sha256(root)
    (root / "src" / "server").chmod(0o755)
    with pytest.raises(SourceError, match="src/server: a build left it there"):
        content_sha256(root)


def test_ignored_build_output_does_not_matter(tmp_path):
    root = repository(tmp_path / "tree")
    before = content_sha256(root)
    with (root / ".git/info/exclude").open("a") as out:
        out.write("config.status\nCMakeFiles/\n")
    for name in ("config.status", "src/a.o", "CMakeFiles/x"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(ELF)
    assert content_sha256(root) == before


def test_files_that_only_have_such_names_are_sources(tmp_path):
    root = plain(tmp_path / "tree")
    for name, content in NOT_BUILT.items():
        (root / name).write_bytes(content)
    assert copy(root, tmp_path / "copy") == content_sha256(root)


def test_pointer_of_a_filter_is_refused_by_name(tmp_path):
    root = plain(tmp_path / "tree")
    (root / "src/big.c").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n")
    with pytest.raises(SourceError, match=r"src/big\.c is a pointer of Git LFS, and the workflow"):
        content_sha256(root)


def inside(root: Path) -> dict[str, str]:
    return {
        "src/dot": ".",
        "src/all": str(root),
        "src/absolute": f"{root}/configure",
        "around": f"{root}/src/../src/a.c",
        "to-link": f"{root}/src/link",
    }


@pytest.mark.parametrize("make", [plain, repository])
def test_links_that_stay_inside_are_copied_as_links_within_the_copy(tmp_path, make):
    root = make(tmp_path / "tree")
    for name, target in inside(root).items():
        (root / name).symlink_to(target)
    before = content_sha256(root)
    assert copy(root, tmp_path / "copy") == before
    assert {name: str((tmp_path / "copy" / name).readlink()) for name in inside(root)} == {
        "src/dot": ".",
        "src/all": "..",
        "src/absolute": "../configure",
        "around": "src/a.c",
        "to-link": "src/link",
    }
    root.rename(tmp_path / "moved")
    assert (tmp_path / "copy/src/absolute").read_text() == "#!/bin/sh\n"


def test_absolute_link_by_another_name_of_the_tree_is_inside(tmp_path):
    root = plain(tmp_path / "tree")
    (tmp_path / "alias").symlink_to(root)
    (root / "away").symlink_to(tmp_path / "alias" / "configure")
    assert tree_content(root).links["away"] == "configure"


def test_tree_too_deep_is_told_in_a_sentence(tmp_path):
    root = plain(tmp_path / "tree")
    (root / "/".join("d" * 150)).mkdir(parents=True)
    with pytest.raises(SourceError, match="folders inside each other more than 100 deep"):
        content_sha256(root)


def test_index_of_git_leads_nowhere_outside(tmp_path):
    root = repository(tmp_path / "tree")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.c").write_text("secret\n")
    (root / "lib").mkdir()
    (root / "lib" / "a.c").touch()
    git(root, "add", "-A")
    shutil.rmtree(root / "lib")
    (root / "lib").symlink_to(tmp_path / "outside")
    with (root / ".git/info/exclude").open("a") as out:
        out.write("lib\n")
    assert "lib/a.c" not in tree_content(root).files
    (root / "lib").unlink()
    index = root / ".git/index"
    content = index.read_bytes()[:-20].replace(b"lib/a.c", b"../evil")
    index.write_bytes(content + hashlib.sha1(content).digest())
    (tmp_path / "evil").touch()
    with pytest.raises(SourceError, match=r"git lists '\.\./evil', expected names within the tree|git cannot list"):
        content_sha256(root)


@pytest.mark.parametrize("target", ["/etc/passwd", "../../outside", "src/../../outside"])
def test_link_that_leads_out_is_refused_by_name(tmp_path, target):
    root = plain(tmp_path / "tree")
    (root / "src/away").symlink_to(target)
    with pytest.raises(SourceError, match="src/away: symbolic link"):
        content_sha256(root)


def test_anything_but_files_links_and_folders_is_refused_by_name(tmp_path):
    root = plain(tmp_path / "tree")
    os.mkfifo(root / "pipe")
    with pytest.raises(SourceError, match="pipe: neither"):
        content_sha256(root)


def test_empty_or_missing_directory_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    for name in ("empty", "absent"):
        with pytest.raises(SourceError, match=f"directory: .*/{name}: "):
            content_sha256(tmp_path / name)


def test_what_git_says_of_a_broken_repository_is_told(tmp_path):
    root = repository(tmp_path / "tree")
    shutil.rmtree(root / ".git" / "objects")
    with pytest.raises(SourceError, match="git cannot list its files: fatal: not a git repository"):
        content_sha256(root)
