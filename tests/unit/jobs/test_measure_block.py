"""The job that measures a block reports the time left from the times of that block."""

import pytest

from scripts.jobs import measure_block
from scripts.measure.record import Run


def run(number, began_s, ended_s):
    return Run.of({"run_number": number, "runs_total": 25, "times": {"started_at": began_s, "ended_at": ended_s}})


def test_time_left_has_the_pace_of_the_block_side_by_side_and_by_turns():
    together = [run(number, 100.0, 150.0) for number in range(1, 6)]
    assert measure_block.measuring_left_s(together) == pytest.approx(20 * 10)
    by_turns = [run(number, 100.0 + 44 * number, 144.0 + 44 * number) for number in range(1, 6)]
    assert measure_block.measuring_left_s(by_turns) == pytest.approx(20 * 44)


def test_no_time_is_left_after_the_last_block():
    assert measure_block.measuring_left_s([run(24, 0.0, 9.0), run(25, 0.0, 9.0)]) == 0
