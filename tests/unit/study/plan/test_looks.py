"""A report with another number of repetitions of the same blocks counts as a look; other edits do not."""

from pathlib import Path

import pytest

from scripts.lib.json_record import write
from scripts.study.plan import looks, study_description
from scripts.study.plan.preview.plan_text import plan_text
from tests.made.studies import SMALL, paths


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def report(made, **more):
    """Write what a report of a study leaves, as the next command finds it."""
    facts = {"repetitions": made.plan.study.declared.repetitions, "blocks": [block.name for block in made.blocks]}
    write(Path(made.study) / "verdict.json", {**facts, **more})
    looks.keep(Path(made.study))


def earlier(made):
    return study_description.describe(made, [], made.blocks).looks


def test_more_repetitions_after_a_report_are_another_look_and_each_number_counts_once():
    report(paths(repetitions=5))
    assert earlier(paths(repetitions=5)) == []
    assert earlier(paths(repetitions=7)) == [5]
    report(paths(repetitions=7))
    report(paths(repetitions=7))
    assert earlier(paths(repetitions=7)) == [5]
    assert earlier(paths(repetitions=9)) == [5, 7]


def test_going_back_to_fewer_repetitions_keeps_the_look():
    report(paths(repetitions=5))
    report(paths(repetitions=7))
    assert earlier(paths(repetitions=5)) == [7]


def test_partial_reports_and_other_campaigns_are_no_looks():
    report(paths(repetitions=5), partial=True)
    assert earlier(paths(repetitions=7)) == []
    report(paths(repetitions=5))
    assert earlier(paths(repetitions=7, campaign=2)) == []


def test_variant_added_to_the_same_repetitions_is_no_look():
    report(paths(repetitions=5))
    more = {**SMALL["variants"], "more": SMALL["variants"]["pgo"]}
    assert earlier(paths(repetitions=5, variants=more)) == []


def test_plan_names_the_price_before_it_is_paid():
    report(paths(repetitions=5))
    assert "looks     reported before with 5 repetitions: another look, intervals 25 % wider" in plan_text(
        paths(repetitions=7), cores=1
    ).replace("\u202f", " ")
    assert "looks" not in plan_text(paths(repetitions=5), cores=1)
