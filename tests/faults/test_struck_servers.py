"""Servers of a block are stopped while they wait: what is struck then leaves none behind, and costs its arm alone."""

import contextlib
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from scripts.lib import json_record
from tests.endtoend import installed_mariadb, installed_postgresql
from tests.endtoend.watching import is_stopped
from tests.faults.interrupting import ARMS, SERVERS, STUDY, TABLE, wait_until
from tests.faults.means import HARD
from tests.faults.phases import MEASURE
from tests.faults.scale import WHOLE, scaled

MISSING = installed_mariadb.missing() or installed_postgresql.missing()
pytestmark = [pytest.mark.real, pytest.mark.skipif(bool(MISSING), reason=MISSING or "-")]
ROUNDS_TAKE_S = 9
MARIA = STUDY["variants"]["maria"]
LATER = {**MARIA, "options": {**MARIA["options"], "table_open_cache": 500}}


def servers(study):
    """Return arm -> the main process of its server, by the log that it writes to."""
    found = {}
    for process in (each for name in SERVERS for each in study.at_work(name)):
        with contextlib.suppress(psutil.Error, FileNotFoundError):
            log = Path(f"/proc/{process.pid}/fd/1").readlink().name
            if log.endswith(".server.log") and process.parent().name() != process.name():
                found[log.split(".")[1]] = process
    return found


@contextlib.contextmanager
def held(study, condition: Callable[[dict[str, psutil.Process]], bool]) -> Iterator[dict[str, psutil.Process]]:
    """Hold the job that measures still at a moment when its servers meet a condition; yields them by arm."""
    (job,) = study.jobs()
    arms = wait_until(lambda: len(found := servers(study)) == len(ARMS) and found, seconds=10)
    chance = random.Random(1)

    def caught() -> bool:
        job.suspend()
        if condition(arms):
            return True
        job.resume()
        time.sleep(chance.uniform(0, 0.03))
        return False

    wait_until(caught, seconds=60, rest_s=0)
    try:
        yield arms
    finally:
        with contextlib.suppress(psutil.NoSuchProcess):
            job.resume()


def test_job_killed_while_all_servers_are_stopped_leaves_none_behind(fresh):
    kept, seen = fresh.digests(), []

    def kill_in_the_pause(study, _snakemake):
        with held(study, lambda arms: all(map(is_stopped, arms.values()))) as arms:
            seen.extend(process.name() for process in arms.values())
            for job in study.jobs():
                job.kill()

    fresh.strike(TABLE, MEASURE, kill_in_the_pause)
    assert sorted(seen) == ["mariadbd", "mariadbd", "postgres"]
    assert len(fresh.blocks()) == 1
    answer = fresh.finish(TABLE)
    assert answer.status == 0, answer.text
    assert answer.text.count("rule measure_block:") == 1
    assert {path: fresh.digests()[path] for path in kept} == kept


def main_process(process):
    return process


def client_process(process):
    """Return the process of PostgreSQL that serves one client."""
    return next(child for child in process.children() if "sbtest" in " ".join(child.cmdline()))


DEATHS = [
    ("aa", "waiting", main_process),
    ("aa", "open", main_process),
    ("postgres", "waiting", main_process),
    ("postgres", "open", main_process),
    ("postgres", "waiting", client_process),
]


@pytest.mark.parametrize(("arm", "state", "victim"), DEATHS if WHOLE else [DEATHS[2]])
def test_death_of_one_server_costs_its_arm_alone(fresh, arm, state, victim):
    def kill_it(study, _snakemake):
        with held(study, lambda arms: is_stopped(arms[arm]) == (state == "waiting")) as arms:
            victim(arms[arm]).kill()

    begin_s = time.monotonic()
    fresh.strike(TABLE, MEASURE, kill_it)
    outcomes = {name: json_record.read(path) for name, path in fresh.struck_arms().items()}
    assert {name: facts["outcome"] for name, facts in outcomes.items()} == {
        name: "failed" if name == arm else "ok" for name in ARMS
    }, fresh.said()
    program = "mariadbd" if arm == "aa" else "postgres"
    named = f"{program} died with status -9" if victim is main_process else "clients"
    assert named in outcomes[arm]["reason"]
    # Nobody waits for clients that never come back.
    assert time.monotonic() - begin_s < 100
    assert fresh.finish(TABLE).text.count("rule measure_block:") == 0


@pytest.mark.skipif(not WHOLE, reason="long: make faults tries it")
@pytest.mark.parametrize("number", range(scaled(whole=15, short=0)))
def test_block_struck_at_a_random_moment_leaves_nothing(fresh, number):
    chance = random.Random(number)
    means = chance.choice(list(HARD.values()))

    def strike_later(study, snakemake):
        time.sleep(chance.uniform(0, ROUNDS_TAKE_S))
        means(study, snakemake)

    kept = fresh.digests()
    fresh.strike(TABLE, MEASURE, strike_later)
    assert len(fresh.blocks()) == 1
    assert fresh.digests() == kept


@pytest.fixture
def topped_up(struck):
    """The finished study with one more variant, whose blocks are to be measured beside reference and A/A."""
    for table in struck.files("studies/struck/tables/*"):
        table.unlink()
    answer = struck.finish(TABLE)  # an earlier test may have left a repetition to measure
    assert answer.status == 0, answer.text
    struck.configure({**STUDY, "variants": {**STUDY["variants"], "more": LATER}})
    before = set(struck.blocks())
    yield struck
    for block in set(struck.blocks()) - before:
        for file in block.parent.iterdir():
            file.unlink()
        block.parent.rmdir()
    struck.configure(STUDY)
    answer = struck.finish(TABLE)
    assert answer.status == 0, answer.text


@pytest.mark.skipif(not WHOLE, reason="long: make faults tries it")
@pytest.mark.parametrize("means", HARD)
def test_struck_top_up_measures_what_is_missing_and_nothing_else(topped_up, means):
    kept = topped_up.digests()
    topped_up.strike(TABLE, MEASURE, HARD[means])
    # The first repetition was topped up when the second one was struck.
    assert len(topped_up.blocks()) == 3, topped_up.said()
    kept |= topped_up.digests()
    answer = topped_up.finish(TABLE)
    assert answer.status == 0, answer.text
    assert answer.text.count("rule measure_block:") == 1
    assert {path: topped_up.digests()[path] for path in kept} == kept
    added = [made["arms"].keys() for made in topped_up.blocks().values() if "more" in made["arms"]]
    assert added == [{"maria", "aa", "more"}] * 2
    assert "Nothing to be done" in topped_up.finish(TABLE).text
