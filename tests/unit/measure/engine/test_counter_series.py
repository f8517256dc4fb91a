"""Counters are read when a second of a server's open time is complete, and kept as columns."""

import os
import time

from scripts.lib.host import usage
from scripts.measure.engine import observe
from scripts.measure.engine.observe import CounterSeries


def columns(series):
    return observe.counter_columns(series.seconds, series.readings)


def test_a_reading_per_second_of_open_time_after_the_slice_that_completes_it():
    series, read = CounterSeries(), iter([{"a": 1}, {"a": 2, "b": 5}])
    after_slice = series.after_slice_of(lambda: next(read))
    for milliseconds in (400, 400, 400, 400, 300, 400):
        after_slice(milliseconds * 10**6)
    assert columns(series) == {"second": [1.2, 2.3], "a": [1, 2], "b": [None, 5]}


def test_interrupts_are_those_of_the_servers_own_slices(monkeypatch):
    counts = iter([1000, 1100, 5000, 5040])
    monkeypatch.setattr(usage, "interrupts", lambda: next(counts))
    series = CounterSeries()
    after_slice = series.after_slice_of(dict)
    for milliseconds in (500, 600):
        series.before_slice()
        after_slice(milliseconds * 10**6)
    assert columns(series) == {"second": [1.1], "interrupts": [140.0]}


def test_context_switches_of_the_server_and_interrupts_of_the_machine_join_its_counters():
    before = observe.with_machine({"commits": 5.0}, os.getpid())
    for _ in range(3):
        time.sleep(0.01)
    after = observe.with_machine({"commits": 6.0}, os.getpid())
    assert (after["commits"], list(after)) == (6.0, ["commits", "context_switches", "interrupts"])
    assert all(after[name] > before[name] for name in after)
    assert "interrupts" not in observe.with_switches({}, os.getpid())


def test_a_long_slice_has_one_reading():
    series = CounterSeries()
    series.after_slice_of(lambda: {"a": 1})(5 * 10**9)
    assert columns(series) == {"second": [5.0], "a": [1]}


def test_without_readings_there_are_no_columns():
    assert columns(CounterSeries()) == {}
