"""One commit of a repository becomes a plain tree, whatever the repository does afterwards."""

import subprocess
from pathlib import Path

import pytest

from scripts.build.sources import SourceError, git_command
from scripts.build.sources.git import _submodule, fetch, joined, location, unpack
from scripts.lib.host.address import Address
from scripts.lib.host.process import CommandFailed
from tests.unit.build.sources.test_working_tree import git, repository, with_submodule


def head(folder: Path) -> str:
    return subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True).stdout[
        :40
    ]


def names(tree: Path) -> list[str]:
    return sorted(str(path.relative_to(tree)) for path in tree.rglob("*") if not path.is_dir())


def test_commit_is_unpacked_without_the_repository_and_stays_what_it_was(tmp_path):
    root = repository(tmp_path / "server")
    commit = head(root)
    (root / "configure").write_text("later\n")
    git(root, "commit", "-qam", "later")
    unpack(Address(str(root)), commit, tmp_path / "downloads", tmp_path / "tree")
    assert names(tmp_path / "tree") == [".gitignore", "configure", "src/a.c", "src/link"]
    assert (tmp_path / "tree/configure").read_text() == "#!/bin/sh\n"
    assert (tmp_path / "tree/configure").stat().st_mode & 0o777 == 0o755
    assert [path.suffix for path in (tmp_path / "downloads").iterdir()] == [".git"]


def test_what_an_archive_would_leave_out_or_fill_in_is_as_in_a_checkout(tmp_path):
    root = repository(tmp_path / "server")
    (root / ".gitattributes").write_text("src/a.c export-ignore\nversion export-subst\n")
    (root / "version").write_text("$Format:%H$\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "attributes")
    unpack(Address(str(root)), head(root), tmp_path / "downloads", tmp_path / "tree")
    assert (tmp_path / "tree/src/a.c").exists()
    assert (tmp_path / "tree/version").read_text() == "$Format:%H$\n"


def test_fetched_commit_needs_no_repository_any_more(tmp_path):
    root = repository(tmp_path / "server")
    commit = head(root)
    fetch(Address(str(root)), commit, tmp_path / "downloads")
    root.rename(tmp_path / "moved")
    unpack(Address(str(root)), commit, tmp_path / "downloads", tmp_path / "tree")
    assert (tmp_path / "tree/configure").exists()


def test_submodules_are_fetched_at_the_commit_that_is_recorded(tmp_path):
    root = with_submodule(tmp_path / "server", tmp_path / "inner")
    commit = head(root)
    (tmp_path / "inner" / "configure").write_text("later\n")
    git(tmp_path / "inner", "commit", "-qam", "later")
    unpack(Address(str(root)), commit, tmp_path / "downloads", tmp_path / "tree")
    assert (tmp_path / "tree/lib/configure").read_text() == "#!/bin/sh\n"
    assert not list((tmp_path / "tree").rglob(".git"))


def test_server_that_gives_no_single_commits_is_fetched_whole(tmp_path, monkeypatch):
    root = repository(tmp_path / "server")
    commit = head(root)
    git(root, "commit", "-q", "--allow-empty", "-m", "later")
    # version 0 of the protocol, where only tips of branches may be asked for
    monkeypatch.setitem(git_command.SETTINGS, "protocol.version", "0")
    unpack(Address(str(root)), commit, tmp_path / "downloads", tmp_path / "tree")
    assert (tmp_path / "tree/configure").exists()


def test_unknown_commit_is_told_with_its_repository(tmp_path):
    root = repository(tmp_path / "server")
    with pytest.raises(SourceError, match=f"{root}: has no commit {'0' * 39}1"):
        fetch(Address(str(root)), "0" * 39 + "1", tmp_path / "downloads")


@pytest.mark.parametrize("commit", ["main", "abc123", "--upload-pack=x", "A" * 40])
def test_anything_but_a_whole_commit_is_refused(tmp_path, commit):
    with pytest.raises(SourceError, match=f"commit: '{commit}': expected 40 hexadecimal digits"):
        fetch(Address("/nowhere"), commit, tmp_path)


def test_what_git_says_of_a_missing_repository_is_told(tmp_path):
    with pytest.raises(CommandFailed, match="does not appear to be a git repository"):
        fetch(Address(str(tmp_path / "absent")), "1" * 40, tmp_path / "downloads")


def test_transport_that_runs_a_command_stays_shut(tmp_path):
    with pytest.raises(CommandFailed, match="transport 'ext' not allowed"):
        fetch(Address(f"ext::touch {tmp_path}/ran"), "1" * 40, tmp_path / "downloads")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("start", [b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", b"\0GITCRYPT\0\1\2"])
def test_content_that_only_a_filter_brings_is_told(tmp_path, start):
    root = repository(tmp_path / "server")
    (root / "big.c").write_bytes(start)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "pointer")
    with pytest.raises(SourceError, match=r"git: .*/server: commit \w{40}: big.c is .*, and the workflow runs"):
        unpack(Address(str(root)), head(root), tmp_path / "downloads", tmp_path / "tree")


@pytest.mark.parametrize("url", ["/srv/other", "file:///srv/other", "~/other"])
def test_repository_from_elsewhere_reads_no_submodule_of_this_machine(url):
    with pytest.raises(SourceError, match=r"submodule lib: .* is a path of this machine"):
        _submodule(Address("https://host.example/server.git"), "lib", url)


@pytest.mark.parametrize(
    ("repository", "url", "expected"),
    [
        ("https://host/group/server.git", "../lib.git", "https://host/group/lib.git"),
        ("https://host/group/server.git", "./lib.git", "https://host/group/server.git/lib.git"),
        ("https://host/group/server.git", "https://other/lib", "https://other/lib"),
        ("git@host:group/server.git", "../lib.git", "git@host:group/lib.git"),
        ("/srv/git/server", "../lib", "/srv/git/lib"),
    ],
)
def test_url_of_a_submodule_is_relative_to_its_repository(repository, url, expected):
    assert joined(Address(repository), url) == Address(expected)


def test_paths_are_made_absolute_and_urls_left_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/x")
    assert location("server") == Address(str(tmp_path / "server"))
    assert location("~/server") == Address("/home/x/server")
    for url in ("https://host/x", "ssh://host/x", "git@host:x"):
        assert location(url) == Address(url)
