"""A job that is told to end leaves by `finally`, even when the signal meets it in a hook of fork."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# The first hook that runs in the parent after a fork is where a signal that came during the fork is taken.
STRUCK = """
import os, signal, subprocess, sys, time
from scripts import leaving
told = []
def strike():
    if not told:
        told.append(os.kill(os.getpid(), int(sys.argv[1])))
os.register_at_fork(**{sys.argv[2]: strike})
leaving.heed()
try:
    subprocess.run(["true"], preexec_fn=lambda: None)
    time.sleep(10)
    print("went on")
finally:
    os.kill(os.getpid(), signal.SIGTERM)
    print("cleaned")
"""


def test_signal_is_put_off_until_what_is_being_started_is_known():
    script = """
import os, signal
from scripts import leaving
leaving.heed()
started = None
try:
    with leaving.held():
        os.kill(os.getpid(), signal.SIGINT)
        started = "a server"
    print("went on")
finally:
    print("ends", started)
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("ends a server\n", 130), done.stderr


@pytest.mark.parametrize("hook", ["before", "after_in_parent"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_that_comes_during_a_fork_is_not_lost_and_a_second_one_does_not_stop_the_cleaning(number, hook):
    command = [sys.executable, "-c", STRUCK, str(int(number)), hook]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout, done.returncode) == ("cleaned\n", 128 + number), done.stderr


def test_other_dropped_exceptions_are_shown_as_ever():
    script = "from scripts import leaving\nleaving.heed()\nclass A:\n def __del__(self): 1 / 0\na = A()\ndel a\n"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "ZeroDivisionError" in done.stderr
