"""Snakemake's jobs are interrupted with it, and SIGTERM is handled whatever lock it holds."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from scripts.workflow import interrupts
from scripts.workflow.snakemake_release import OtherSnakemake

ROOT = Path(__file__).parents[3]
PREPARED = """
import os, signal, subprocess, threading, time, types
from scripts.workflow import interrupts
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a script started us in the background
handler = lambda *_: None
signal.signal(signal.SIGTERM, handler)
scheduler = types.SimpleNamespace(exit_gracefully=handler, _open_jobs=threading.Semaphore(1))
interrupts.forward_interrupts(scheduler)
scheduler._open_jobs.acquire()
"""
# Starts a job and a server, is interrupted, and prints how both ended.
INTERRUPTED = """
job = subprocess.Popen(["sleep", "60"])
server = subprocess.Popen(["sleep", "60"], start_new_session=True)
os.kill(os.getpid(), signal.SIGINT)
try:
    scheduler._open_jobs.acquire()
except KeyboardInterrupt:
    print("interrupted", job.wait(10), server.poll())
server.kill()
"""
# Is interrupted while it holds a lock and before it starts a job, and prints how the job ended.
BUSY = """
lock = threading.Lock()
with lock:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.3)
job = subprocess.Popen(["sh", "-c", "sleep 60; true"])
try:
    scheduler._open_jobs.acquire()
except KeyboardInterrupt:
    print("interrupted", job.wait(10), lock.locked())
"""
# Is interrupted twice where it does not wait for jobs.
TWICE = """
os.kill(os.getpid(), signal.SIGINT)
try:
    os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    print("interrupted")
"""


def said(code):
    command = [sys.executable, "-c", PREPARED + code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


class Scheduler:
    """A stand-in for Snakemake's scheduler, whose handler takes a lock that its main thread may hold."""

    def __init__(self):
        self.lock, self.handled = threading.Lock(), threading.Event()
        self._open_jobs = threading.Semaphore(0)

    def exit_gracefully(self, *_):
        with self.lock:
            self.handled.set()


@pytest.fixture
def scheduler():
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    made = Scheduler()
    signal.signal(signal.SIGTERM, made.exit_gracefully)
    yield made
    for number, handler in before.items():
        signal.signal(number, handler)


def test_sigterm_is_handled_once_the_lock_is_free(scheduler):
    interrupts.forward_interrupts(scheduler)
    with scheduler.lock:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.1)
        assert not scheduler.handled.is_set()
    assert scheduler.handled.wait(5)


def test_interrupt_reaches_jobs_and_spares_servers_in_sessions_of_their_own():
    assert said(INTERRUPTED) == ["interrupted", str(-signal.SIGINT), "None"]


def test_interrupt_is_raised_at_the_wait_for_jobs_and_reaches_a_job_started_before_it():
    assert said(BUSY) == ["interrupted", str(-signal.SIGINT), "False"]


def test_second_interrupt_does_not_wait():
    assert said(TWICE) == ["interrupted"]


def test_ignored_signals_stay_ignored(scheduler):
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    interrupts.forward_interrupts(scheduler)
    assert {signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)} == {signal.SIG_IGN}


def test_handler_that_is_not_snakemakes_is_refused_by_name(scheduler):
    signal.signal(signal.SIGTERM, lambda *_: None)
    with pytest.raises(OtherSnakemake, match=r"SIGTERM is handled by .*, not by JobScheduler.exit_gracefully"):
        interrupts.forward_interrupts(scheduler)
