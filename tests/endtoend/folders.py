"""Temporary folders for real servers."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def open_folder(prefix: str) -> Iterator[Path]:
    """Lend a temporary folder that the servers' user can enter."""
    with tempfile.TemporaryDirectory(prefix=prefix, dir="/var/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)
