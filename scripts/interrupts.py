"""An interrupt of Snakemake alone reaches its jobs as well, as Ctrl-C in a terminal does."""

import contextlib
import os
import signal

import psutil


def pass_on() -> None:
    """From now on interrupt the jobs with us; nothing is changed where interrupts are ignored or handled already.

    Snakemake by itself would wait for them, for as long as a compile takes, and then remove what they made.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)


def _interrupt(_number: int, _frame: object) -> None:
    for process in psutil.Process().children(recursive=True):
        # Servers and their load are in sessions of their own; who started them stops them.
        with contextlib.suppress(psutil.Error, ProcessLookupError):
            if os.getpgid(process.pid) == os.getpgrp():
                process.send_signal(signal.SIGINT)
    raise KeyboardInterrupt
