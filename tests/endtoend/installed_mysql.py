"""MySQL 8.0 as its vendor built it, fetched through Maven and laid out as a build of ours."""

import shutil
from pathlib import Path

from tests.endtoend.ready_made import Ready

NAME = "mysql-8.0.33-binary"


def missing() -> str:
    """Return why the server cannot be had, an empty text when it can."""
    return "" if shutil.which("mvn") else "command mvn not found"


def lay_out(build: Path) -> Path:
    """Make its install tree and its identity in `build`; returns the identity."""
    ready = Ready(NAME, build.parent)
    said = ready.fetch()
    assert said == ""
    ready.take()
    shutil.rmtree(ready.folder / "source" / "tree")
    return ready.identity
