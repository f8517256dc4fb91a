"""A finished study of real servers, side by side and by turns, of which one block is struck again and again."""

import pytest

from tests.endtoend.folders import open_folder
from tests.faults.interrupting import ARMS, SERVERS, STUDY, TABLE, Struck


def finished(folder, **changes):
    """Bring the study to its table."""
    made = Struck(folder)
    made.configure({**STUDY, **changes})
    answer = made.finish(TABLE)
    assert answer.status == 0, answer.text
    assert (len(made.blocks()), sorted(made.struck_arms())) == (2, sorted(ARMS))
    return made


@pytest.fixture(scope="session")
def struck():
    """The finished study, in a folder that every user can enter."""
    with open_folder("struck-") as folder:
        yield finished(folder)


@pytest.fixture(scope="session")
def struck_in_turns():
    with open_folder("struck-turns-") as folder:
        yield finished(folder, together=1, turn_s=3)


def forgetting(study):
    """Lend the study without its second block; what a struck Snakemake leaves is killed."""
    study.forget()
    yield study
    for name in (*SERVERS, "sysbench"):
        for left in study.at_work(name):
            left.kill()


@pytest.fixture
def fresh(struck):
    yield from forgetting(struck)


@pytest.fixture
def fresh_in_turns(struck_in_turns):
    yield from forgetting(struck_in_turns)
