"""A process is stopped with all its descendants, uses no CPU while it is, and goes on."""

import signal
import subprocess
import sys
import time

import psutil
import pytest

from scripts.lib.host import pausing
from scripts.measure.engine.side_by_side import Signals

pytestmark = pytest.mark.real

# Starts a child with a session of its own, as PostgreSQL does, and keeps starting short-lived ones; all spin.
TREE = """
import os, subprocess, sys, time
spin = "while True: pass"
child = subprocess.Popen([sys.executable, "-c", spin], start_new_session=True)
print(child.pid, flush=True)
while True:
    subprocess.run(["true"])
"""


@pytest.fixture
def tree():
    with subprocess.Popen([sys.executable, "-c", TREE], stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        yield parent.pid, child
        # The parent first; one of its short-lived children may be gone by now.
        pausing.signal_all(pausing.descendants(parent.pid), signal.SIGKILL)


def test_descendants_are_found_whatever_their_session_parents_first(tree):
    found = pausing.descendants(tree[0])
    assert found[0] == tree[0]
    assert tree[1] in found


def test_stopped_processes_use_no_cpu_and_go_on(tree):
    pids = pausing.stop(tree[0])
    assert set(tree) <= set(pids)
    before_ns = pausing.cpu_ns(pids)
    time.sleep(0.2)
    assert pausing.cpu_ns(pids) == before_ns
    assert psutil.Process(tree[1]).status() == psutil.STATUS_STOPPED
    pausing.go_on(pids)
    deadline_s = time.monotonic() + 10
    while pausing.cpu_ns(pids) == before_ns:
        assert time.monotonic() < deadline_s, "nothing went on"
        time.sleep(0.01)


def test_body_that_fails_leaves_nothing_stopped(tree):
    with pytest.raises(KeyError), pausing.stopped(tree[0]):
        raise KeyError
    assert psutil.Process(tree[1]).status() != psutil.STATUS_STOPPED


def test_a_process_that_is_gone_is_no_error():
    gone = subprocess.Popen(["true"])
    gone.wait()
    assert pausing.descendants(gone.pid) == []
    assert pausing.stop(gone.pid) == []
    pausing.go_on([gone.pid])
    assert pausing.cpu_ns([gone.pid]) == 0


# Spins in a child that ends, then in one that starts after the first reading and ends too.
SHORT_LIVED = """
import os, sys, time
def spin(cpu_s):
    if os.fork() == 0:
        until_s = time.process_time() + cpu_s
        while time.process_time() < until_s: pass
        os._exit(0)
spin(0.2); os.wait()
print("ready", flush=True)
sys.stdin.readline()
spin(0.3); os.wait()
print("done", flush=True)
sys.stdin.readline()
"""


def test_cpu_time_of_children_that_ended_stays_and_that_of_short_lived_ones_counts():
    command = [sys.executable, "-c", SHORT_LIVED]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        parent.stdout.readline()
        held = Signals(parent.pid)
        held.stop()
        held.go_on()
        before_ns = held.cpu_ns()
        parent.stdin.write("\n")
        parent.stdin.flush()
        parent.stdout.readline()
        used_s = (held.cpu_ns() - before_ns) / 1e9
        held.release()
        parent.kill()
    assert before_ns >= 0.18e9
    assert 0.28 < used_s < 0.5
