"""Processes of a measurement go before other programs, where they may; only a real kernel can show it."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scripts.lib.host import pausing, priority

pytestmark = pytest.mark.real
# Root may not either in a container without CAP_SYS_NICE.
LOWERED = subprocess.run(["nice", "-n", "-1", "nice"], stdout=subprocess.PIPE, text=True, check=True).stdout
lowers = pytest.mark.skipif(int(LOWERED) == priority.nice(), reason="this user may not lower a nice value")

# Prints what go_first returns, then the nice value of a process started after it.
GO_FIRST = """
import subprocess
from scripts.lib.host import priority
print(priority.go_first(), flush=True)
subprocess.run(["nice"])
"""
# Starts a process in a session of its own, as PostgreSQL does; prints the number of the process below.
TREE = """
import subprocess, sys
child = subprocess.Popen(["sleep", "60"], start_new_session=True)
print(child.pid, flush=True)
child.wait()
"""
SPIN = "import os, sys\nos.sched_setaffinity(0, [int(sys.argv[1])])\nwhile True: pass"


def went_first(nice: int, *before: str) -> list[int]:
    """Return the values that `GO_FIRST` prints when it begins with a nice value, started by the command `before`."""
    done = subprocess.run(
        [*before, sys.executable, "-c", GO_FIRST], stdout=subprocess.PIPE, text=True, check=True,
        preexec_fn=lambda: os.setpriority(os.PRIO_PROCESS, 0, nice),
    )  # fmt: skip
    return [int(line) for line in done.stdout.split()]


@lowers
def test_a_measuring_process_and_those_it_starts_go_first():
    assert went_first(priority.ORDINARY) == [priority.NICE, priority.NICE]


@lowers
def test_nice_value_that_someone_has_chosen_stays():
    assert went_first(5) == [5, 5]


@lowers
def test_it_stays_where_it_may_not_be_lowered():
    assert went_first(priority.ORDINARY, "setpriv", "--bounding-set=-sys_nice") == [priority.ORDINARY] * 2


@pytest.fixture
def tree():
    """A process in a session of its own, with one below it in another; killed at the end."""
    with subprocess.Popen(
        [sys.executable, "-c", TREE], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as parent:
        child = int(parent.stdout.readline())
        yield parent.pid, child
        for pid in (child, parent.pid):
            os.kill(pid, 9)


def autogroup(pid: int) -> str | None:
    """Return the nice value of a process's session; None for one that Linux started outside of every session."""
    return next(reversed(Path(f"/proc/{pid}/autogroup").read_text().split()), None)


@lowers
@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="this kernel does not group sessions")
def test_sessions_of_a_server_go_first_and_that_of_the_user_does_not(tree, monkeypatch):
    monkeypatch.setattr(priority, "nice", lambda: priority.ORDINARY)
    priority.carry_over(tree[0])
    assert [autogroup(pid) for pid in tree] == ["0", "0"]
    own = autogroup(os.getpid())
    monkeypatch.setattr(priority, "nice", lambda: priority.NICE)
    priority.carry_over(tree[0], os.getpid())
    assert [autogroup(pid) for pid in tree] == [str(priority.NICE)] * 2
    assert autogroup(os.getpid()) == own


@lowers
def test_a_process_that_goes_first_has_most_of_a_cpu_beside_an_ordinary_one(monkeypatch):
    monkeypatch.setattr(priority, "nice", lambda: priority.NICE)
    command, both = [sys.executable, "-c", SPIN, str(min(os.sched_getaffinity(0)))], []
    try:
        both += [subprocess.Popen(command, start_new_session=True) for _ in range(2)]
        first, ordinary = (each.pid for each in both)
        os.setpriority(os.PRIO_PROCESS, first, priority.NICE)
        priority.carry_over(first)
        time.sleep(2)
        assert pausing.cpu_ns([first]) > 3 * pausing.cpu_ns([ordinary]) > 0
    finally:
        for each in both:
            each.kill()
            each.wait()
