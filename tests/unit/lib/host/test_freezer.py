"""A process is frozen with all its descendants by a cgroup of its own, goes on, and outlives no one."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from scripts.lib.host import freezer, pausing
from tests.unit.lib.host.test_pausing import TREE, tree  # noqa: F401

pytestmark = [
    pytest.mark.real,
    pytest.mark.alone,
    pytest.mark.skipif(freezer.own_folder() is None, reason="no cgroups of version 2 are mounted here"),
]
DYING = """
import os, signal, subprocess, sys, time
from scripts.lib.host import freezer
child = subprocess.Popen([sys.executable, "-c", sys.argv[1]], stdout=subprocess.PIPE, text=True)
grandchild = child.stdout.readline().strip()
held = freezer.freezer_of(child.pid)
held.stop()
print(child.pid, grandchild, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
KILLED_BETWEEN = """
import os, signal
from pathlib import Path
from scripts.lib.host import freezer
make = Path.mkdir
def make_and_die(folder, *words, **options):
    make(folder, *words, **options)
    if folder.parent == freezer.own_folder():
        print(folder, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
Path.mkdir = make_and_die
freezer.freezer_of(os.getpid())
"""


@pytest.fixture
def frozen(tree):  # noqa: F811
    if (held := freezer.freezer_of(tree[0])) is None:
        pytest.skip("this process may not make a cgroup")
    yield held
    held.release()


def folders():
    return sorted(freezer.own_folder().glob("pgobench-*"))


def test_frozen_processes_use_no_cpu_and_go_on(tree, frozen):  # noqa: F811
    for _ in range(20):
        frozen.stop()
        before_ns = frozen.cpu_ns()
        time.sleep(0.02)
        assert frozen.cpu_ns() == before_ns
        assert psutil.Process(tree[1]).status() != psutil.STATUS_STOPPED
        frozen.go_on()
        deadline_s = time.monotonic() + 10
        while frozen.cpu_ns() == before_ns:
            assert time.monotonic() < deadline_s, "nothing went on"
            time.sleep(0.005)


def test_cgroup_is_gone_after_the_release_and_the_processes_are_where_they_were(tree):  # noqa: F811
    before = Path(f"/proc/{tree[1]}/cgroup").read_text()
    held = freezer.freezer_of(tree[0])
    assert len(folders()) == 1
    held.stop()
    held.release()
    assert folders() == []
    assert Path(f"/proc/{tree[1]}/cgroup").read_text() == before


def test_frozen_processes_are_killed_when_the_process_that_froze_them_is(tmp_path):
    command = [sys.executable, "-c", DYING, TREE]
    dying = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[4])
    pids = [int(pid) for pid in dying.stdout.readline().split()]
    assert dying.wait() == -signal.SIGKILL
    deadline_s = time.monotonic() + 10
    while folders() or any(map(psutil.pid_exists, pids)):
        assert time.monotonic() < deadline_s, (folders(), pids)
        time.sleep(0.05)


def test_cgroup_of_a_process_that_is_killed_as_it_makes_it_is_removed():
    command = [sys.executable, "-c", KILLED_BETWEEN]
    killed = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[4], check=False)
    assert (killed.returncode, Path(killed.stdout.strip()).parent) == (-signal.SIGKILL, freezer.own_folder())
    deadline_s = time.monotonic() + 10
    while folders():
        assert time.monotonic() < deadline_s, folders()
        time.sleep(0.05)


def test_processes_that_have_ended_keep_their_cpu_time():
    with subprocess.Popen([sys.executable, "-c", TREE], stdout=subprocess.PIPE, text=True) as parent:
        parent.stdout.readline()
        held = freezer.freezer_of(parent.pid)
        time.sleep(0.1)
        held.stop()
        used_ns = held.cpu_ns()
        pausing.signal_all(pausing.descendants(parent.pid), signal.SIGKILL)
        parent.wait()
        assert held.cpu_ns() >= used_ns > 0
        held.release()
    assert folders() == []


def test_a_machine_without_cgroups_of_version_2_has_none(tmp_path):
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/mounts").write_text("cgroup /sys/fs/cgroup/freezer cgroup rw 0 0\n")
    (tmp_path / "proc/self/cgroup").write_text("7:freezer:/\n")
    assert freezer.own_folder(tmp_path) is None
    assert freezer.freezer_of(1, tmp_path) is None
