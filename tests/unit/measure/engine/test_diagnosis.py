"""Waits between two looks: timed ones are subtracted, sampled ones counted and weighed with the time between looks."""

import time
from types import SimpleNamespace

import pytest

from scripts.measure.engine.diagnosis import Waits, wait_difference
from scripts.measure.engine.tracer import ToolFailed

LOG, LOCK = ("connections", "log"), ("connections", "lock")


class Connection:
    def __init__(self):
        self.closed = False

    def close(self):
        self.closed = True


class Server:
    """Stands for a server: `read` gives what its waits are at a look."""

    def __init__(self, read, *, sampled):
        self.connection = Connection()
        self.family = SimpleNamespace(WAITS_SAMPLED=sampled, read_waits=lambda connection: read())

    def connect(self):
        return self.connection


def looked(server, seconds=0.0):
    waits = Waits()
    try:
        waits.begin(server)
        time.sleep(seconds)
        waits.end()
        return waits.facts()
    finally:
        waits.close()


def test_difference_leaves_out_what_did_not_happen_in_between():
    before = {LOG: (10, 1.0), LOCK: (5, 2.0)}
    after = {LOG: (30, 4.0), LOCK: (5, 2.0), ("background", "io"): (1, 0.5)}
    assert wait_difference(before, after) == {LOG: (20, 3.0), ("background", "io"): (1, 0.5)}


def test_waits_of_threads_that_ended_are_left_out_and_never_negative():
    assert wait_difference({LOG: (10, 5.0)}, {LOG: (4, 1.0)}) == {}


def test_timed_waits_stand_with_the_longest_first():
    looks = iter([{LOG: (0, 0.0)}, {LOG: (8, 0.5), LOCK: (2, 3.0)}])
    server = Server(lambda: next(looks), sampled=False)
    facts = looked(server)
    assert facts["samples"] is None
    assert [(row["event"], row["count"], row["seconds"]) for row in facts["waits"]] == [
        ("lock", 2, 3.0),
        ("log", 8, 0.5),
    ]
    assert server.connection.closed


def test_sampled_waits_add_up_to_the_time_looked_at():
    facts = looked(Server(lambda: {LOG: (2.0, 2.0), LOCK: (1.0, 1.0)}, sampled=True), 0.4)
    (log, lock) = facts["waits"]
    assert facts["samples"] >= 2
    assert (log["count"], lock["count"]) == (2 * facts["samples"], facts["samples"])
    assert log["seconds"] == pytest.approx(2 * lock["seconds"], rel=1e-3)
    assert 0.3 < lock["seconds"] < 2


def test_connection_is_closed_before_the_server_stops_and_a_lost_one_is_left_alone():
    looks = iter([{}, {LOG: (1.0, 1.0)}])
    server, waits = Server(lambda: next(looks), sampled=False), Waits()
    waits.begin(server)
    waits.end()
    assert server.connection.closed
    lost = Waits()
    lost.begin(Server(dict, sampled=False))
    lost.connection.close = lambda: 1 / 0
    lost.close()


def test_a_look_that_fails_is_raised_where_looking_ends():
    def broken():
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        looked(Server(broken, sampled=True), 0.2)


def test_a_server_without_any_wait_says_so():
    with pytest.raises(ToolFailed, match="no wait"):
        looked(Server(dict, sampled=False))
