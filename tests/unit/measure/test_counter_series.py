"""Counters are read when a second of a server's open time is complete, and kept as columns."""

from scripts.measure.counter_series import CounterSeries


def test_a_reading_per_second_of_open_time_after_the_slice_that_completes_it():
    series, read = CounterSeries(), iter([{"a": 1}, {"a": 2, "b": 5}])
    after_slice = series.after_slice_of(lambda: next(read))
    for milliseconds in (400, 400, 400, 400, 300, 400):
        after_slice(milliseconds * 10**6)
    assert series.columns() == {"second": [1.2, 2.3], "a": [1, 2], "b": [None, 5]}


def test_a_long_slice_has_one_reading():
    series = CounterSeries()
    series.after_slice_of(lambda: {"a": 1})(5 * 10**9)
    assert series.columns() == {"second": [5.0], "a": [1]}


def test_without_readings_there_are_no_columns():
    assert CounterSeries().columns() == {}
