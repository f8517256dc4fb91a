"""A study of stubs is struck again and again at random moments, and ends in the tables of an undisturbed one."""

import base64
import os
import random
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from tests.faults.interrupting import wait_until
from tests.faults.scale import WHOLE, scaled
from tests.workflow.running import environment
from tests.workflow.stubbed import STUDY, copied
from tests.workflow.test_stub_kill import digests, run_files, working_in

pytestmark = pytest.mark.slow
SEEDS = range(scaled(whole=4, short=1))
STRIKES_PER_SEED = scaled(whole=50, short=2)
TABLES = "results/studies/default/tables"
COMMAND = ["--cores", "2", f"{TABLES}/comparisons.csv"]
# kill -9 twice as often as the two that let somebody clean up
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM)


@pytest.fixture
def made(tmp_path):
    study = copied(tmp_path / "random-kills")
    variants = {name: STUDY["variants"][name] for name in ("baseline", "pgo")}
    study.configure(variants=variants, workloads={"oltp": None}, repetitions=3)
    yield study
    for left in working_in(study.root):
        left.kill()


def tables(study):
    """Return the tables without what differs from one time to the next."""
    found = {path.name: pd.read_csv(path) for path in (study.root / TABLES).glob("*.csv")}
    return {name: frame.drop(columns=[each for each in frame if each.endswith("_at")]) for name, frame in found.items()}


def finished(study):
    """Return the digests of the runs that Snakemake booked; one that it was killed over before that is made again."""
    marks = {base64.b64decode(mark.name).decode() for mark in (study.root / ".snakemake" / "incomplete").glob("*")}
    return digests(file for file in run_files(study) if str(file.relative_to(study.root)) not in marks)


def struck(study, after_s, number):
    """Start the study, send its Snakemake a signal, and return whether it had ended before."""
    with (study.root / "struck.log").open("a") as log:
        snakemake = subprocess.Popen(
            [sys.executable, "-m", "snakemake", *COMMAND],
            cwd=study.root,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
    try:
        snakemake.wait(after_s)
    except subprocess.TimeoutExpired:
        os.kill(snakemake.pid, number)
        snakemake.wait(60)
        wait_until(lambda: not working_in(study.root), seconds=10, rest_s=0.05)
        return False
    assert snakemake.returncode == 0, (study.root / "struck.log").read_text()[-3000:]
    return True


@pytest.mark.parametrize("seed", SEEDS)
def test_strikes_at_random_moments_change_no_table_and_no_finished_run(made, seed):
    begin_s = time.monotonic()
    assert made.run(*COMMAND).status == 0
    whole_s, wanted = time.monotonic() - begin_s, tables(made)
    assert len(wanted["runs.csv"]) == 9
    chance, done, ended, most = random.Random(seed), 0, True, 0
    while done < STRIKES_PER_SEED or not ended:
        if ended:
            subprocess.run(["rm", "-rf", "results", ".snakemake"], cwd=made.root, check=True)
        kept = finished(made)
        ended = struck(made, chance.uniform(0, whole_s) if done < STRIKES_PER_SEED else 600, chance.choice(SIGNALS))
        assert {path: digests(run_files(made)).get(path) for path in kept} == kept
        most = max(most, len(kept))
        done += not ended
        if ended:
            pd.testing.assert_frame_equal(tables(made)["runs.csv"], wanted["runs.csv"])
            assert all(frame.equals(tables(made)[name]) for name, frame in wanted.items())
    assert most > 1 or not WHOLE
