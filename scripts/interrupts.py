"""Signals to Snakemake alone: an interrupt reaches its jobs, as Ctrl-C in a terminal does, and SIGTERM is heard."""

import contextlib
import os
import signal
import threading
from typing import Any

import psutil


def listen(scheduler: Any) -> None:
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
