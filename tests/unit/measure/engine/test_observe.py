"""Counters are read every second beside a load, on its clock, and what goes wrong there is not lost."""

import time
from itertools import pairwise

import pytest

from scripts.measure.engine import observe
from scripts.measure.engine.observe import CounterSample, sample_columns, sampled_counters

EVERY_S = 0.05


@pytest.fixture(autouse=True)
def fast(monkeypatch):
    monkeypatch.setattr(observe, "EVERY_S", EVERY_S)


def test_counters_are_read_at_every_turn_and_never_after_the_body():
    begin_s = time.monotonic()
    with sampled_counters(lambda: {"commits": 1.0}) as samples:
        time.sleep(EVERY_S * 5.5)
    known = len(samples)
    assert 3 <= known <= 5
    assert all(begin_s + EVERY_S <= sample.monotonic_s for sample in samples)
    time.sleep(EVERY_S * 2)
    assert len(samples) == known


def test_turn_that_passes_while_the_server_answers_has_no_sample():
    def slow():
        time.sleep(EVERY_S * 2.5)
        return {"commits": 1.0}

    with sampled_counters(slow) as samples:
        time.sleep(EVERY_S * 7.5)
    gaps_s = [later.monotonic_s - earlier.monotonic_s for earlier, later in pairwise(samples)]
    assert samples
    assert all(gap_s > EVERY_S * 2 for gap_s in gaps_s)


def test_nothing_is_read_unless_asked_for():
    with sampled_counters(None) as samples:
        pass
    assert samples == []


def test_error_of_a_reading_is_raised_where_the_load_ends():
    def failing():
        raise ValueError("the server said no")

    with pytest.raises(ValueError, match="the server said no"), sampled_counters(failing):
        time.sleep(EVERY_S * 2)


def test_error_of_the_load_comes_before_that_of_a_reading():
    def failing():
        raise ValueError("lost connection")

    with pytest.raises(RuntimeError, match="the load failed"), sampled_counters(failing):
        time.sleep(EVERY_S * 2)
        raise RuntimeError("the load failed")


def test_samples_stand_on_the_clock_of_the_series_and_lack_what_was_not_read():
    samples = [CounterSample(101.7, {"commits": 5.0}), CounterSample(102.7004, {"commits": 9.0, "dirty_pages": 3.0})]
    assert sample_columns(samples, 100.2) == {
        "second": [1.5, 2.5],
        "commits": [5.0, 9.0],
        "dirty_pages": [None, 3.0],
    }
    assert sample_columns([], 100.2) == {}
