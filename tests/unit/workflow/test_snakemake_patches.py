"""Signals to Snakemake alone: its jobs are interrupted with it, and SIGTERM is heard whatever lock it holds."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from scripts.workflow import snakemake_patches

ROOT = Path(__file__).parents[3]
# Starts a job and a server, is interrupted, and prints what came of both.
INTERRUPTED = """
import os, signal, subprocess, types
from scripts.workflow import snakemake_patches
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a script started us in the background
job = subprocess.Popen(["sleep", "60"])
server = subprocess.Popen(["sleep", "60"], start_new_session=True)
snakemake_patches.forward_interrupts(types.SimpleNamespace(exit_gracefully=None))
try:
    os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    print("interrupted", job.wait(10), server.poll())
server.kill()
"""


class Scheduler:
    """A stand-in for Snakemake's, whose handler takes the lock that its main thread holds now and then."""

    def __init__(self):
        self.lock, self.heard = threading.Lock(), threading.Event()

    def exit_gracefully(self, *_):
        with self.lock:
            self.heard.set()


@pytest.fixture
def scheduler():
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    made = Scheduler()
    signal.signal(signal.SIGTERM, made.exit_gracefully)
    yield made
    for number, handler in before.items():
        signal.signal(number, handler)


def test_request_to_end_is_heard_once_the_lock_is_free(scheduler):
    snakemake_patches.forward_interrupts(scheduler)
    with scheduler.lock:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.1)
        assert not scheduler.heard.is_set()
    assert scheduler.heard.wait(5)


def test_interrupt_reaches_jobs_and_leaves_what_has_a_session_of_its_own():
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout.split() == ["interrupted", str(-signal.SIGINT), "None"], done.stderr


def test_ignored_signals_stay_ignored(scheduler):
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    snakemake_patches.forward_interrupts(scheduler)
    assert {signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)} == {signal.SIG_IGN}
