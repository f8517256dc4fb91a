"""Make the source tree of a server from the first of its sources that can be had.

Needs a recipe: {"server": …, "product": …, "version": release or series, "sources": […]}, a source being one of
{"debian": package}, {"url": [mirrors], "sha256": hex}, {"file": path, "sha256": hex}; {version} in URL and path
is filled in.
"""

import logging
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts import archive, debian, download
from scripts.record import file_sha256, read, write
from scripts.tree import release_of, require_buildable, tree_sha256

log = logging.getLogger(__name__)

Recipe = dict[str, Any]


class SourceError(RuntimeError):
    """No source gave a usable tree; the text tells why for each, and where to put a file by hand."""


@dataclass(frozen=True)
class Fetched:
    """Files of one source on disk, and how to unpack them into a new directory."""

    kind: str
    origin: str
    release: str
    files: tuple[Path, ...]
    unpack: Callable[[Path], None]


def from_debian(recipe: Recipe, source: dict[str, Any], downloads: Path) -> Fetched:
    package = debian.fetch(source["debian"], recipe["version"], downloads)
    origin = f"source package {package.name} {package.version}"
    return Fetched("debian", origin, package.release, package.files, lambda target: debian.unpack(package, target))


def from_url(recipe: Recipe, source: dict[str, Any], downloads: Path) -> Fetched:
    declared = source["url"]
    mirrors = [filled(url, recipe) for url in ([declared] if isinstance(declared, str) else declared)]
    if not source.get("sha256"):
        raise SourceError(f"{mirrors[0]}: sha256 is missing; what comes over the network is used only if it is stated")
    file = download.fetch(mirrors, source["sha256"].lower(), downloads)
    origin = mirrors[0] if len(mirrors) == 1 else f"one of {', '.join(mirrors)}"
    return Fetched("url", origin, recipe["version"], (file,), lambda target: archive.unpack(file, target))


def from_file(recipe: Recipe, source: dict[str, Any], downloads: Path) -> Fetched:
    file = Path(filled(source["file"], recipe)).expanduser()
    if not file.is_file():
        raise SourceError(f"{file}: no such file")
    expected = source.get("sha256")
    if expected and (found := file_sha256(file)) != expected.lower():
        raise SourceError(f"{file}: sha256 is {found}, expected {expected}")
    return Fetched("file", str(file), recipe["version"], (file,), lambda target: archive.unpack(file, target))


def filled(text: str, recipe: Recipe) -> str:
    return text.replace("{version}", recipe["version"])


def kind_of(source: dict[str, Any]) -> str:
    """Return which of debian, url and file an entry of `sources` is."""
    match [kind for kind in ("debian", "url", "file") if kind in source]:
        case [kind]:
            return kind
        case _:
            raise SourceError(f"source {source}: expected exactly one of the keys debian, url, file")


def satisfies(identity: dict[str, Any], recipe: Recipe) -> bool:
    """Tell whether a tree with this identity is one that the recipe could have made."""
    if any(identity.get(key) != recipe[key] for key in ("server", "product", "version")):
        return False
    kind, origin = identity.get("kind"), str(identity.get("origin"))
    sums = {file["sha256"] for file in identity.get("files", [])}
    for source in (source for source in recipe["sources"] if kind_of(source) == kind):
        if kind == "debian":
            if origin.startswith(f"source package {source['debian']} "):
                return True
        elif source.get("sha256", "").lower() in sums:
            return True
    return False


def kept(recipe: Recipe, tree: Path, identity: Path) -> bool:
    """Tell whether the tree on disk is whole and what the recipe asks for."""
    if not (identity.is_file() and tree.is_dir()):
        return False
    known = read(identity)
    return satisfies(known, recipe) and known["tree_sha256"] == tree_sha256(tree)


def make(recipe: Recipe, tree: Path, identity: Path) -> dict[str, Any]:
    """Make `tree` and, last, its record `identity`; return the record. A whole tree already there is kept.

    Downloads stay in `downloads` beside the tree. Raises SourceError with every source's failure.
    """
    if kept(recipe, tree, identity):
        log.info("%s: %s is there and whole, kept", recipe["server"], tree)
        return read(identity)
    downloads = tree.parent / "downloads"
    failures = []
    for source in recipe["sources"]:
        try:
            return make_from(source, recipe, tree, identity)
        except (RuntimeError, OSError, ValueError) as error:
            failures.append(f"{source}:\n{error}")
            log.warning("%s: %s", recipe["server"], error)
    told = "\n".join("  " + line for failure in failures for line in failure.splitlines())
    raise SourceError(
        f"no source of {recipe['server']} ({recipe['product']} {recipe['version']}) could be used:\n{told}\n"
        f"to go on by hand: put an archive of the sources under {downloads.resolve()} and name it in the server's "
        f"`sources` as {{file: {downloads.resolve()}/NAME}}"
    )


def make_from(source: dict[str, Any], recipe: Recipe, tree: Path, identity: Path) -> dict[str, Any]:
    fetch = {"debian": from_debian, "url": from_url, "file": from_file}[kind_of(source)]
    fetched = fetch(recipe, source, tree.parent / "downloads")
    fresh = tree.with_name(f".{tree.name}.unpacking")
    shutil.rmtree(fresh.parent / f"{fresh.name}.top", ignore_errors=True)
    shutil.rmtree(fresh, ignore_errors=True)
    log.info("%s: unpacking %s", recipe["server"], fetched.origin)
    try:
        fetched.unpack(fresh)
        release = usable_release(fresh, fetched, recipe["version"])
        facts = facts_of(recipe, fetched, release, tree_sha256(fresh))
        identity.unlink(missing_ok=True)
        shutil.rmtree(tree, ignore_errors=True)
        fresh.rename(tree)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    write(identity, facts)
    log.info("%s: release %s from %s", recipe["server"], release, fetched.origin)
    return read(identity)


def usable_release(tree: Path, fetched: Fetched, version: str) -> str:
    """Return the release of an unpacked tree; raise SourceError if it is of another version than wanted."""
    require_buildable(tree)
    release = release_of(tree) or fetched.release
    if not debian.in_series(release, version):
        raise SourceError(f"{fetched.origin}: these are the sources of release {release}, wanted {version}")
    return release


def facts_of(recipe: Recipe, fetched: Fetched, release: str, tree_digest: str) -> dict[str, Any]:
    return {
        **{key: recipe[key] for key in ("server", "product", "version")},
        "release": release,
        "kind": fetched.kind,
        "origin": fetched.origin,
        "files": [{"name": file.name, "sha256": file_sha256(file)} for file in fetched.files],
        "tree_sha256": tree_digest,
    }
