"""After kill -9 of Snakemake the same command continues; the costly steps are stubs (see test_stub_study.py)."""

import base64
import hashlib
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from tests.workflow.running import environment
from tests.workflow.stubbed import STUDY, copied

pytestmark = pytest.mark.slow
COMMAND = ["--cores", "2", "results/studies/default/tables/runs.csv"]
PLANNED = 9
REST_S = "0.3"


@pytest.fixture
def small(tmp_path):
    made = copied(tmp_path / "stub-kill")
    variants = {name: STUDY["variants"][name] for name in ("baseline", "pgo")}
    made.configure(variants=variants, workloads={"oltp": None}, repetitions=PLANNED)
    return made


@pytest.fixture
def started(small):
    """A running Snakemake in a session of its own; the processes it leaves are killed at the end."""
    with (small.root / "killed.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "snakemake", *COMMAND],
            cwd=small.root,
            env=environment(STUB_JOURNAL=str(small.journal), STUB_REST_S=REST_S),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    yield process
    for left in [process, *working_in(small.root)]:
        left.kill()
    process.wait()


def working_in(folder):
    """Return all processes whose working directory is `folder`."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.cwd() == str(folder):
                found.append(process)
        except psutil.Error:
            continue
    return found


def wait_until(condition, seconds=60):
    deadline_s = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline_s, "waited in vain"
        time.sleep(0.01)


def run_files(small):
    """Return the records of the finished blocks."""
    return sorted((small.root / "results" / "studies" / "default" / "blocks").rglob("block.json"))


def digests(files):
    return {file: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def at_work(small):
    """Count the blocks that were begun, as far as tied to the life of their Snakemake."""
    return sum(event.module == "measure_block" and event.work_s is not None for event in small.events())


def test_killed_study_goes_on_with_the_same_command_and_keeps_finished_runs(small, started):
    wait_until(lambda: len(run_files(small)) >= 4 and at_work(small) > len(run_files(small)))
    os.kill(started.pid, signal.SIGKILL)
    started.wait()
    wait_until(lambda: not working_in(small.root), seconds=10)
    kept = digests(run_files(small))
    assert 4 <= len(kept) < PLANNED
    cut_off = at_work(small) - len(kept)
    assert cut_off == 1

    answer = small.run(*COMMAND)
    assert answer.status == 0, answer.text
    assert digests(kept) == kept
    assert len(run_files(small)) == PLANNED
    assert at_work(small) == PLANNED + cut_off
    assert "Nothing to be done" in small.run("-n", *COMMAND).text


def test_study_killed_over_the_mark_of_its_preparations_plans_the_runs_that_it_lacks(small):
    prepared = "results/studies/default/prepared.txt"
    assert small.run("--cores", "2", prepared).status == 0
    mark = base64.b64encode(prepared.encode()).decode()
    (small.root / ".snakemake" / "incomplete" / mark).touch()
    answer = small.run("-n", "results/studies/default/tables/comparisons.csv")
    wanted = {"describe_study": 1, "measure_block": PLANNED, "collect_runs": 1, "compare_variants": 1}
    assert answer.jobs == wanted | {"finish_preparations": 1}, answer.text


def test_second_snakemake_in_the_same_directory_is_refused_and_a_dry_run_is_not(small, started):
    wait_until(lambda: run_files(small))
    # On a busy machine it would finish before the second one has read the rules.
    started.send_signal(signal.SIGSTOP)
    second = small.run(*COMMAND)
    assert second.status != 0
    assert f"another Snakemake (process {started.pid}) works here; wait for it, or use -d elsewhere" in second.text
    assert started.poll() is None
    assert small.run("--dry-run", *COMMAND).status == 0
