"""A study of real servers is struck in every phase of a block: nothing is left, the same command goes on."""

import os
import subprocess
import sys
import time

import pytest

from scripts.lib import json_record
from scripts.lib.host import locks
from scripts.lib.json_record import file_sha256
from tests.endtoend import installed_mariadb, installed_postgresql
from tests.faults.interrupting import ARMS, REPORT, TABLE, wait_until
from tests.faults.means import HARD, MEANS, death_of
from tests.faults.phases import MEASURE, PHASES, REPORTING, TURNS, WARM_UP
from tests.faults.scale import WHOLE

MISSING = installed_mariadb.missing() or installed_postgresql.missing()
pytestmark = [pytest.mark.real, pytest.mark.skipif(bool(MISSING), reason=MISSING or "-")]
CASES = [(phase, means) for phase in PHASES for means in MEANS]
SHORT = {
    ("measure", "kill -9 the job"),
    ("stop", "SIGTERM to Snakemake"),
}
IN_TURNS = [(phase, means) for phase in TURNS for means in HARD]
REPORTED = [(phase, means) for phase in REPORTING for means in MEANS]
RESULTS = [(phase, program) for phase in (WARM_UP, MEASURE) for program in ("mariadbd", "sysbench")]


def named(value):
    return value if isinstance(value, str) else value.name


def demand_that_the_same_command_goes_on(fresh, phase, means):
    kept = fresh.digests()
    assert len(fresh.blocks()) == 1
    fresh.strike(TABLE, phase, MEANS[means])
    # Snakemake lets a running job end at SIGTERM; what it made is whole.
    remade = 0 if means == "SIGTERM to Snakemake" else 1
    assert len(fresh.blocks()) == 2 - remade, fresh.said()
    kept |= fresh.digests()
    answer = fresh.finish(TABLE)
    assert answer.status == 0, answer.text
    assert answer.text.count("rule measure_block:") == remade
    assert {path: fresh.digests()[path] for path in kept} == kept
    assert sorted(fresh.struck_arms()) == sorted(ARMS)


@pytest.mark.parametrize(
    ("phase", "means"), [case for case in CASES if WHOLE or (case[0].name, case[1]) in SHORT], ids=named
)
def test_interrupted_block_leaves_nothing_and_the_same_command_goes_on(fresh, phase, means):
    demand_that_the_same_command_goes_on(fresh, phase, means)


@pytest.mark.skipif(not WHOLE, reason="long: make faults tries it")
@pytest.mark.parametrize(("phase", "means"), IN_TURNS, ids=named)
def test_interrupted_block_in_turns_leaves_nothing_and_the_same_command_goes_on(fresh_in_turns, phase, means):
    demand_that_the_same_command_goes_on(fresh_in_turns, phase, means)


@pytest.fixture(scope="module")
def reported(struck):
    """The study with its report."""
    answer = struck.finish(REPORT)
    assert answer.status == 0, answer.text
    return struck


@pytest.mark.parametrize(("phase", "means"), REPORTED if WHOLE else REPORTED[-2:-1], ids=named)
def test_interrupted_report_ends_in_the_bytes_of_an_undisturbed_one(reported, phase, means):
    wanted, kept = reported.forget_report(), reported.digests()
    reported.strike(REPORT, phase, MEANS[means])
    answer = reported.finish(REPORT)
    assert answer.status == 0, answer.text
    assert "rule measure_block:" not in answer.text
    assert {path: file_sha256(path) for path in wanted} == wanted
    assert reported.digests() == kept


@pytest.mark.parametrize(("phase", "program"), RESULTS if WHOLE else RESULTS[-1:], ids=named)
def test_death_of_servers_or_clients_is_a_result_and_leaves_nothing(fresh, phase, program):
    fresh.strike(TABLE, phase, death_of(program))
    text = fresh.struck_arms()["aa"].read_text()
    assert '"outcome": "failed"' in text
    assert program in text


def test_block_beside_another_study_waits_its_turn_and_records_the_wait(fresh):
    with locks.shared():
        snakemake = fresh.start(TABLE)
        wait_until(lambda: "waiting for this machine" in fresh.said(), seconds=60)
        time.sleep(1)
        assert fresh.struck_arms() == {}
    assert snakemake.wait(timeout=60) == 0
    (made,) = [block for block in fresh.blocks().values() if block["repetition"] == 2]
    assert made["phases_s"]["wait_lock"] > 1


@pytest.mark.skipif(not WHOLE, reason="long: make faults tries it")
def test_load_beside_a_block_is_told_at_its_arms(fresh):
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
    try:
        assert fresh.finish(TABLE).status == 0
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert "others" in {warning["code"] for warning in json_record.read(fresh.struck_arms()["aa"])["warnings"]}
