"""Fetch one commit of a git repository, with its submodules, and unpack it as a plain tree."""

import logging
import os
import posixpath
import re
import shutil
import stat
from pathlib import Path

from scripts.build.sources import SourceError, archive
from scripts.build.sources.build_output import first_filtered
from scripts.build.sources.git_command import in_ours, is_local, online
from scripts.build.sources.tree import entries
from scripts.lib.host import process
from scripts.lib.host.address import Address

log = logging.getLogger(__name__)

# With these `git archive` writes all files, as the commit holds them, whatever its own attributes say.
ATTRIBUTES = "* -export-ignore -export-subst -filter\n"
DEPTH_MAX = 5
INSTEAD = "name a checkout that has the content as {directory: PATH}"


def location(text: str) -> Address:
    """Return a repository's path as an absolute one, a URL unchanged."""
    is_path = is_local(text) and "://" not in text
    return Address(str(Path(text).expanduser().resolve()) if is_path else text)


def fetch(repository: Address, commit: str, downloads: Path) -> Path:
    """Return a bare repository under `downloads` that has the commit.

    If the server gives no single commits, everything is fetched. Raises SourceError, or CommandFailed with git's words.
    """
    if not re.fullmatch("[0-9a-f]{40}", commit):
        raise SourceError(f"commit: {commit!r}: expected 40 hexadecimal digits (git: {repository})")
    bare = downloads / f"{re.sub(r'[^A-Za-z0-9._-]+', '-', str(repository)).strip('-.')[-80:]}.git"
    if not (bare / "HEAD").is_file():
        shutil.rmtree(bare, ignore_errors=True)
        bare.mkdir(parents=True)
        in_ours(bare, "init", "-q", "--template=", "--bare", ".")
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


def _fetch(bare: Path, repository: Address, option: str, refs: str) -> None:
    online(bare, "fetch", repository, refs, options=("--no-write-fetch-head", option))


def has(bare: Path, commit: str) -> bool:
    """Return whether a bare repository has a commit with all its files."""
    try:
        in_ours(bare, "rev-list", "--objects", "--no-walk", "--quiet", commit)
    except process.CommandFailed:
        return False
    return True


def unpack(repository: Address, commit: str, downloads: Path, target: Path, depth: int = 0) -> None:
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
        in_ours(bare, "archive", "--format=tar", "--prefix=tree/", f"--output={packed}", commit)
        archive.unpack(packed, target)
    finally:
        packed.unlink(missing_ok=True)
    names = [os.fsdecode(name) for name, mode in entries(os.fsencode(target)) if stat.S_ISREG(mode)]
    if problem := first_filtered(str(target), names):
        raise SourceError(f"git: {repository}: commit {commit}: {problem}; {INSTEAD}")
    urls = submodule_urls(bare, commit)
    for path, inner in submodules(bare, commit).items():
        if path not in urls:
            raise SourceError(
                f"git: {repository}: commit {commit} has submodule {path} and no URL for it in .gitmodules"
            )
        (target / path).rmdir()
        unpack(_submodule(repository, path, urls[path]), inner, downloads, target / path, depth + 1)


def _submodule(repository: Address, path: str, url: str) -> Address:
    """Return a submodule's repository. Raises SourceError for one of this machine in a repository from elsewhere."""
    inner = joined(repository, url)
    if is_local(inner.real) and not is_local(repository.real):
        raise SourceError(
            f"git: {repository}: submodule {path}: {inner} is a path of this machine, expected an address"
        )
    return inner


def submodules(bare: Path, commit: str) -> dict[str, str]:
    """Return path -> commit of the submodules of a commit."""
    listed = in_ours(bare, "ls-tree", "-r", "-z", "--full-tree", commit)
    entries_of_submodules = (entry.partition("\t") for entry in listed.split("\0") if entry.startswith("160000 "))
    return {path: meta.split()[2] for meta, _, path in entries_of_submodules}


def submodule_urls(bare: Path, commit: str) -> dict[str, str]:
    """Return path -> URL of the submodules in a commit's .gitmodules."""
    if not in_ours(bare, "ls-tree", "--name-only", commit, "--", ".gitmodules").strip():
        return {}
    query = ("--get-regexp", r"^submodule\..*\.(path|url)$")
    listed = in_ours(bare, "config", "-z", "--blob", f"{commit}:.gitmodules", *query)
    pairs = (entry.partition("\n") for entry in listed.split("\0") if entry)
    stated = {key: value for key, _, value in pairs}
    paths = {key.removesuffix(".path"): value for key, value in stated.items() if key.endswith(".path")}
    return {path: stated[f"{name}.url"] for name, path in paths.items() if f"{name}.url" in stated}


def joined(repository: Address, url: str) -> Address:
    """Return a submodule's URL; `../name.git` is relative to the repository that has the submodule (gitmodules(5))."""
    if not url.startswith(("./", "../")):
        return location(url)
    head = "".join(re.findall(r"^(?:\w+://[^/]*/|[^/:]+:)", repository.real))
    return Address(head + posixpath.normpath(posixpath.join(repository.real[len(head) :], url)))
