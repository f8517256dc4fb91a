"""Diagnoses in the workflow: after every measured run, alone on the machine, redone when asked for otherwise."""

import re

import pytest

from tests.workflow.stubbed import STUDY, copied

pytestmark = pytest.mark.slow

ASKED = {"workloads": ["oltp"], "variants": ["baseline", "pgo"], "tools": ["perf", "waits"], "seconds": 3}
SMALL = {
    "workloads": {"oltp": None},
    "repetitions": 1,
    "variants": {name: STUDY["variants"][name] for name in ("baseline", "pgo")},
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A study that looks into two variants, brought to its report on two cores."""
    made = copied(tmp_path_factory.mktemp("diagnosed-study"))
    made.configure(**SMALL, diagnose=ASKED)
    answer = made.run("--cores", "2", "results/report.html")
    assert answer.status == 0, answer.text
    return made


@pytest.fixture
def study(finished):
    """The finished study, to be edited: its config is put back afterwards."""
    yield finished
    finished.configure(**SMALL, diagnose=ASKED)


def test_every_diagnosis_comes_after_all_runs_and_runs_alone(finished):
    events = finished.events()
    looks = [event for event in events if event.module == "diagnose_run"]
    runs = [event for event in events if event.module == "measure_block"]
    assert (len(looks), len(runs)) == (4, 1)
    assert min(look.begin_s for look in looks) > max(run.end_s for run in runs)
    beside = [
        event.words
        for look in looks
        for event in events
        if event is not look and event.begin_s < look.end_s and look.begin_s < event.end_s
    ]
    assert beside == []


def test_what_they_found_stands_in_the_report(finished):
    page = (finished.root / "results" / "report.html").read_text()
    assert 'id="diagnosis"' in page
    assert "flame graph of pgo" in page


def test_finished_study_is_planned_as_finished(finished):
    assert finished.plan().jobs == {}


@pytest.mark.parametrize(
    ("change", "made"),
    [
        ({"seconds": 4}, 4),
        ({"tools": ["perf", "waits", "fsyncs"]}, 2),
        ({"clients": [8, 2]}, 4),
        ({"variants": ["pgo"]}, 0),
    ],
)
def test_another_way_of_looking_runs_nothing_but_itself_and_the_report(study, change, made):
    study.configure(**SMALL, diagnose={**ASKED, **change})
    answer = study.plan()
    assert answer.costly == ({"diagnose_run": made} if made else {})
    assert "render_report" in answer.jobs
    planned = re.search(r"^  diagnose +(\d+) of", answer.text, re.M)
    assert (int(planned[1]) if planned else 0) == made


def test_a_study_that_is_measured_already_may_be_looked_into_later(study):
    study.configure(**SMALL)
    assert study.plan().costly == {}
    study.configure(**SMALL, diagnose={**ASKED, "tools": ["syscalls"]})
    assert study.plan().costly == {"diagnose_run": 2}
