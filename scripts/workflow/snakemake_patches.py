"""Signals to Snakemake alone: an interrupt reaches its jobs, as Ctrl-C in a terminal does, and SIGTERM is heard."""

import contextlib
import os
import signal
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

import psutil


def patch_ancient_inputs(dag: type) -> None:
    """Change Snakemake's class `dag`: its update_needrun judges each job that only `ancient` inputs lead to."""
    update = dag.update_needrun

    async def update_needrun(self: Any, *arguments: Any, **options: Any) -> None:
        # It walks downstream to mark jobs as judged, and for nothing else.
        self.bfs = downstream
        try:
            await update(self, *arguments, **options)
        finally:
            vars(self).pop("bfs", None)

    dag.update_needrun = update_needrun


def downstream(depending: Mapping[Any, Mapping[Any, set]], *jobs: Any) -> Iterator[Any]:
    """Yield the jobs and all that depend on them by a file that is not `ancient`.

    `depending` holds job -> job that depends on it -> the files by which it does.
    """
    queue, seen = deque(jobs), set(jobs)
    while queue:
        job = queue.popleft()
        yield job
        found = [other for other, files in depending[job].items() if not all(file.is_ancient for file in files)]
        queue.extend(other for other in found if other not in seen)
        seen.update(found)


def forward_interrupts(scheduler: Any) -> None:
    """From now on interrupt the jobs of Snakemake's `scheduler` with us, and let it end them one by one at SIGTERM.

    Nothing is changed where these signals are ignored or handled otherwise.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    if signal.getsignal(signal.SIGTERM) == scheduler.exit_gracefully:
        # Snakemake 9.27 takes a lock in its handler that the thread the handler interrupts may hold: it then hangs.
        signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=scheduler.exit_gracefully).start())


def _interrupt(_number: int, _frame: object) -> None:
    """Interrupt the jobs too: Snakemake waits for them, as long as a compile takes, and then drops what they made."""
    for process in psutil.Process().children(recursive=True):
        # Servers and their load are in sessions of their own; who started them stops them.
        with contextlib.suppress(psutil.Error, ProcessLookupError):
            if os.getpgid(process.pid) == os.getpgrp():
                process.send_signal(signal.SIGINT)
    raise KeyboardInterrupt
