"""A run of a real server is interrupted in each of its phases by each means; the same command then goes on."""

import os
import subprocess
import sys
import time

import pytest

from scripts import record
from scripts.host import locks
from scripts.record import file_sha256
from tests.endtoend import installed_mariadb, installed_postgresql
from tests.endtoend.folders import open_folder
from tests.endtoend.watching import processes
from tests.faults.interrupting import PLACES, REPORT, STUDY, TABLE, Struck, wait_until
from tests.faults.means import MEANS, death_of
from tests.faults.phases import PHASES, REPORTING
from tests.faults.scale import WHOLE

MISSING = installed_mariadb.missing() or installed_postgresql.missing()
pytestmark = [pytest.mark.real, pytest.mark.skipif(bool(MISSING), reason=MISSING or "-")]
CASES = [(phase, means) for phase in PHASES for means in MEANS]
SHORT = {
    ("clone", "kill -9 the job"),
    ("warm-up", "Ctrl-C"),
    ("measure", "SIGINT to Snakemake"),
    ("stop", "SIGTERM to Snakemake"),
}
REPORTED = [(phase, means) for phase in REPORTING for means in MEANS]
RESULTS = [(phase, program) for phase in PHASES[2:4] for program in ("mariadbd", "sysbench")]


def named(value):
    return value if isinstance(value, str) else value.name


@pytest.fixture(scope="module")
def study():
    """The finished study, in a folder that every user can enter."""
    with open_folder("struck-") as folder:
        made = Struck(folder)
        made.configure(STUDY)
        answer = made.finish(TABLE)
        assert answer.status == 0, answer.text
        assert sorted(made.runs()) == ["aa", "maria", "postgres"]
        yield made


@pytest.fixture
def fresh(study):
    """The study without the run of the reference's second time; what a struck Snakemake leaves is killed."""
    study.forget("aa")
    yield study
    for name in ("mariadbd", "sysbench", "postgres"):
        for left in processes(name, (str(study.folder), *PLACES)):
            left.kill()


@pytest.mark.parametrize(
    ("phase", "means"), [case for case in CASES if WHOLE or (case[0].name, case[1]) in SHORT], ids=named
)
def test_interrupted_run_leaves_nothing_and_the_same_command_goes_on(fresh, phase, means):
    kept = fresh.digests()
    fresh.strike(TABLE, phase, MEANS[means])
    # Snakemake lets a running job end at SIGTERM; what it made is whole.
    remade = 0 if means == "SIGTERM to Snakemake" else 1
    assert len(fresh.runs()) == 3 - remade, fresh.said()
    kept |= fresh.digests()
    answer = fresh.finish(TABLE)
    assert answer.status == 0, answer.text
    assert answer.text.count("rule measure_run:") == remade
    assert {path: fresh.digests()[path] for path in kept} == kept
    assert sorted(fresh.runs()) == ["aa", "maria", "postgres"]


@pytest.fixture(scope="module")
def reported(study):
    """The study with its report."""
    answer = study.finish(REPORT)
    assert answer.status == 0, answer.text
    return study


@pytest.mark.parametrize(("phase", "means"), REPORTED if WHOLE else REPORTED[-2:-1], ids=named)
def test_interrupted_report_ends_in_the_bytes_of_an_undisturbed_one(reported, phase, means):
    wanted, kept = reported.forget_report(), reported.digests()
    reported.strike(REPORT, phase, MEANS[means])
    answer = reported.finish(REPORT)
    assert answer.status == 0, answer.text
    assert "rule measure_run:" not in answer.text
    assert {path: file_sha256(path) for path in wanted} == wanted
    assert reported.digests() == kept


@pytest.mark.parametrize(("phase", "program"), RESULTS if WHOLE else RESULTS[-1:], ids=named)
def test_death_of_server_or_client_is_a_result_and_leaves_nothing(fresh, phase, program):
    fresh.strike(TABLE, phase, death_of(program))
    text = fresh.runs()["aa"].read_text()
    assert '"outcome": "failed"' in text
    assert program in text


def test_run_beside_another_study_waits_its_turn_and_records_the_wait(fresh):
    with locks.shared():
        snakemake = fresh.start(TABLE)
        wait_until(lambda: "waiting for this machine" in (fresh.folder / "snakemake.log").read_text(), seconds=60)
        time.sleep(1)
        assert "aa" not in fresh.runs()
    assert snakemake.wait(timeout=60) == 0
    assert record.read(fresh.runs()["aa"])["phases_s"]["wait_lock"] > 1


def test_load_beside_a_run_is_told_at_the_run(fresh):
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
    try:
        assert fresh.finish(TABLE).status == 0
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert "others" in {warning["code"] for warning in record.read(fresh.runs()["aa"])["warnings"]}
