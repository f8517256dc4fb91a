"""Steps of servers that are up together: each returns what the next one needs; a failed arm takes no further one."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from scripts.lib.vocabulary import FailureKind
from scripts.measure.engine.group import Group
from scripts.measure.loadgen.output import SysbenchFailed
from scripts.measure.servers.server import ServerFailed

SETTINGS = {"baseline": 1, "aa": 2, "pgo": 3}


@pytest.fixture
def ended():
    """The names of the arms that were ended, in their order."""
    return []


@pytest.fixture
def group(ended):
    with ExitStack() as outer, ThreadPoolExecutor(len(SETTINGS)) as threads:
        stacks = {arm: outer.enter_context(ExitStack()) for arm in SETTINGS}
        for arm, stack in stacks.items():
            stack.callback(ended.append, arm)
        yield Group(stacks, threads)


def failing(which, failure):
    def step(arm, state):
        if arm == which:
            raise failure
        return state * 10

    return step


@pytest.mark.parametrize("way", ["together", "in_turn"])
@pytest.mark.parametrize("failure", [ServerFailed("died"), SysbenchFailed("refused")])
def test_arm_that_fails_is_ended_at_once_and_the_others_go_on(group, ended, way, failure):
    take = getattr(group, way)
    states = take(failing("aa", failure), SETTINGS)
    assert states == {"baseline": 10, "pgo": 30}
    assert (group.failures, ended) == ({"aa": failure}, ["aa"])
    assert take(lambda arm, state: state + 1, states) == {"baseline": 11, "pgo": 31}
    assert take(lambda arm, state: state, SETTINGS) == {"baseline": 1, "pgo": 3}


@pytest.mark.parametrize("way", ["together", "in_turn"])
@pytest.mark.parametrize("failure", [ServerFailed("no room", FailureKind.FULL_DISK), ValueError("the recipe is wrong")])
def test_failure_of_the_host_or_of_us_is_no_failure_of_an_arm(group, way, failure):
    with pytest.raises(type(failure)):
        getattr(group, way)(failing("aa", failure), SETTINGS)
    assert group.failures == {}


def test_step_that_returns_nothing_leaves_its_arm_sound(group):
    assert group.in_turn(lambda arm, state: None, SETTINGS) == dict.fromkeys(SETTINGS)
    assert group.sound(SETTINGS) == SETTINGS
