"""Signals to Snakemake: its jobs are interrupted with it, as by Ctrl-C in a terminal, and SIGTERM never hangs."""

import contextlib
import os
import signal
import threading
from typing import Any

import psutil

from scripts.workflow.release import expect, other_snakemake


def forward_interrupts(scheduler: Any) -> None:
    """From now on interrupt the jobs of Snakemake's `scheduler` with it, and let it end them one by one at SIGTERM.

    Signals that are ignored stay ignored. Raises OtherSnakemake if the scheduler does not handle SIGTERM itself.
    """
    expect(scheduler, "exit_gracefully")
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    if (handler := signal.getsignal(signal.SIGTERM)) == scheduler.exit_gracefully:
        # Snakemake 9.27 takes a lock in its handler that the thread the handler interrupts may hold: it then hangs.
        signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=scheduler.exit_gracefully).start())
    elif handler is not signal.SIG_IGN:
        raise other_snakemake(f"SIGTERM is handled by {handler}, not by JobScheduler.exit_gracefully")


def _interrupt(_number: int, _frame: object) -> None:
    """Interrupt the jobs too: Snakemake waits for them, as long as a compile takes, and then drops their outputs."""
    for process in psutil.Process().children(recursive=True):
        # Servers and their load are in sessions of their own; the job that started them stops them.
        with contextlib.suppress(psutil.Error, ProcessLookupError):
            if os.getpgid(process.pid) == os.getpgrp():
                process.send_signal(signal.SIGINT)
    raise KeyboardInterrupt
