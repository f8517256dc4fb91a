"""The release and the commit of the workflow that is running."""

from functools import cache
from pathlib import Path

from scripts import ROOT, __version__


@cache
def workflow() -> dict[str, str | None]:
    """Return the `version` and the `commit` of the running workflow; the commit is None outside a git checkout."""
    return {"version": __version__, "commit": commit_of(ROOT)}


def commit_of(checkout: Path) -> str | None:
    """Return the commit that a git checkout has checked out, None where there is none.

    The files of git are read, since git itself may be missing, and refuses a checkout of another user.
    """
    folder = checkout / ".git"
    try:
        if folder.is_file():  # of a worktree: the path of its folder
            folder = checkout / folder.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        head = (folder / "HEAD").read_text(encoding="utf-8").strip()
        if not head.startswith("ref:"):
            return head
        common = folder / "commondir"
        shared = folder / common.read_text(encoding="utf-8").strip() if common.is_file() else folder
        return _commit_of_branch(shared, head.removeprefix("ref:").strip())
    except (OSError, UnicodeDecodeError):
        return None


def _commit_of_branch(folder: Path, name: str) -> str | None:
    if (branch := folder / name).is_file():
        return branch.read_text(encoding="utf-8").strip()
    packed = (line.split() for line in (folder / "packed-refs").read_text(encoding="utf-8").splitlines())
    return next((words[0] for words in packed if words[1:] == [name]), None)


def text(made_by: dict[str, str | None]) -> str:
    """Return version and commit as text, such as `0.9.0 (commit 0123456789ab)`; `unknown` without a version."""
    if not made_by.get("version"):
        return "unknown"
    commit = made_by.get("commit")
    return f"{made_by['version']} (commit {commit[:12]})" if commit else str(made_by["version"])
