"""When a study with a `precision` decides, and how far its decisions on disk have brought it."""

from pathlib import Path

import pytest

from scripts.lib.json_record import write
from scripts.lib.vocabulary import Decision
from scripts.study.plan import precision_rule
from tests.made.studies import paths


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def asked(**changes):
    return paths(**{"repetitions": 8, "precision": "2 %", "at_most": "20 min", **changes})


def decide(made, repetition, decision):
    write(Path(made.decision(repetition)), {"decision": decision})


def repetitions(made):
    return max(block.key.repetition for block in made.blocks)


def test_without_a_precision_the_number_of_blocks_is_fixed():
    made = paths(repetitions=8)
    assert (repetitions(made), made.is_undecided, len(made.to_measure)) == (8, False, 16)


def test_at_first_five_repetitions_are_certain_and_all_may_be_measured():
    made = asked()
    assert (repetitions(made), made.is_undecided, len(made.to_measure)) == (5, True, 16)


def test_each_decision_leads_to_the_next():
    decide(asked(), 5, Decision.ANOTHER)
    assert (repetitions(asked()), asked().is_undecided) == (6, True)
    decide(asked(), 6, Decision.ANOTHER)
    decide(asked(), 7, Decision.TIME_IS_UP)
    assert (repetitions(asked()), asked().is_undecided) == (7, False)


def test_after_the_last_repetition_nothing_is_decided():
    for repetition in (5, 6, 7):
        decide(asked(), repetition, Decision.ANOTHER)
    assert (repetitions(asked()), asked().is_undecided) == (8, False)


def test_decisions_are_of_their_precision_time_and_blocks():
    decide(asked(), 5, Decision.ENOUGH)
    assert not asked().is_undecided
    others = [asked(precision="1 %"), asked(at_most="2 h"), asked(measure_s=9)]
    assert all(made.is_undecided for made in others)
    assert not asked(title="Another", matters=0.05).is_undecided
    assert not asked(repetitions=30).is_undecided


def test_a_decision_is_kept_when_blocks_of_later_repetitions_change():
    assert asked().decision(5) == asked(repetitions=20).decision(5) != asked().decision(6)


def test_names_in_a_path_make_the_path():
    path = asked().decision(5)
    assert path.endswith("/decisions/{repetition}-{digest}.json".format(**precision_rule.names_in(path)))
