"""The phases of a run add up to the time since its process began."""

import pytest

from scripts.measure.engine import setting
from scripts.measure.engine.setting import Phases


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is told how many seconds pass; wall and monotonic time differ."""

    class Clock:
        now_s = 0.0

        def passes(self, seconds):
            self.now_s += seconds

        def monotonic(self):
            return 77.0 + self.now_s

        def time(self):
            return 1_700_000_000.0 + self.now_s

    made = Clock()
    monkeypatch.setattr(setting, "time", made)
    return made


def test_first_phase_begins_with_the_process(clock):
    watch = Phases(clock.time() - 0.5)
    clock.passes(1)
    watch.end("startup")
    assert watch.seconds == {"startup": pytest.approx(1.5)}


def test_phases_add_up_to_the_whole(clock):
    watch = Phases(clock.time())
    for name, seconds in (("startup", 1), ("clone", 2), ("start", 4)):
        clock.passes(seconds)
        watch.end(name)
    assert watch.seconds == pytest.approx({"startup": 1, "clone": 2, "start": 4})


def test_waiting_is_booked_under_its_own_name(clock):
    watch = Phases(clock.time())
    clock.passes(10)
    watch.end("startup", less_s=9.5, less_name="wait_lock")
    assert watch.seconds == pytest.approx({"startup": 0.5, "wait_lock": 9.5})


def test_phase_that_comes_again_is_added(clock):
    watch = Phases(clock.time())
    for _ in range(2):
        clock.passes(3)
        watch.end("drain")
    assert watch.seconds == pytest.approx({"drain": 6})


def test_stretch_that_was_timed_elsewhere_is_in_no_other_phase(clock):
    watch = Phases(clock.time())
    clock.passes(1)
    watch.end("clone")
    clock.passes(5)
    watch.add("drain_clone", 5)
    clock.passes(2)
    watch.end("start")
    assert watch.seconds == pytest.approx({"clone": 1, "drain_clone": 5, "start": 2})


def test_step_of_the_wall_clock_changes_nothing(clock, monkeypatch):
    watch = Phases(clock.time())
    monkeypatch.setattr(clock, "time", lambda: 0.0)
    clock.passes(2)
    watch.end("clone")
    assert watch.seconds == pytest.approx({"clone": 2})
