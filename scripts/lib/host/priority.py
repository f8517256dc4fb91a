"""Let the servers and clients of a measurement go before the other programs of the machine.

A program as important as they are takes CPU time from the server and from sysbench, in unequal parts, and so moves
ratios: where sysbench is short of CPU time, a faster server waits longer.
"""

import contextlib
import os
from pathlib import Path

from scripts.lib.host import pausing

# Beside a thread of this value, a busy one of ordinary priority has a tenth of a CPU (sched_prio_to_weight in Linux).
NICE = -10
ORDINARY = 0


def go_first() -> int:
    """Lower the nice value of this process, which those it starts inherit; return the value it then has.

    Called before this process has other threads: in Linux each thread has its own value. The value stays where this
    process may not lower it, and where someone has chosen another than the ordinary one.
    """
    if nice() == ORDINARY:
        with contextlib.suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, 0, NICE)
    return nice()


def nice() -> int:
    """Return the nice value of this thread."""
    return os.getpriority(os.PRIO_PROCESS, 0)


def carry_over(*pids: int) -> None:
    """Give the sessions of processes and of all below them this process's nice value, where it goes first.

    Linux may share out CPU time between sessions before it looks at processes (sched(7), "The autogroup feature"). The
    session of this process itself is left alone: other programs may belong to it.
    """
    if nice() >= ORDINARY:
        return
    for process in (process for pid in pids for process in pausing.descendants(pid)):
        # The file is missing where the kernel has no such groups.
        with contextlib.suppress(OSError):
            if os.getsid(process) != os.getsid(0):
                Path(f"/proc/{process}/autogroup").write_text(str(nice()))
