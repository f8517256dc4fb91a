"""What scripts/workflow mends in Snakemake is still broken without it: a test that fails here says which patch can go.

Small workflows of their own, each run without and with the patch.
"""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.workflow.running import CHECKOUT, environment

pytestmark = pytest.mark.slow

PATCHED = f"""
import sys
sys.path.insert(0, "{CHECKOUT}")
from scripts.workflow import session
"""
ANCIENT = """
rule second:
    input: ancient("first.txt")
    output: "second.txt"
    params: config["value"]
    shell: "echo {params} >{output}"

rule first:
    output: "first.txt"
    params: config["value"]
    shell: "echo {params} >{output}"
"""
# Prints how many timers five jobs left, and whether a handler may take the scheduler's lock a second time.
SCHEDULER = """
import threading

rule all:
    input: expand("{n}.txt", n=range(5))

rule each:
    output: "{n}.txt"
    shell: "touch {output}"

onsuccess:
    timers = [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]
    print("TIMERS", len(timers), type(workflow.scheduler._lock).__name__)
"""
SLEEPING = """
rule sleep:
    output: "slept.txt"
    shell: "echo >begun.txt; sleep 5; echo >whole.txt; echo >{output}"
"""
DERIVED = """
def place(wildcards, output):
    return config["place"]

rule one:
    output: "one.txt"
    params: kept="x", **({"place": place} if "place" in config else {})
    shell: "echo {params} >{output}"
"""


def command(folder: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "snakemake", "--directory", str(folder), *arguments]


def run(folder: Path, snakefile: str, *arguments: str) -> str:
    """Return the output of a call of Snakemake with a workflow of its own."""
    (folder / "Snakefile").write_text(snakefile)
    done = subprocess.run(
        command(folder, *arguments),
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.parametrize(("patch", "checked"), [("", False), (PATCHED, True)], ids=["unpatched", "patched"])
def test_job_behind_a_rebuilt_ancient_input_is_checked_only_with_the_patch(patch, checked, tmp_path):
    snakefile = ANCIENT + patch + ("session.patch_ancient_inputs(session.DAG)\n" if patch else "")
    run(tmp_path, snakefile, "--cores", "1", "--config", "value=before")
    planned = run(tmp_path, snakefile, "--dry-run", "--config", "value=after")
    assert "rule first:" in planned
    assert ("rule second:" in planned) == checked


@pytest.mark.parametrize("patch", ["", PATCHED], ids=["unpatched", "patched"])
def test_scheduler_keeps_no_timer_per_job_only_with_the_patch(patch, tmp_path):
    begun = "\nonstart:\n    session.remove_rate_limit(workflow.scheduler)\n" if patch else ""
    said = run(tmp_path, patch + SCHEDULER + begun, "--cores", "1")
    timers, lock = next(line for line in said.splitlines() if line.startswith("TIMERS")).split()[1:]
    assert (timers == "0") == bool(patch), said
    assert lock == "lock", "a reentrant lock: interrupts.forward_interrupts need no longer leave SIGTERM to a thread"


@pytest.mark.parametrize("patch", ["", PATCHED], ids=["unpatched", "patched"])
def test_interrupt_of_snakemake_ends_its_job_only_with_the_patch(patch, tmp_path):
    begun = "\nonstart:\n    session.forward_interrupts(workflow.scheduler)\n" if patch else ""
    (tmp_path / "Snakefile").write_text(patch + SLEEPING + begun)
    with (tmp_path / "output.txt").open("w") as output:
        process = subprocess.Popen(
            command(tmp_path, "--cores", "1"),
            cwd=tmp_path,
            env=environment(),
            stdout=output,
            stderr=output,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        while not (tmp_path / "begun.txt").exists():
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        process.wait(60)
    assert (tmp_path / "whole.txt").exists() == (not patch), (tmp_path / "output.txt").read_text()


def test_param_whose_function_takes_output_is_not_compared(tmp_path):
    run(tmp_path, DERIVED, "--cores", "1")
    assert "Nothing to be done" in run(tmp_path, DERIVED, "--dry-run", "--config", "place=there")
