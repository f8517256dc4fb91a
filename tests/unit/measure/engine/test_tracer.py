"""A program attached to a server is told to stop, heard when it fails, and gone when we are done."""

import os
import subprocess
import time

import psutil
import pytest

from scripts.measure.engine import diagnosis, tracer
from scripts.measure.engine.tracer import ToolFailed, Tracer

STOPS = 'trap "echo stopped; exit 0" INT; echo attached $*; while :; do sleep 0.02; done'


@pytest.fixture
def victim():
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process
        process.kill()


@pytest.fixture
def attach(tmp_path, victim):
    """Attach a shell script to the victim, its arguments the ids; returns the tracer."""
    made = []

    def begin(script):
        def command(pids):
            return ["bash", "-c", script, "tracer", *map(str, pids)]

        made.append(Tracer(command, tmp_path / "tool.log", sorted(os.sched_getaffinity(0))))
        made[-1].begin(victim.pid)
        return made[-1]

    yield begin
    for one in made:
        one.close()


def wait_for(log, text):
    deadline_s = time.monotonic() + 10
    while text not in log.read_text() and time.monotonic() < deadline_s:
        time.sleep(0.01)
    assert text in log.read_text()


def test_it_gets_the_ids_and_ends_when_told(attach, victim):
    made = attach(STOPS)
    wait_for(made.log, f"attached {victim.pid}")
    made.end()
    made.finish()
    assert made.log.read_text().endswith("stopped\n")


@pytest.mark.parametrize("script", ["exit 130", "kill -INT $$"])
def test_an_end_by_the_signal_is_none_of_a_failure(attach, script):
    made = attach(script)
    made.process.wait()
    made.end()
    made.finish()


def test_failure_is_told_with_its_words_its_command_and_the_kernels_setting(attach, victim):
    made = attach("echo attach: Operation not permitted; exit 1")
    with pytest.raises(ToolFailed) as caught:
        made.finish()
    text = str(caught.value)
    assert "bash ended with status 1: attach: Operation not permitted" in text
    assert f"tracer {victim.pid}" in text
    assert "yama.ptrace_scope is" in text


def test_it_dies_with_us_when_nobody_told_it_to_stop(attach):
    made = attach(STOPS)
    made.close()
    assert not psutil.pid_exists(made.process.pid)


def test_one_that_never_began_says_so(tmp_path):
    with pytest.raises(ToolFailed, match="before it began"):
        Tracer(lambda pids: [], tmp_path / "tool.log", [0]).finish()


def test_one_that_does_not_stop_is_given_up(attach, monkeypatch):
    monkeypatch.setattr(tracer, "FINISHED_WITHIN_S", 0.2)
    made = attach('trap "" INT; echo deaf; while :; do sleep 0.02; done')
    wait_for(made.log, "deaf")
    made.end()
    with pytest.raises(ToolFailed, match=r"still ran 0\.2 s after its stop signal"):
        made.finish()


def test_missing_program_is_told_with_its_package(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    assert diagnosis.unusable("perf").startswith("perf is not installed here (Debian: package linux-perf)")
    assert diagnosis.unusable("fsyncs").startswith("strace is not installed here")
    assert diagnosis.unusable("waits") is None
