"""PostgreSQL is fetched, compiled, trained and loaded, and struck in each phase of it; only `make faults` tries it."""

import tempfile
from itertools import cycle
from pathlib import Path

import pytest

from tests.endtoend.short_study import short
from tests.faults.interrupting import BUILDING, MEANS, Struck
from tests.faults.scale import WHOLE

pytestmark = [pytest.mark.real, pytest.mark.skipif(not WHOLE, reason="long: make faults tries it")]
TARGET = "results/studies/short/prepared.txt"
RECORDS = (
    "sources/*/source.json",
    "builds/*/*/identity.json",
    "profiles/*/*/profile.json",
    "datasets/*/*/dataset.json",
)
# SIGTERM lets the running job end, so it strikes no phase of it.
HARD = [means for name, means in MEANS.items() if "SIGTERM" not in name]


@pytest.fixture
def study():
    with tempfile.TemporaryDirectory(prefix="struck-builds-", dir="/var/tmp") as name:
        made = Struck(Path(name))
        made.folder.chmod(0o755)
        made.configure(short())
        yield made


def finished(study):
    return {path: path.read_bytes() for pattern in RECORDS for path in study.files(pattern)}


def test_struck_in_each_phase_the_same_command_goes_on_and_keeps_what_was_finished(study):
    kept = {}
    for phase, means in zip(BUILDING, cycle(HARD), strict=False):
        study.strike(TARGET, phase, means)
        assert {path: finished(study).get(path) for path in kept} == kept, phase
        kept = finished(study)
    answer = study.finish(TARGET)
    assert answer.status == 0, answer.text
    assert {path: finished(study)[path] for path in kept} == kept
    assert "Nothing to be done" in study.finish(TARGET).text
