"""The job that measures a block counts what is to be measured, and tells the time left from what that block worked."""

import pytest

from scripts.jobs import measure_block
from scripts.lib import json_record
from scripts.measure.engine import planned
from scripts.measure.engine.planned import PlaceInPlan
from scripts.measure.engine.run_facts import line
from scripts.measure.engine.run_record import Run


def run(worked_s, waited_s=0.0):
    return Run.of({"phases_s": {"wait_lock": waited_s, "measure": worked_s}})


def block(folder, arms, levels=()):
    return {"folder": folder, "levels": list(levels), "arms": [{"name": str(number)} for number in range(arms)]}


@pytest.fixture
def plan(tmp_path):
    """A plan of four blocks, of which the middle ones share the starts of their servers."""
    ladder = ("b/1", "b/8")
    made = [block("a", 4), block("b/1", 3, ladder), block("b/8", 3, ladder), block("c", 2)]
    planned.write(tmp_path / "plan.json", [], made, None)
    return tmp_path / "plan.json"


def test_runs_are_counted_among_those_that_the_plan_measures(plan):
    assert [planned.place(plan, folder) for folder in ("a", "b/8", "c")] == [
        PlaceInPlan(0, 12),
        PlaceInPlan(4, 12),
        PlaceInPlan(10, 12),
    ]
    assert len(json_record.read(plan)["blocks"]) == 4


def test_time_left_is_that_of_the_runs_to_measure_at_the_pace_without_waiting():
    waited = [run(8.0, waited_s=100.0) for _ in range(3)]
    assert measure_block.measuring_left_s(waited, PlaceInPlan(27, 63)) == pytest.approx(33 * 8)


def test_runs_that_exist_are_not_due_however_high_the_number_of_a_run(plan):
    numbered = [Run.of({"run_number": 61, "runs_total": 70, "phases_s": {"measure": 8.0}}) for _ in range(4)]
    assert measure_block.measuring_left_s(numbered, planned.place(plan, "a")) == pytest.approx(8 * 8)


def test_no_time_is_left_after_the_last_block(plan):
    assert measure_block.measuring_left_s([run(9.0), run(9.0)], planned.place(plan, "c")) == 0


def test_line_about_a_run_has_its_place_among_those_to_measure():
    failed = Run.of({"run_number": 61, "runs_total": 70, "variant": "pgo", "workload": "oltp", "clients": 8,
                     "repetition": 5, "outcome": "failed", "reason": "server died\nwith signal 11"})  # fmt: skip
    assert line(failed, 3, 30) == "[run 3 of 30] pgo oltp 8 clients repetition 5: FAILED, server died"
