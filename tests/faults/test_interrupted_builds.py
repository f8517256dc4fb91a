"""PostgreSQL is fetched, compiled, trained and loaded, and struck in each phase of it; only `make faults` tries it."""

import contextlib
import shutil

import pytest

from tests.endtoend.folders import open_folder
from tests.endtoend.short_study import short
from tests.faults.interrupting import Struck
from tests.faults.means import HARD, death_of, terminate
from tests.faults.phases import BUILDING
from tests.faults.scale import WHOLE

pytestmark = [pytest.mark.real, pytest.mark.skipif(not WHOLE, reason="long: make faults tries it")]
TARGET = "results/studies/short/prepared.txt"
# The records that the jobs of these phases end with; what an earlier phase's job has made already is removed before.
ENDS_IN = {
    **dict.fromkeys(("fetch", "unpack"), "sources/*/source.json"),
    **dict.fromkeys(("configure", "compile", "compile with the profile"), "builds/*/*/identity.json"),
    **dict.fromkeys(("load", "snapshot"), "datasets/*/*/dataset.json"),
    **dict.fromkeys(("train", "pack the profile"), "profiles/*/*/profile.json"),
}
RECORDS = set(ENDS_IN.values())
# A load may come before the compile that was struck.
MADE_BEFORE = {"unpack": "sources", "load": "datasets", "snapshot": "datasets", "pack the profile": "profiles"}
DEATHS = {program: death_of(program) for program in ("postgres", "sysbench")}


@contextlib.contextmanager
def unmade():
    """Lend a study that nothing is made of yet."""
    with open_folder("struck-builds-") as folder:
        made = Struck(folder)
        made.configure(short())
        yield made


@pytest.fixture(scope="module")
def study():
    with unmade() as made:
        yield made


@pytest.fixture(scope="module")
def asked():
    with unmade() as made:
        yield made


def finished(study):
    return {path: path.read_bytes() for pattern in RECORDS for path in study.files(pattern)}


@pytest.mark.parametrize("phase", BUILDING, ids=lambda phase: phase.name)
def test_struck_in_this_phase_by_each_means_keeps_what_was_finished(study, phase):
    for means in [*HARD.values(), *(DEATHS.values() if phase.serving else ())]:
        kept = finished(study)
        study.strike(TARGET, phase, means)
        assert {path: finished(study).get(path) for path in kept} == kept


def test_same_command_goes_on_after_all_of_them_and_keeps_what_was_finished(study):
    kept, answer = finished(study), study.finish(TARGET)
    assert answer.status == 0, answer.text
    assert {path: finished(study)[path] for path in kept} == kept
    assert "Nothing to be done" in study.finish(TARGET).text


@pytest.mark.parametrize("phase", BUILDING, ids=lambda phase: phase.name)
def test_request_to_end_lets_the_job_of_this_phase_end(asked, phase):
    if phase.name in MADE_BEFORE:
        shutil.rmtree(asked.folder / "results" / MADE_BEFORE[phase.name], ignore_errors=True)
    kept, made = finished(asked), len(asked.files(ENDS_IN[phase.name]))
    asked.strike(TARGET, phase, terminate)
    assert kept.items() <= finished(asked).items()
    assert len(asked.files(ENDS_IN[phase.name])) == made + 1, asked.said()
