"""Which builds a study relinks: its reference alone, and no recipe knows of it."""

from scripts.lib import json_record
from scripts.study.plan import relink_choice
from tests.made.studies import SMALL, paths

VARIANTS = SMALL["variants"]
BOLTED = {"bolted": {**VARIANTS["pgo"], "build": "pgo_bolt"}}


def test_reference_is_relinked_at_least_five_times_and_once_a_repetition():
    made = paths(relinked=True)
    folder = made.build("postgresql-15", "baseline")
    assert relink_choice.wanted(made) == {folder: 5}
    assert relink_choice.wanted(paths(relinked=True, repetitions=8)) == {folder: 8}
    assert relink_choice.wanted(paths(relinked=True, repetitions=100)) == {folder: 20}


def test_reference_by_bolt_needs_relinks_of_its_input():
    made = paths(relinked=True, variants={**VARIANTS, **BOLTED}, reference="bolted")
    stage = made.plan.stages.input("pgo_bolt")
    assert relink_choice.wanted(made) == {
        made.build("postgresql-15", "pgo_bolt"): 5,
        made.build("postgresql-15", stage): 5,
    }


def test_ready_made_server_has_no_objects_to_relink():
    installed = {"own": {"server": "postgresql-installed", "build": "prebuilt"}}
    made = paths(relinked=True, variants={**VARIANTS, **installed}, reference="own")
    assert relink_choice.wanted(made) == {}
    assert not relink_choice.may_be_there(made)


def test_relinks_are_there_or_come_with_the_build(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert relink_choice.may_be_there(paths(relinked=True))
    folder = tmp_path / paths().build("postgresql-15", "baseline")
    json_record.write(folder / "identity.json", {"sha256": "a"})
    assert not relink_choice.may_be_there(paths(relinked=True))
    json_record.write(folder / "relinked.json", {"relinks": [{"number": 1, "refused": "its functions differ"}]})
    assert not relink_choice.may_be_there(paths(relinked=True))
    json_record.write(folder / "relinked.json", {"relinks": [{"number": 2, "refused": None}]})
    assert relink_choice.may_be_there(paths(relinked=True))


def test_study_that_compares_no_builds_or_wants_none_has_no_relinks():
    option = {"pgo": {**VARIANTS["baseline"], "options": {"jit": True}}}
    assert relink_choice.wanted(paths(relinked=True, variants={**VARIANTS, **option})) == {}
    assert relink_choice.wanted(paths(relinked=False)) == {}
