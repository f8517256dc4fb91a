"""Signals to Snakemake: its jobs are interrupted with it, as by Ctrl-C in a terminal, and neither INT nor TERM hangs.

Python runs a handler between any two steps of the main thread: a KeyboardInterrupt there may leave a lock held that a
starting thread waits for, and a lock that the handler takes may be held by the main thread. So handlers write to a
pipe, a thread does their work, and Snakemake is interrupted where it waits for jobs.
"""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING

import psutil

from scripts.workflow.snakemake_release import expect, other_snakemake

if TYPE_CHECKING:
    from snakemake.scheduling.job_scheduler import JobScheduler

LOOK_AGAIN_AFTER_S = 0.1


def forward_interrupts(scheduler: "JobScheduler") -> "Received":
    """From now on interrupt the jobs of Snakemake's `scheduler` with it, and let it end them one by one at SIGTERM.

    Returns what is known of the signals. Signals that are ignored stay ignored. Raises OtherSnakemake if the scheduler
    does not handle SIGTERM itself.
    """
    expect(scheduler, "exit_gracefully", "_open_jobs")
    handler = signal.getsignal(signal.SIGTERM)
    if handler not in (signal.SIG_IGN, scheduler.exit_gracefully):
        raise other_snakemake(f"SIGTERM is handled by {handler}, not by JobScheduler.exit_gracefully")
    received = Received(scheduler)
    if handler is not signal.SIG_IGN:
        signal.signal(signal.SIGTERM, received.note)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, received.interrupt)
    return received


class Received:
    """The signals that Snakemake received, and what is done at each."""

    def __init__(self, scheduler: "JobScheduler") -> None:
        self.scheduler, self.interrupted = scheduler, False
        self.wait_for_jobs = scheduler._open_jobs.acquire
        scheduler._open_jobs.acquire = self.wait_or_leave
        self.read_end, self.write_end = os.pipe()
        threading.Thread(target=self.act, daemon=True).start()

    def note(self, number: int, _frame: FrameType | None) -> None:
        """Leave a signal to the thread."""
        os.write(self.write_end, bytes([number]))

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """Interrupt the jobs, and Snakemake where it waits next; a second signal interrupts it at once."""
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True
        self.note(number, frame)

    def wait_or_leave(self) -> None:
        """Wait until the scheduler has something to do; raise KeyboardInterrupt if that is to end."""
        self.wait_for_jobs()
        if self.interrupted:
            raise KeyboardInterrupt

    def act(self) -> None:
        """Do what the signals ask for, in a thread of its own."""
        while True:
            [number] = os.read(self.read_end, 1)
            if number == signal.SIGTERM:
                self.scheduler.exit_gracefully()
            else:
                self.scheduler._open_jobs.release()
                threading.Thread(target=_interrupt_jobs, daemon=True).start()


def _interrupt_jobs() -> None:
    """Interrupt each job once, one that is only being started too, until this process ends.

    Snakemake waits for its jobs, as long as a compile takes, and then drops their outputs. What a job starts after its
    interrupt cleans up, and is spared.
    """
    interrupted: set[psutil.Process] = set()
    while True:
        for process in _jobs():
            if process not in interrupted:
                interrupted |= _interrupted(process)
        time.sleep(LOOK_AGAIN_AFTER_S)


def _jobs() -> Iterator[psutil.Process]:
    """Yield the shells that Snakemake started and the programs that these started."""
    for shell in psutil.Process().children():
        yield shell
        with contextlib.suppress(psutil.Error):
            yield from shell.children()


def _interrupted(job: psutil.Process) -> set[psutil.Process]:
    """Interrupt a process and those below it; returns them."""
    processes = {job}
    with contextlib.suppress(psutil.Error):
        processes.update(job.children(recursive=True))
    for process in processes:
        # Servers and their load are in sessions of their own; the job that started them stops them.
        with contextlib.suppress(psutil.Error, ProcessLookupError):
            if os.getpgid(process.pid) == os.getpgrp():
                process.send_signal(signal.SIGINT)
    return processes
