"""Fetch one commit of a git repository, with its submodules, and unpack it as a plain tree."""

import logging
import posixpath
import re
import shutil
from pathlib import Path

from scripts.host import process
from scripts.host.made_environment import download_variables
from scripts.sources import SourceError, archive

log = logging.getLogger(__name__)

# A submodule's URL comes with the commit, so transports that run commands (ext::) are not allowed; nor are questions.
ENVIRONMENT = {"GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh", "GIT_TERMINAL_PROMPT": "0"}
# With these `git archive` writes all files of a checkout, unchanged, whatever the commit's own attributes say.
ATTRIBUTES = "* -export-ignore -export-subst\n"
DEPTH_MAX = 5


def location(text: str) -> str:
    """Return a repository's path as an absolute one, a URL unchanged."""
    is_url = "://" in text or re.match(r"[^/~.][^/]*:", text)
    return text if is_url else str(Path(text).expanduser().resolve())


def fetch(repository: str, commit: str, downloads: Path) -> Path:
    """Return a bare repository under `downloads` that has the commit.

    If the server gives no single commits, everything is fetched. Raises SourceError, or CommandFailed with git's words.
    """
    if not re.fullmatch("[0-9a-f]{40}", commit):
        raise SourceError(f"commit: {commit!r}: expected 40 hexadecimal digits (git: {repository})")
    bare = downloads / f"{re.sub(r'[^A-Za-z0-9._-]+', '-', repository).strip('-.')[-80:]}.git"
    if not (bare / "HEAD").is_file():
        shutil.rmtree(bare, ignore_errors=True)
        bare.mkdir(parents=True)
        _git(bare, "init", "-q", "--bare", ".")
    if has(bare, commit):
        log.info("%s: commit %s is already here", repository, commit)
        return bare
    log.info("fetching commit %s of %s", commit, repository)
    try:
        _fetch(bare, repository, "--depth=1", commit)
    except process.CommandFailed as error:
        log.info("%s gives no single commit (%s); fetching all", repository, str(error).splitlines()[-1])
        _fetch(bare, repository, "--tags", "+refs/*:refs/fetched/*")
    if not has(bare, commit):
        raise SourceError(f"git: {repository}: has no commit {commit}")
    return bare


def _fetch(bare: Path, repository: str, option: str, refs: str) -> None:
    _git(bare, "fetch", "-q", "--no-write-fetch-head", option, "--", repository, refs)


def _git(bare: Path, *arguments: str) -> str:
    """Return the standard output of a git command in a bare repository. Raises CommandFailed."""
    return process.run(["git", *arguments], cwd=bare, environment=environment()).output


def environment() -> dict[str, str]:
    """Return what git gets besides the made environment: how to reach and to log in to a repository, and the limits."""
    return {**download_variables(), **ENVIRONMENT}


def has(bare: Path, commit: str) -> bool:
    """Return whether a bare repository has a commit with all its files."""
    try:
        _git(bare, "rev-list", "--objects", "--no-walk", "--quiet", commit)
    except process.CommandFailed:
        return False
    return True


def unpack(repository: str, commit: str, downloads: Path, target: Path, depth: int = 0) -> None:
    """Write the files of a fetched commit into the new directory `target`, those of its submodules in their places.

    Submodules are fetched. Raises SourceError or CommandFailed naming the repository and the commit.
    """
    if depth > DEPTH_MAX:
        raise SourceError(f"git: {repository}: submodules inside each other more than {DEPTH_MAX} deep")
    bare = fetch(repository, commit, downloads)
    (bare / "info").mkdir(exist_ok=True)
    (bare / "info" / "attributes").write_text(ATTRIBUTES, encoding="utf-8")
    packed = (downloads / f"{bare.stem}-{commit[:12]}.tar").absolute()
    try:
        _git(bare, "archive", "--format=tar", "--prefix=tree/", f"--output={packed}", commit)
        archive.unpack(packed, target)
    finally:
        packed.unlink(missing_ok=True)
    urls = submodule_urls(bare, commit)
    for path, inner in submodules(bare, commit).items():
        if path not in urls:
            raise SourceError(
                f"git: {repository}: commit {commit} has submodule {path} and no URL for it in .gitmodules"
            )
        (target / path).rmdir()
        unpack(joined(repository, urls[path]), inner, downloads, target / path, depth + 1)


def submodules(bare: Path, commit: str) -> dict[str, str]:
    """Return path -> commit of the submodules of a commit."""
    listed = _git(bare, "ls-tree", "-r", "-z", "--full-tree", commit)
    found = (entry.partition("\t") for entry in listed.split("\0") if entry.startswith("160000 "))
    return {path: meta.split()[2] for meta, _, path in found}


def submodule_urls(bare: Path, commit: str) -> dict[str, str]:
    """Return path -> URL of the submodules in a commit's .gitmodules."""
    if not _git(bare, "ls-tree", "--name-only", commit, "--", ".gitmodules").strip():
        return {}
    wanted = ("--get-regexp", r"^submodule\..*\.(path|url)$")
    listed = _git(bare, "config", "-z", "--blob", f"{commit}:.gitmodules", *wanted)
    pairs = (entry.partition("\n") for entry in listed.split("\0") if entry)
    stated = {key: value for key, _, value in pairs}
    paths = {key.removesuffix(".path"): value for key, value in stated.items() if key.endswith(".path")}
    return {path: stated[f"{name}.url"] for name, path in paths.items() if f"{name}.url" in stated}


def joined(repository: str, url: str) -> str:
    """Return a submodule's URL; `../name.git` is relative to the repository that has the submodule (gitmodules(5))."""
    if not url.startswith(("./", "../")):
        return location(url)
    head, below = re.fullmatch(r"(\w+://[^/]*/|[^/:]+:)?(.*)", repository).groups()
    return (head or "") + posixpath.normpath(posixpath.join(below, url))
