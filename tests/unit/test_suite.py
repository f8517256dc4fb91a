"""The two calls of pytest that make up `make test`, and the watch over what runs in the first one."""

import subprocess
import sys
import time

import pytest

from tests import suite, unmarked
from tests.conftest import CHECKOUT

pytestmark = pytest.mark.slow

# Tests of one file that share something; they take long enough for the other worker to ask for one.
SHARING = """
import time
import pytest

@pytest.fixture(scope="module")
def shared():
    with open({made!r}, "a") as made:
        made.write("{name}\\n")

@pytest.mark.parametrize("number", range(6))
def test_number(shared, number):
    time.sleep(0.1)
"""
# Two files, so that each has a worker: the first to hold the machine lock waits for the other to hold its own.
HOLDING = """
import os, time
from pathlib import Path
import psutil
from scripts.lib.host import freezer, locks, workplace

def test_nothing_of_another_worker_is_seen():
    here = Path({folder!r})
    assert not list(workplace.cache_directory().iterdir()) and not list(Path("/dev/shm").iterdir())
    (workplace.cache_directory() / "mine").touch()
    with locks.exclusive():
        (here / "{name}").touch()
        deadline_s = time.monotonic() + 60
        while len(list(here.glob("holds-*"))) < 2:
            assert time.monotonic() < deadline_s
            time.sleep(0.05)
        assert [each.name() for each in psutil.process_iter() if each.pid != os.getpid()] == ["sh"]
    assert freezer.own_folder() is None or not list(freezer.own_folder().glob("*/cgroup.procs"))
"""
PASSED, FAILED, NONE = pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED


def test_every_test_is_in_one_of_the_two_calls_and_fast_is_a_part_of_the_first():
    first, second = suite.calls(fast=False, apart=True)
    assert (first[:2], second) == (["-m", "not alone"], ["-m", "alone"])
    first, second = suite.calls(fast=False)
    assert (first[:2], second) == (["-m", "not real"], ["-m", "real"])
    assert suite.calls(fast=True) == [["-m", "not real and not slow", *first[2:]]]


@pytest.mark.parametrize(
    ("statuses", "status"),
    [
        ([PASSED, PASSED], PASSED),
        ([FAILED, PASSED], FAILED),
        ([PASSED, FAILED], FAILED),
        ([NONE, PASSED], PASSED),
        ([PASSED, NONE], PASSED),
        ([NONE, FAILED], FAILED),
        ([NONE, NONE], NONE),
        ([NONE], NONE),
        ([-9, PASSED], -9),
    ],
)
def test_whole_fails_if_a_call_fails_or_no_test_was_found(statuses, status):
    assert suite.status_of(statuses) == status


def test_both_calls_run_though_the_first_one_fails(monkeypatch):
    ran = []

    def run(command, check, env):
        assert "PYTHONDONTWRITEBYTECODE" not in env
        ran.append(command[3:])
        return subprocess.CompletedProcess(command, FAILED if len(ran) == 1 else PASSED)

    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setattr(suite.subprocess, "run", run)
    monkeypatch.setattr(suite.isolated, "possible", lambda: False)
    assert suite.main(["tests/unit", "-x"]) == FAILED
    assert ran == [[*call, "tests/unit", "-x"] for call in suite.calls(fast=False)]


def test_what_the_tests_of_a_file_share_is_made_by_one_worker(tmp_path):
    made = tmp_path / "made.txt"
    for name in ("test_one.py", "test_two.py"):
        (tmp_path / name).write_text(SHARING.format(made=str(made), name=name))
    (tmp_path / "conftest.py").write_text("from tests.conftest import pytest_xdist_make_scheduler\n")
    shared = ["--numprocesses", "2", *suite.SHARED]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", tmp_path, *shared, tmp_path]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=120)
    assert "12 passed" in done.stdout
    assert sorted(made.read_text().split()) == ["test_one.py", "test_two.py"]


@pytest.mark.skipif(not suite.isolated.possible(), reason="this user may not make namespaces of processes and mounts")
def test_isolated_workers_hold_the_machine_lock_at_once_and_see_nothing_of_each_other(tmp_path):
    for number in (1, 2):
        text = HOLDING.format(folder=str(tmp_path), name=f"holds-{number}")
        (tmp_path / f"test_{number}.py").write_text(text)
    (tmp_path / "conftest.py").write_text("from tests.conftest import pytest_xdist_make_scheduler\n")
    command = [sys.executable, "-m", "tests.suite", "-q", "-p", "no:cacheprovider", "--rootdir", tmp_path, tmp_path]
    before = suite.isolated.cgroups()
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=120)
    assert "2 passed" in done.stdout, done.stdout + done.stderr
    assert suite.isolated.cgroups() == before


def test_real_server_is_seen_with_the_test_that_started_it_unless_it_only_answers(tmp_path, request):
    (tmp_path / "made-up").symlink_to("/bin/sleep")
    (tmp_path / "answering").symlink_to("/bin/bash")
    programs = unmarked.Programs({"made-up", "answering"})
    asked = [tmp_path / "answering", "-c", "sleep 60; true", "--version"]
    with subprocess.Popen([tmp_path / "made-up", "60"]) as server, subprocess.Popen(asked) as answering:
        deadline_s = time.monotonic() + 10
        while not programs.of(request.node.nodeid) and time.monotonic() < deadline_s:
            programs.look()
        programs.look()
        server.kill()
        answering.kill()
    assert programs.of(request.node.nodeid) == {"made-up"}
    assert programs.of("tests/other.py::test_other") == set()
