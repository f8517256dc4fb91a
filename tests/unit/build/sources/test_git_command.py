"""A repository that sets everything by which git can run a program: no call of the workflow's runs any of it."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from scripts import ROOT
from scripts.build.sources import git_command, working_tree
from scripts.build.sources.git import unpack
from scripts.lib.host import process
from scripts.lib.host.address import Address
from tests.unit.build.sources.test_git import head
from tests.unit.build.sources.test_working_tree import git, repository

HOOKS = (
    *("applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-checkout", "post-commit", "post-index-change"),
    *("post-merge", "post-receive", "post-rewrite", "post-update", "pre-auto-gc", "pre-commit", "pre-push"),
    *("pre-receive", "proc-receive", "push-to-checkout", "reference-transaction", "sendemail-validate", "update"),
)
PROGRAMS = (
    *("core.fsmonitor", "core.pager", "pager.ls-files", "core.editor", "core.sshCommand", "core.gitProxy"),
    *(
        "core.askPass",
        "core.alternateRefsCommand",
        "sequence.editor",
        "credential.helper",
        "diff.external",
        "gpg.program",
    ),
    *("uploadpack.packObjectsHook", "remote.promisor.uploadpack", "filter.evil.clean", "filter.evil.smudge"),
    *("filter.evil.process", "diff.evil.textconv", "diff.evil.command", "merge.evil.driver", "tar.tar.command"),
    *("gpg.program", "interactive.diffFilter", "browser.x.cmd", "init.templateDir"),
)
ALIASES = ("ls-files", "fetch", "ls-remote", "archive", "rev-list", "upload-pack", "init", "ls-tree", "config")
VARIABLES = (
    *("GIT_PAGER", "GIT_EDITOR", "GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND", "GIT_PROXY_COMMAND", "GIT_ASKPASS"),
    *("GIT_SEQUENCE_EDITOR", "PAGER", "EDITOR"),
)


def text_of(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


class Hostile:
    """A repository whose every program would write the file `ran`."""

    def __init__(self, folder: Path) -> None:
        self.ran, self.root = folder / "ran", repository(folder / "tree")
        self.program = folder / "evil"
        self.program.write_text(f'#!/bin/sh\necho "$0 $*" >> {self.ran}\n')
        self.program.chmod(0o755)
        (self.root / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
        (self.root / "late.c").write_text("int late;\n")
        (self.root / "part").mkdir()
        (self.root / "part/.gitignore").write_text("*.x\n")
        git(self.root, "add", "-A")
        git(self.root, "commit", "-qm", "attributes")
        git(self.root, "update-index", "--skip-worktree", "part/.gitignore")
        self.ignored = text_of(self.root, "rev-parse", "HEAD:part/.gitignore")
        self.commit = head(self.root)
        self._arm(folder)

    def _arm(self, folder: Path) -> None:
        (folder / "hooks").mkdir()
        for hook in HOOKS:
            for place in (folder / "hooks", self.root / ".git/hooks"):
                (place / hook).write_text(self.program.read_text())
                (place / hook).chmod(0o755)
        (self.root / ".git/info").mkdir(exist_ok=True)
        (self.root / ".git/info/attributes").write_text("* filter=evil diff=evil\n")
        for name in PROGRAMS:
            git(self.root, "config", name, str(self.program))
        for name in ALIASES:
            git(self.root, "config", f"alias.{name}", f"!{self.program}")
        more = {
            "core.hooksPath": str(folder / "hooks"),
            "filter.evil.required": "true",
            "submodule.x.update": "!evil",
            "remote.promisor.url": str(self.root),
            "remote.promisor.promisor": "true",
            "extensions.partialClone": "promisor",
            "core.repositoryFormatVersion": "1",
            "include.path": str(folder / "included"),
            "protocol.ext.allow": "always",
        }
        for name, value in more.items():
            git(self.root, "config", name, value)
        (folder / "included").write_text(f"[core]\n\tfsmonitor = {self.program}\n")


@pytest.fixture
def hostile(tmp_path, monkeypatch) -> Hostile:
    monkeypatch.setattr(working_tree, "cache_directory", lambda: tmp_path / "cache")
    made = Hostile(tmp_path)
    for name in VARIABLES:
        monkeypatch.setenv(name, str(made.program))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(made.program))
    # as a shell inside a hook of git has them
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere.git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "elsewhere.index"))
    return made


def without_git_variables() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}


def test_plain_git_would_run_the_programs(hostile):
    (hostile.root / "late.c").write_text("int later;\n")
    subprocess.run(["git", "status"], cwd=hostile.root, env=without_git_variables(), capture_output=True, check=False)
    assert str(hostile.program) in hostile.ran.read_text()


def test_reading_a_working_tree_runs_nothing(hostile, tmp_path):
    (hostile.root / "late.c").write_text("int later;\n")
    assert working_tree.copy(hostile.root, tmp_path / "copy") == working_tree.content_sha256(hostile.root)
    assert (tmp_path / "copy/late.c").read_text() == "int later;\n"
    assert not hostile.ran.exists()


def test_lost_object_of_a_partial_clone_is_asked_for_nowhere(hostile):
    """Git reads a .gitignore that is not checked out from its objects, and asks a promisor for a missing one."""
    (hostile.root / "part/.gitignore").unlink()
    (hostile.root / ".git/objects" / hostile.ignored[:2] / hostile.ignored[2:]).unlink()
    argv = ["git", "cat-file", "-p", hostile.ignored]
    subprocess.run(argv, cwd=hostile.root, env=without_git_variables(), capture_output=True, check=False)
    assert f"{hostile.program} {hostile.root}" in hostile.ran.read_text()
    hostile.ran.unlink()
    assert "late.c" in git_command.files_of(f"{hostile.root}/")
    assert not hostile.ran.exists()


def test_fetching_and_unpacking_a_commit_runs_nothing(hostile, tmp_path):
    unpack(Address(str(hostile.root)), hostile.commit, tmp_path / "downloads", tmp_path / "out")
    assert (tmp_path / "out/late.c").read_text() == "int late;\n"
    assert not hostile.ran.exists()


def test_asking_a_repository_of_this_machine_runs_nothing(hostile, tmp_path):
    assert hostile.commit in git_command.online(tmp_path, "ls-remote", Address(str(hostile.root)), "HEAD")
    assert not hostile.ran.exists()


def test_filter_that_the_user_installed_is_not_run_on_a_commit(hostile, tmp_path, monkeypatch):
    """Git LFS puts its filter into the user's own configuration."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".gitconfig").write_text(
        f'[filter "evil"]\n\tsmudge = {hostile.program}\n\trequired = true\n'
        f"[core]\n\tattributesFile = {tmp_path}/attributes\n\thooksPath = {tmp_path}/hooks\n"
        f"[init]\n\ttemplateDir = {tmp_path}/template\n"
    )
    (tmp_path / "template" / "hooks").mkdir(parents=True)
    (tmp_path / "template/hooks/reference-transaction").symlink_to(hostile.program)
    (tmp_path / "attributes").write_text("* filter=evil\n")
    unpack(Address(str(hostile.root)), hostile.commit, tmp_path / "downloads", tmp_path / "out")
    assert (tmp_path / "out/late.c").read_text() == "int late;\n"
    assert not hostile.ran.exists()


