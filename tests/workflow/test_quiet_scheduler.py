"""While a job runs, Snakemake sleeps: its scheduler would take CPU time from the run that is measured."""

import subprocess
import time
from pathlib import Path

import pytest

from tests.workflow.running import command_line, environment
from tests.workflow.stubbed import copied

pytestmark = pytest.mark.slow

TABLES = "results/studies/default/tables/runs.csv"
ARMS = {name: {"server": "postgresql-15", "build": name} for name in ("baseline", "pgo")}


def test_number_of_threads_does_not_grow_with_the_jobs_that_were_run(tmp_path):
    study = copied(tmp_path)
    study.configure(variants=ARMS, workloads={"oltp": None}, repetitions=8)
    command = command_line(tmp_path, "--cores", "1", TABLES, root=tmp_path)
    with (tmp_path / "said.txt").open("w") as said:
        process = subprocess.Popen(
            command, cwd=tmp_path, env=environment(STUB_JOURNAL=str(study.journal)), stdout=said, stderr=said
        )
        seen = []
        while process.poll() is None:
            seen.append(len(list(Path(f"/proc/{process.pid}/task").iterdir())))
            time.sleep(0.05)
    assert process.returncode == 0, (tmp_path / "said.txt").read_text()
    # Each timer that wakes the scheduler is a thread more, and without our change there is one per job so far.
    jobs = len(study.events())
    assert jobs > 20
    assert max(seen) < jobs / 2, seen
