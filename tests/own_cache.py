"""Keep tests out of the cache of whoever runs them: the ledgers of living jobs are there, and how to end these jobs."""

import contextlib
import os
import sys
from collections.abc import Iterator

from scripts.lib.host.cache import cache_path

CACHE_OF_USER = cache_path()
BELOW = os.fsencode(CACHE_OF_USER)
CALLS = ("mkdir", "rmdir", "remove", "rename", "listdir", "scandir", "chmod", "chown", "link", "symlink", "utime")
TOUCHING = frozenset(["open", *(f"os.{call}" for call in CALLS)])
_guarded: list[str] = []


@contextlib.contextmanager
def refused(test: str) -> Iterator[None]:
    """Raise RuntimeError naming the test where the body touches that cache."""
    _guarded[:] = [test]
    yield
    _guarded.clear()


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event in TOUCHING and _guarded:
        paths = [os.fsencode(part) for part in arguments[:2] if isinstance(part, (str, bytes, os.PathLike))]
        if any(path == BELOW or path.startswith(BELOW + b"/") for path in paths):
            raise RuntimeError(
                f"{_guarded[0]}: {event} of {paths} touches the user's own cache, expected the test's own"
            )


sys.addaudithook(_refuse)
