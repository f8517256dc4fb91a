"""Confine a process to so much memory by a cgroup of its own."""

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

from scripts.lib.host.machine_facts import MEMORY_LIMITS
from tests.faults.interrupting import wait_until

# Of cgroup version 2 and 1.
BASES = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/memory"))


def limit_file() -> Path | None:
    """Return where the limit of a cgroup of ours would be written, None where this user may make none."""
    for base, limit in zip(BASES, MEMORY_LIMITS, strict=True):
        control = base / "cgroup.subtree_control"
        if (base / "cgroup.procs").exists() and (not control.exists() or "memory" in control.read_text().split()):
            return base / f"confined-{secrets.token_hex(3)}" / limit if os.access(base, os.W_OK) else None
    return None


@contextlib.contextmanager
def to_memory(limit_mib: int) -> Iterator[Callable[[int], None]]:
    """Lend a function that lets a process, by its id, take no more than so much memory from then on."""
    limit = limit_file()
    members = limit.with_name("cgroup.procs")
    members.parent.mkdir()
    try:
        limit.write_text(str(limit_mib * 2**20))
        yield lambda pid: members.write_text(str(pid))
    finally:
        wait_until(lambda: not members.read_text(), seconds=10, rest_s=0.1)
        members.parent.rmdir()
