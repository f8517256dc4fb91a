"""A job is told to end twice at random moments, as Ctrl-C and then Snakemake do: it ends, and leaves nothing."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from tests.endtoend.folders import open_folder
from tests.faults.interrupting import GONE_WITHIN_S, wait_until
from tests.faults.scale import scaled
from tests.workflow.running import CHECKOUT

pytestmark = pytest.mark.slow
STRIKES = scaled(whole=1000, short=40)
# Beside many Python lines it forks with and without hooks, and it has a folder, the watcher of it and commands.
JOB = """
import sys
from pathlib import Path
from scripts.lib.host import entry
from scripts.measure.servers import data_directory
folder = Path(sys.argv[1])
with entry.entry(folder / "log"):
    print("begins", flush=True)
    while True:
        with data_directory.cloned(folder / "snapshot", str(folder / "storage")):
            pass
print("went on")
"""
# Python's own end is left to the signal's default.
ENDED = {128 + signal.SIGINT, -signal.SIGINT}


@pytest.fixture(scope="module")
def folder():
    with open_folder("signals-") as made:
        (made / "snapshot" / "data").mkdir(parents=True)
        (made / "storage").mkdir()
        for number in range(5):
            (made / "snapshot" / "data" / str(number)).write_bytes(os.urandom(20_000))
        yield made


@pytest.mark.parametrize("number", range(STRIKES))
def test_job_that_is_told_to_end_twice_ends_and_leaves_nothing(folder, number):
    moment, storage = random.Random(number), folder / "storage"
    command = [sys.executable, "-c", JOB, str(folder)]
    with subprocess.Popen(
        command,
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as job:
        job.stdout.readline()
        wait_until(lambda: any(storage.iterdir()), seconds=10, rest_s=0.001)
        time.sleep(moment.choice([0, moment.uniform(0, 0.05)]))
        os.killpg(job.pid, signal.SIGINT)
        time.sleep(moment.uniform(0, 0.03))
        job.send_signal(signal.SIGINT)
        said = job.communicate(timeout=20)
    assert (job.returncode in ENDED, said) == (True, ("", ""))
    wait_until(lambda: not any(storage.iterdir()), GONE_WITHIN_S)
