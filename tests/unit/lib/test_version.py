"""The commit of the workflow is read from the files of git, and is None where there are none."""

import subprocess

import pytest

from scripts import __version__
from scripts.lib import json_record, version

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def git(folder, *words):
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    done = subprocess.run(["git", "-C", folder, *identity, *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "checkout"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


def test_commit_is_that_of_the_branch(checkout):
    assert version.commit_of(checkout) == git(checkout, "rev-parse", "HEAD")


def test_commit_of_a_packed_branch_of_a_detached_head_and_of_a_worktree(checkout):
    commit = git(checkout, "rev-parse", "HEAD")
    git(checkout, "pack-refs", "--all")
    git(checkout, "worktree", "add", "-q", "-b", "other", checkout.parent / "other")
    assert version.commit_of(checkout) == version.commit_of(checkout.parent / "other") == commit
    git(checkout, "checkout", "-q", "--detach")
    assert version.commit_of(checkout) == commit


def test_there_is_no_commit_outside_git_nor_before_the_first_one(tmp_path):
    assert version.commit_of(tmp_path) is None
    git(tmp_path, "init", "-q")
    assert version.commit_of(tmp_path) is None


@pytest.mark.parametrize(
    ("made_by", "text"),
    [
        ({"version": "0.9.0", "commit": COMMIT}, "0.9.0 (commit 0123456789ab)"),
        ({"version": "0.9.0", "commit": None}, "0.9.0"),
        ({}, "unknown"),
    ],
)
def test_text_names_version_and_commit(made_by, text):
    assert version.text(made_by) == text


def test_signed_record_has_version_and_commit_and_another_record_has_neither(tmp_path):
    json_record.write_signed(tmp_path / "facts.json", {"tps": 1})
    assert json_record.read(tmp_path / "facts.json")["workflow"] == version.workflow()
    assert version.workflow()["version"] == __version__
    json_record.write(tmp_path / "identity.json", {"sha256": "0"})
    assert json_record.read(tmp_path / "identity.json") == {"format": json_record.FORMAT, "sha256": "0"}
