"""A release is made in a temporary clone: refused with all reasons, said in a dry run, made with commit and tag."""

import re
import subprocess

import pytest

from scripts.commands import new_release
from scripts.lib.host.entry import WrongCall
from tests.made.studies import CHECKOUT

VERSION, DATE = "99.0.1", "2030-01-02"


def git(folder, *words):
    done = subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def clone(tmp_path):
    """A clone of this checkout with a committer of its own."""
    if not (CHECKOUT / ".git").exists():
        pytest.skip("this checkout is no git repository")
    folder = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--no-hardlinks", "--depth=1", f"file://{CHECKOUT}", str(folder))
    git(folder, "config", "user.name", "a")
    git(folder, "config", "user.email", "a@b")
    return folder


def test_dry_run_says_what_it_would_change_and_changes_nothing(clone, capsys):
    commit = git(clone, "rev-parse", "HEAD")
    new_release.release(clone, VERSION, DATE, None)
    shown = capsys.readouterr().err
    assert (
        f"would check (make lint, make test), change CHANGELOG.md, scripts/__init__.py, CITATION.cff, tag v{VERSION}"
        in shown
    )
    assert (git(clone, "status", "--porcelain"), git(clone, "tag"), git(clone, "rev-parse", "HEAD")) == ("", "", commit)


def test_release_is_checked_then_committed_and_tagged(clone):
    before, checked = (clone / "CHANGELOG.md").read_text(encoding="utf-8"), []
    new_release.release(clone, VERSION, DATE, checked.append)
    assert checked == [clone]
    assert git(clone, "status", "--porcelain") == ""
    assert git(clone, "describe", "--exact-match") == f"v{VERSION}"
    assert new_release.version_of(clone) == VERSION
    assert f"\nversion: {VERSION}\n" in (clone / "CITATION.cff").read_text(encoding="utf-8")
    after = (clone / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## \[Unreleased\]\n\n## \[{re.escape(VERSION)}\] - {DATE}\n", after, re.MULTILINE)
    assert f"\n[{VERSION}]: #9901---{DATE}\n" in after
    assert new_release.unreleased(after).strip() == ""
    assert new_release.unreleased(before).strip() in after


def test_release_whose_checks_fail_changes_nothing(clone, monkeypatch):
    monkeypatch.setattr(new_release, "CHECKS", (("true",), ("false",)))
    with pytest.raises(ValueError, match="`false` ended with 1, so nothing was changed"):
        new_release.release(clone, VERSION, DATE, new_release.run_checks)
    assert (git(clone, "status", "--porcelain"), git(clone, "tag")) == ("", "")


def test_everything_against_a_release_is_told_at_once(clone):
    new_release.release(clone, VERSION, DATE, lambda root: None)
    (clone / "README.md").unlink()
    with pytest.raises(ValueError, match="working tree has changes") as caught:
        new_release.release(clone, VERSION, DATE, None)
    told = str(caught.value).splitlines()
    assert len(told) == 4
    assert f"VERSION={VERSION} is not above the last version, {VERSION}" in told
    assert f"there is a tag v{VERSION} already" in told
    assert "CHANGELOG.md: nothing stands under Unreleased" in told


@pytest.mark.parametrize("version", ["1.2", "v1.2.3", "1.2.3-rc1", "", "1.2.3.4"])
def test_version_is_three_numbers(version):
    with pytest.raises(WrongCall, match="expected three numbers"):
        new_release.numbers(version)


def test_numbers_are_compared_as_numbers():
    assert new_release.numbers("1.10.0") > new_release.numbers("1.9.9")
