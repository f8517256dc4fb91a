"""Make the source tree of a server from the first of its sources that is available.

A source is one of {"debian": package}, {"url": [mirrors], "sha256": hex}, {"file": path, "sha256": hex},
{"maven": coordinates, "sha256": hex}, {"git": repository, "commit": hex}, {"directory": path}, {"installed": path};
{version} is filled in in URLs, paths of files and coordinates.
"""

import logging
import shutil
import subprocess
from dataclasses import replace
from http.client import HTTPException
from pathlib import Path

from scripts.build.sources import SourceError, addresses, debian, installed
from scripts.build.sources.declared import DeclaredSource, SourceFile, SourceIdentity, WantedSource
from scripts.build.sources.installed import Product
from scripts.build.sources.kinds import PREFIX, SOLE_KINDS, Fetched, kind_of, prebuilt, read_source, source_candidates
from scripts.build.sources.tree import release_of, require_buildable, tree_sha256
from scripts.lib.host.process import CommandFailed
from scripts.lib.json_record import dump, file_sha256, read_part, write

log = logging.getLogger(__name__)

FAILURES = (SourceError, CommandFailed, subprocess.SubprocessError, OSError, ValueError, HTTPException)


def satisfies(identity: SourceIdentity, request: WantedSource, product: Product) -> bool:
    """Return whether the recipe could have made a tree with this identity."""
    recipe = request.recipe
    if (identity.server, identity.product, identity.version) != (recipe.server, recipe.product, recipe.version):
        return False
    candidates = (read_source(source, product) for source in source_candidates(request.sources))
    return any(source.matches(identity, recipe) for source in candidates if source.key == identity.kind)


def is_complete(request: WantedSource, tree: Path, identity: Path, product: Product) -> bool:
    """Return whether the tree on disk is complete and one that the recipe makes."""
    if not (identity.is_file() and tree.is_dir()):
        return False
    recorded = read_part(SourceIdentity, identity)
    return satisfies(recorded, request, product) and recorded.tree_sha256 == tree_sha256(tree)


def make(request: WantedSource, tree: Path, identity: Path, product: Product) -> SourceIdentity:
    """Make `tree` and, last, its record `identity`; return the record. A complete tree that is there is kept.

    Downloads stay in the folder `downloads` beside the tree; a server or its sources are recognised as one of
    `product`. Raises SourceError with every source's failure.
    """
    recipe = request.recipe
    if is_complete(request, tree, identity, product):
        log.info("%s: %s is there and whole, kept", recipe.server, tree)
        return read_part(SourceIdentity, identity)
    failures = []
    for source in source_candidates(request.sources):
        try:
            return make_from(source, request, tree, identity, product)
        except FAILURES as error:
            reason = addresses.redacted(str(error), [source])
            failures.append(f"{addresses.without_logins(source)}:\n{reason}")
            log.warning("%s: %s", recipe.server, reason)
    listed = "\n".join("  " + line for failure in failures for line in failure.splitlines())
    raise SourceError(
        f"no source of {recipe.server} ({recipe.product} {recipe.version}) could be used:\n{listed}"
        f"{_by_hand(request.sources, tree.parent.resolve() / 'downloads')}"
    )


def _by_hand(sources: list[DeclaredSource], downloads: Path) -> str:
    """Return how to continue without a network, empty if that is impossible."""
    if kind_of(sources[0]) in SOLE_KINDS:
        return ""
    archive = "the server's archive" if prebuilt(sources) else "an archive of the sources"
    return (
        f"\nto go on by hand: put {archive} under {downloads} and name it in the server's `sources` as "
        f"{{file: {downloads}/NAME}}"
    )


def make_from(
    source: DeclaredSource, request: WantedSource, tree: Path, identity: Path, product: Product
) -> SourceIdentity:
    """Make a tree and its record from one source; return the record. Raises one of FAILURES."""
    # The recipe's checksum is that of the first source: stated, or read from the archive when the workflow started.
    recipe = request.recipe if source == request.sources[0] else replace(request.recipe, sha256=None)
    fetched = read_source(source, product).fetch(recipe, tree.parent / "downloads")
    fresh = tree.with_name(f".{tree.name}.unpacking")
    shutil.rmtree(fresh.parent / f"{fresh.name}.top", ignore_errors=True)
    shutil.rmtree(fresh, ignore_errors=True)
    log.info("%s: unpacking %s", recipe.server, fetched.origin)
    try:
        fetched.unpack(fresh)
        record = replace(
            fetched.marks,
            server=recipe.server,
            product=recipe.product,
            version=recipe.version,
            release=usable_release(fresh, fetched, request, product),
            kind=fetched.kind,
            origin=fetched.origin,
            files=[SourceFile(file.name, file_sha256(file)) for file in fetched.files],
            tree_sha256=tree_sha256(fresh),
        )
        identity.unlink(missing_ok=True)
        shutil.rmtree(tree, ignore_errors=True)
        fresh.rename(tree)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    write(identity, dump(record))
    log.info("%s: release %s from %s", recipe.server, record.release, fetched.origin)
    return record


def usable_release(tree: Path, fetched: Fetched, request: WantedSource, product: Product) -> str:
    """Return the release of an unpacked tree; raise SourceError if it is of another version than request."""
    version, comes_compiled = request.recipe.version, prebuilt(request.sources)
    if comes_compiled:
        here = fetched.kind == "installed"
        program = installed.find_program(tree / PREFIX if here else tree, fetched.kind, product)
        if not here:
            # Archives of Java, for one, have no modes.
            program.chmod(0o755)
        release = installed.program_release(program, product)
    else:
        require_buildable(tree)
        release = release_of(tree, product) or fetched.release
    if not debian.in_series(release, version):
        what = "this is" if comes_compiled else "these are the sources of"
        raise SourceError(f"{fetched.origin}: {what} release {release}, wanted {version}")
    return release
