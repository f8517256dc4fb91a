"""A job that is told to end leaves by `finally`, even when the signal meets it in a hook of fork."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
# The first hook that runs in the parent after a fork is where a signal that came during the fork is taken.
STRUCK = """
import os, signal, subprocess, sys, time
from scripts.lib.host import lifetime
told = []
def strike():
    if not told:
        told.append(os.kill(os.getpid(), int(sys.argv[1])))
os.register_at_fork(**{sys.argv[2]: strike})
lifetime.heed_signals()
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
from scripts.lib.host import lifetime
lifetime.heed_signals()
started = None
try:
    with lifetime.signals_held():
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


@pytest.mark.parametrize(
    "work",
    ["record.write(made, {})", "with process.started(['touch', made], env=dict(os.environ)) as touch: touch.wait()"],
)
def test_signal_whose_exception_a_library_drops_ends_the_job_before_it_starts_or_writes_anything(tmp_path, work):
    script = f"""
import os, signal, sys
from pathlib import Path
from scripts.lib import json_record as record
from scripts.lib.host import lifetime, process
made = Path(sys.argv[1])
lifetime.heed_signals()
try:
    os.kill(os.getpid(), signal.SIGINT)
except:
    pass
{work}
"""
    command = [sys.executable, "-c", script, str(tmp_path / "made")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, list(tmp_path.iterdir())) == (130, []), done.stderr


def test_what_fails_because_a_job_leaves_is_not_told_as_its_reason(tmp_path):
    script = """
import os, signal, sys
from pathlib import Path
from scripts.lib.host import entry
with entry.entry(Path(sys.argv[1])):
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    finally:
        raise OSError("half removed")
"""
    command = [sys.executable, "-c", script, str(tmp_path / "log")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (143, "")
    assert "half removed" in (tmp_path / "log").read_text()


@pytest.mark.parametrize(
    "begun",
    ["os.kill(os.getpid(), signal.SIGINT); start(*whole)", "start(*whole); time.sleep(5 * lifetime.AGAIN_AFTER_S)"],
    ids=["second signal in the hook", "signal sent again in the hook"],
)
def test_signal_does_not_get_lost_where_the_first_one_is_taken_up_again(begun):
    script = f"""
import _thread, os, signal, time
from scripts.lib.host import lifetime
os.register_at_fork(after_in_parent=lambda: told or told.append(os.kill(os.getpid(), signal.SIGINT)))
told, start = [], _thread.start_new_thread
def struck(*whole):
    _thread.start_new_thread = start
    {begun}
_thread.start_new_thread = struck
lifetime.heed_signals()
try:
    if os.fork() == 0:
        os._exit(0)
    time.sleep(10)
    print("went on")
finally:
    print("cleaned")
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("cleaned\n", "", 130)


def test_hook_of_fork_that_fails_because_the_hook_before_it_was_left_is_not_told():
    script = """
import os, signal, threading, time
from scripts.lib.host import lifetime
lock = threading.Lock()
def take():
    os.kill(os.getpid(), signal.SIGINT)
    lock.acquire()
os.register_at_fork(before=take, after_in_parent=lock.release)
lifetime.heed_signals()
if os.fork() == 0:
    os._exit(0)
time.sleep(10)
print("went on")
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 130)


def test_other_dropped_exceptions_are_shown_as_ever():
    script = "from scripts.lib.host import lifetime\nlifetime.heed_signals()\n"
    script += "class A:\n def __del__(self): 1 / 0\na = A()\ndel a\n"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "ZeroDivisionError" in done.stderr