def test_damaged_repository_is_not_read_as_part_of_the_one_above(tmp_path):
    outer = repository(tmp_path / "outer")
    inner = outer / "inner"
    (inner / ".git").mkdir(parents=True)
    (inner / "a.c").touch()
    with pytest.raises(ValueError, match="git cannot list its files: fatal: not a git repository"):
        git_command.files_of(f"{inner}/")


def test_git_that_waits_for_a_pipe_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(git_command, "ANSWER_S", 1)
    root = repository(tmp_path / "tree")
    os.mkfifo(tmp_path / "pipe")
    git(root, "config", "core.excludesFile", str(tmp_path / "pipe"))
    with pytest.raises(ValueError, match=r"tree/: git did not list its files within 1 s"):
        git_command.files_of(f"{root}/")


def test_no_other_module_starts_git():
    starts = re.compile(
        r"""[\[(]\s*["']git["'],|["'(`]git (-|fetch|ls-|clone|status|diff|add|log|rev-|config|init|archive)[^`]*["')]"""
    )
    code = [*ROOT.glob("scripts/**/*.py"), *ROOT.glob("scripts/**/*.sh"), *ROOT.glob("rules/*.smk"), ROOT / "Snakefile"]
    # A release is committed in this checkout, by its maintainer and with their settings.
    assert {str(file.relative_to(ROOT)) for file in code if starts.search(file.read_text(encoding="utf-8"))} == {
        "scripts/build/sources/git_command.py",
        "scripts/commands/new_release.py",
    }


def test_every_command_line_holds_every_setting():
    for online in (True, False):
        argv = git_command.command("fetch", online=online)
        assert {f"{name}={value}" for name, value in git_command.SETTINGS.items()} <= set(argv)
        assert argv[:2] == ["git", "--no-pager"]
    with pytest.raises(process.CommandFailed, match="transport 'file' not allowed"):
        git_command.in_ours(Path.cwd(), "ls-remote", str(Path.cwd()))
