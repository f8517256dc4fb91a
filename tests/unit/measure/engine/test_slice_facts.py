"""What the slices of all arms of a block show together."""

import random

import numpy as np
import pytest

from scripts.measure.engine import slice_facts
from scripts.measure.engine.warnings import drift


def test_state_of_the_machine_is_not_in_the_throughput_beside_the_others():
    draw = random.Random(1)
    machine = [draw.uniform(0.2, 1.0) for _ in range(40)]
    tps = [[1000 * share, 1300 * share] for share in machine]
    beside = slice_facts.beside_others(tps)
    assert beside[:, 1] / beside[:, 0] == pytest.approx(np.full(40, 1.3))
    assert drift(beside[:, 0].tolist())[0] == pytest.approx(0)


def test_arm_that_slows_down_alone_drifts_beside_the_others():
    tps = [[1000.0, 1000 - 10 * number, 1000.0] for number in range(40)]
    moved = [drift(column)[0] for column in slice_facts.beside_others(tps).T.tolist()]
    assert moved[1] == pytest.approx(-0.32, abs=0.03)
    assert moved[0] == moved[2] == pytest.approx(0.16, abs=0.03)


def test_round_in_which_an_arm_completed_nothing_is_left_out():
    assert slice_facts.beside_others([[10, 20], [0, 20], [10, 20]]).shape == (2, 2)
