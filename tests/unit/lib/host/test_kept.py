"""A program ends with all that it left behind: children, orphans, daemons with a session and no environment."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scripts.lib.host import keeper, kept

PIPE = {"stdout": subprocess.PIPE, "env": dict(os.environ)}
# What a script starts: the number of the process goes to a file.
LEFT = {
    "in the background": "sleep 987 & echo $! >{pid}",
    "in a session of its own": "setsid sleep 987 & echo $! >{pid}",
    "a daemon": "(setsid sh -c 'echo $$ >{pid}; exec sleep 987' &) ; sleep 0.3",
    "without an environment, deaf to signals":
        "env -i PATH=$PATH setsid sh -c 'trap \"\" TERM HUP INT; echo $$ >{pid}; sleep 987; sleep 987' & sleep 0.3",
    "without its output": "setsid sleep 987 >/dev/null 2>&1 & echo $! >{pid}",
}  # fmt: skip


def run(command, **options):
    with kept.started(["sh", "-c", command], **PIPE, **options) as program:
        return program.stdout.read(), program.wait()


def test_output_and_status_are_those_of_the_program():
    assert run("echo hello") == (b"hello\n", 0)
    assert run("exit 3") == (b"", 3)
    assert run("kill -SEGV $$") == (b"", -signal.SIGSEGV)


@pytest.mark.parametrize("command", LEFT.values(), ids=LEFT)
def test_what_a_program_leaves_behind_ends_with_it_and_holds_nobody(command, tmp_path):
    begin_s, pid = time.monotonic(), tmp_path / "pid"
    assert run(command.format(pid=pid))[1] == 0
    assert time.monotonic() - begin_s < 60
    assert not Path("/proc", pid.read_text().strip()).exists()


@pytest.mark.parametrize("command", LEFT.values(), ids=LEFT)
def test_what_a_program_left_behind_ends_when_it_is_ended_early(command, tmp_path):
    pid = tmp_path / "pid"
    with kept.started(["sh", "-c", command.format(pid=pid) + "; sleep 987"], **PIPE) as program:
        while not (pid.exists() and pid.read_text().strip()):
            time.sleep(0.01)
        assert program.poll() is None
    assert program.wait() == -signal.SIGKILL
    assert not Path("/proc", str(program.program)).exists()
    assert not Path("/proc", pid.read_text().strip()).exists()


def test_the_process_number_is_that_of_the_program():
    with kept.started(["sleep", "987"], **PIPE) as program:
        assert Path("/proc", str(program.program), "comm").read_text() == "sleep\n"


def test_a_program_that_cannot_be_run_says_so():
    with kept.started(["/no/such/program"], stderr=subprocess.STDOUT, **PIPE) as program:
        assert program.stdout.read() == b"/no/such/program: No such file or directory\n"
        assert program.wait() == keeper.NOT_STARTED


def test_all_end_when_the_process_that_started_them_is_killed(tmp_path):
    pid = tmp_path / "pid"
    code = f"""
import os, signal, subprocess
from scripts.lib.host import kept
from scripts.lib.host.process import die_with_parent
how = {{"stdout": subprocess.PIPE, "env": dict(os.environ), "preexec_fn": lambda: die_with_parent(signal.SIGTERM)}}
with kept.started(["sh", "-c", "setsid sleep 987 & echo $! >{pid}; sleep 987"], **how) as program:
    program.wait()
"""
    caller = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[4])
    while not (pid.exists() and pid.read_text().strip()):
        time.sleep(0.02)
    caller.kill()
    caller.wait()
    deadline_s = time.monotonic() + 15
    while Path("/proc", pid.read_text().strip()).exists() and time.monotonic() < deadline_s:
        time.sleep(0.05)
    assert not Path("/proc", pid.read_text().strip()).exists()
