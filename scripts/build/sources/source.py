"""Make the source tree of a server from the first of its sources that is available.

Needs a recipe: {"server": …, "product": …, "version": release or series, "sources": […]} and the keys that
kinds.declared_source returns. A source is one of
{"debian": package}, {"url": [mirrors], "sha256": hex}, {"file": path, "sha256": hex},
{"maven": coordinates, "sha256": hex}, {"git": repository, "commit": hex}, {"directory": path}, {"installed": path};
{version} is filled in in URLs, paths of files and coordinates.
"""

import logging
import shutil
import subprocess
from http.client import HTTPException
from pathlib import Path
from typing import Any

from scripts.build.sources import SourceError, addresses, debian, installed
from scripts.build.sources.installed import Product
from scripts.build.sources.kinds import (
    PREFIX,
    SOLE_KINDS,
    Fetched,
    Recipe,
    Source,
    kind_of,
    prebuilt,
    read_source,
    source_candidates,
)
from scripts.build.sources.tree import release_of, require_buildable, tree_sha256
from scripts.lib.host.process import CommandFailed
from scripts.lib.json_record import file_sha256, read, write

log = logging.getLogger(__name__)

FAILURES = (SourceError, CommandFailed, subprocess.SubprocessError, OSError, ValueError, HTTPException)


def satisfies(identity: dict[str, Any], recipe: Recipe, product: Product) -> bool:
    """Return whether the recipe could have made a tree with this identity."""
    if any(identity.get(key) != recipe[key] for key in ("server", "product", "version")):
        return False
    candidates = (read_source(source, product) for source in source_candidates(recipe["sources"]))
    return any(one.matches(identity, recipe) for one in candidates if one.key == identity.get("kind"))


def kept(recipe: Recipe, tree: Path, identity: Path, product: Product) -> bool:
    """Return whether the tree on disk is complete and one that the recipe makes."""
    if not (identity.is_file() and tree.is_dir()):
        return False
    known = read(identity)
    return satisfies(known, recipe, product) and known["tree_sha256"] == tree_sha256(tree)


def make(recipe: Recipe, tree: Path, identity: Path, product: Product) -> dict[str, Any]:
    """Make `tree` and, last, its record `identity`; return the record. A complete tree that is there is kept.

    Downloads stay in the folder `downloads` beside the tree; a server or its sources are recognised as one of
    `product`. Raises SourceError with every source's failure.
    """
    if kept(recipe, tree, identity, product):
        log.info("%s: %s is there and whole, kept", recipe["server"], tree)
        return read(identity)
    downloads = tree.parent / "downloads"
    failures = []
    for source in source_candidates(recipe["sources"]):
        try:
            return make_from(source, recipe, tree, identity, product)
        except FAILURES as error:
            told = addresses.redacted(str(error), [source])
            failures.append(f"{addresses.without_logins(source)}:\n{told}")
            log.warning("%s: %s", recipe["server"], told)
    listed = "\n".join("  " + line for failure in failures for line in failure.splitlines())
    raise SourceError(
        f"no source of {recipe['server']} ({recipe['product']} {recipe['version']}) could be used:\n{listed}"
        f"{_by_hand(recipe, downloads.resolve())}"
    )


def _by_hand(recipe: Recipe, downloads: Path) -> str:
    """Return how to continue without a network, empty if that is impossible."""
    if kind_of(recipe["sources"][0]) in SOLE_KINDS:
        return ""
    held = "the server's archive" if prebuilt(recipe["sources"]) else "an archive of the sources"
    return (
        f"\nto go on by hand: put {held} under {downloads} and name it in the server's `sources` as "
        f"{{file: {downloads}/NAME}}"
    )


def make_from(source: Source, recipe: Recipe, tree: Path, identity: Path, product: Product) -> dict[str, Any]:
    fetched = read_source(source, product).fetch(recipe, tree.parent / "downloads")
    fresh = tree.with_name(f".{tree.name}.unpacking")
    shutil.rmtree(fresh.parent / f"{fresh.name}.top", ignore_errors=True)
    shutil.rmtree(fresh, ignore_errors=True)
    log.info("%s: unpacking %s", recipe["server"], fetched.origin)
    try:
        fetched.unpack(fresh)
        release = usable_release(fresh, fetched, recipe, product)
        facts = facts_of(recipe, fetched, release, tree_sha256(fresh))
        identity.unlink(missing_ok=True)
        shutil.rmtree(tree, ignore_errors=True)
        fresh.rename(tree)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    write(identity, facts)
    log.info("%s: release %s from %s", recipe["server"], release, fetched.origin)
    return read(identity)


def usable_release(tree: Path, fetched: Fetched, recipe: Recipe, product: Product) -> str:
    """Return the release of an unpacked tree; raise SourceError if it is of another version than wanted."""
    if prebuilt(recipe["sources"]):
        here = fetched.kind == "installed"
        program = installed.find_program(tree / PREFIX if here else tree, fetched.kind, product)
        if not here:
            # Archives of Java, for one, have no modes.
            program.chmod(0o755)
        release = installed.program_release(program, product)
    else:
        require_buildable(tree)
        release = release_of(tree, product) or fetched.release
    if not debian.in_series(release, recipe["version"]):
        what = "this is" if prebuilt(recipe["sources"]) else "these are the sources of"
        raise SourceError(f"{fetched.origin}: {what} release {release}, wanted {recipe['version']}")
    return release


def facts_of(recipe: Recipe, fetched: Fetched, release: str, tree_digest: str) -> dict[str, Any]:
    return {
        **{key: recipe[key] for key in ("server", "product", "version")},
        "release": release,
        "kind": fetched.kind,
        "origin": fetched.origin,
        **fetched.known,
        "files": [{"name": file.name, "sha256": file_sha256(file)} for file in fetched.files],
        "tree_sha256": tree_digest,
    }
