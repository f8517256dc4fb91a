"""Confine a command to so much memory by a cgroup of its own."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from scripts.host import MEMORY_LIMITS

# Of cgroup version 2 and 1.
BASES = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/memory"))


def limit_file() -> Path | None:
    """Return where the limit of a cgroup of ours would be written, None where this user may make none."""
    for base, limit in zip(BASES, MEMORY_LIMITS, strict=True):
        control = base / "cgroup.subtree_control"
        if (base / "cgroup.procs").exists() and (not control.exists() or "memory" in control.read_text().split()):
            return base / f"confined-{os.getpid()}" / limit if os.access(base, os.W_OK) else None
    return None


@contextlib.contextmanager
def to_memory(limit_mib: int) -> Iterator[list[str]]:
    """Lend the words to put before a command that shall have no more than so much memory with all its children."""
    limit = limit_file()
    folder = limit.parent
    folder.mkdir()
    try:
        limit.write_text(str(limit_mib * 2**20))
        yield ["sh", "-c", f'echo $$ > {folder}/cgroup.procs && exec "$@"', "sh"]
    finally:
        folder.rmdir()
