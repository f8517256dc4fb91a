"""A study of stubs with a `precision` stops after the repetition that reaches it, and goes on when more is asked for.

The stubs' only noise is a tenth of a per cent of A/A, so the half widths are 0.056 % after five repetitions, 0.048 %
after six and 0.040 % after seven.
"""

import json
import re

import pytest

from tests.workflow.stubbed import copied

pytestmark = pytest.mark.slow
REPORT = "results/report.html"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    made = copied(tmp_path_factory.mktemp("stopping"))
    made.configure(repetitions=9, precision="0.06 %", at_most="20 min")
    answer = made.run("--cores", "2", REPORT)
    assert answer.status == 0, answer.text
    return made


def described(study):
    return json.loads((study.root / "results" / "studies" / "default" / "study.json").read_text())


def page(study):
    return re.sub(r"[\u00a0\u202f]", " ", (study.root / REPORT).read_text())


def measured(study):
    return sum(event.module == "measure_block" for event in study.events())


def test_it_stops_when_it_is_precise_enough_and_asked_for_more_it_goes_on(study):
    assert (described(study)["repetitions"], measured(study)) == (5, 10)
    assert "Measuring stopped after 5 of at most 9 repetitions: the widest interval (±0.1 %) was within" in page(study)
    assert "Nothing to be done" in study.plan().text

    study.configure(repetitions=9, precision="0.056 %", at_most="20 min")
    planned = study.plan()
    assert "stops     after 5 to 9 repetitions" in planned.text
    assert (planned.costly, planned.jobs["decide_repetition"]) == ({}, 1)
    answer = study.run("--cores", "2", REPORT)
    assert (answer.status, described(study)["repetitions"], measured(study)) == (0, 7, 14), answer.text
    assert "reported before with 5 repetitions" in page(study)
    assert "so all intervals are 25 % wider" in page(study)
    assert "Nothing to be done" in study.plan().text

    # What is measured is kept: the decision starts after the seventh repetition.
    study.configure(repetitions=9, precision="0.06 %", at_most="20 min")
    answer = study.run("--cores", "2", REPORT)
    assert (answer.status, described(study)["repetitions"], measured(study)) == (0, 7, 14), answer.text

    study.configure(repetitions=8, precision="0.001 %", at_most="20 min")
    answer = study.run("--cores", "2", REPORT)
    assert (answer.status, described(study)["repetitions"], measured(study)) == (0, 8, 16), answer.text
    assert "All 8 repetitions were measured without the widest interval within ±0.001 %" in page(study)

    # Without it the number is fixed again.
    study.configure(repetitions=9)
    answer = study.run("--cores", "2", REPORT)
    assert (answer.status, described(study)["repetitions"], measured(study)) == (0, 9, 18), answer.text
    assert "Measuring stopped" not in page(study)
