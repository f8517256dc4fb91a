"""Leftovers of killed jobs outside results/: build trees, data directories, and copies of removed builds."""

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from scripts.build.compilation.compile import build_tree
from scripts.build.relink import kept_relinks
from scripts.commands.prune.unused_results import UnusedResult, weighed
from scripts.lib import json_record
from scripts.lib.host import leftovers, workplace
from scripts.lib.host.cache import NAME, cache_directory
from scripts.lib.host.locks import exclusive, refuse


def find_in_cache(storages: Iterable[str], removed: Iterable[UnusedResult]) -> list[UnusedResult]:
    """Return folders in the cache and in storages that no living process uses, and copies of `removed` builds.

    Every process that uses such a folder holds a share of the machine's lock, so while the whole lock is held here, no
    process uses one. Raises Busy if the lock is not free.
    """
    cache = cache_directory()
    with exclusive(refuse):
        paths = [*_trees(cache), *_data(cache, storages), *_copies(cache, removed)]
        return [weighed(path) for path in paths]


def _trees(cache: Path) -> list[Path]:
    return sorted(path for path in (cache / "build").glob("*") if path.is_dir() and not path.is_symlink())


def _data(cache: Path, storages: Iterable[str]) -> Iterator[Path]:
    owners = {os.getuid(), workplace.server_identity().get("user", os.getuid())}
    for base in dict.fromkeys([cache / "data", *(Path(storage).expanduser() for storage in storages)]):
        for path in sorted(base.glob(f"{NAME}-*")):
            if path.is_dir() and not path.is_symlink() and path.lstat().st_uid in owners and path != cache:
                yield path


def _copies(cache: Path, removed: Iterable[UnusedResult]) -> Iterator[Path]:
    """Yield the copies, in the cache, of builds that will be removed, and of their relinks."""
    of_build = ("identity.json", f"{kept_relinks.FOLDER}/*/identity.json")
    patterns = [*of_build, *(f"*/{pattern}" for pattern in of_build)]
    for leftover in removed:
        for identity in [file for pattern in patterns for file in leftover.path.glob(pattern)]:
            with contextlib.suppress(ValueError):  # a damaged record names no copy
                copy = cache / "install" / str(json_record.read(identity).get("sha256"))[:16]
                yield from [copy] if copy.is_dir() else []


def remove_leftover(removed: Iterable[UnusedResult]) -> None:
    """Remove what `find_in_cache` returned. Raises Busy if the machine's lock is no longer free."""
    cache = cache_directory()
    with exclusive(refuse):
        leftovers.clear()
        for leftover in removed:
            if leftover.path.parent == cache / "build":
                with build_tree(leftover.path.name, cache):
                    pass
            else:
                workplace.remove(leftover.path)
