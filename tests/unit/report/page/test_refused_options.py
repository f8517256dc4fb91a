"""A variant whose server refuses an option: one reason, told once, and advice that fits."""

import pytest

from scripts.lib.vocabulary import FailureKind
from tests.made import refused
from tests.made.rendering import Elements, answer_of, findings_of, worded

DOES_NOT_START = "typo: the server does not start: unrecognized configuration parameter work_memm"


@pytest.fixture(scope="module")
def misspelt(tmp_path_factory):
    return worded(refused.PLAN, tmp_path_factory.mktemp("typo"), made=refused.runs())


def doubts_of(page):
    return Elements(page.partition('class="doubts">')[2].partition("</p>")[0]).said()


def test_headline_says_what_the_server_said(misspelt):
    tree, page, summary = misspelt
    assert answer_of(tree, "typo").headline == f"{DOES_NOT_START}."
    answer = page.partition('class="headline">')[2].partition("<")[0]
    assert answer.startswith("Faster: pgo ")
    assert answer.endswith(f"{DOES_NOT_START}.")
    assert DOES_NOT_START in summary.replace("\\", "")


def test_first_screen_has_one_line_about_ten_equal_failures_with_advice_that_fits(misspelt):
    told = doubts_of(misspelt[1])
    assert told.count("typo:") == 1
    assert "typo: All 10 runs failed in this way. Correct the option in the study" in told
    assert "other reason" not in told
    assert "pgobench-" not in told


def test_findings_name_the_failures_once_and_offer_no_remedy_that_fails_again(misspelt):
    found = findings_of(misspelt[0])
    (line,) = found["runs"].details
    every = "8 clients, repetitions 1, 2, 3, 4 and 5"
    assert line.startswith(f"typo, simple_select, {every}; oltp, {every}: 10 runs failed, postgres did not start")
    assert "Correct the option in the study" in found["runs"].remedy
    assert found["blocks"].remedy == "Intervals are wider without these runs. See Runs."


def test_cells_of_the_table_hint_at_the_reason_once(misspelt):
    holes = [
        fields["title"]
        for tag, fields in Elements(misspelt[1]).found
        if fields.get("class") == "hole" and "title" in fields
    ]
    assert holes
    assert all(hint.count("did not start") == 1 for hint in holes if "did not start" in hint)


def test_records_without_a_kind_of_failure_have_their_reason_once_and_no_false_advice(tmp_path):
    tree, page, _ = worded(refused.PLAN, tmp_path, made=refused.runs(None))
    answer = answer_of(tree, "typo")
    assert answer.headline == "typo cannot be compared with baseline: no block has both runs."
    (why,) = answer.sentences
    assert why.text.startswith("Of 10 blocks: in 10 blocks typo: postgres did not start")
    assert "other reason" not in doubts_of(page)
    found = findings_of(tree)
    assert len(found["runs"].details) == 1
    assert found["runs"].remedy.endswith("which helps once its cause is gone.")
    assert "campaign" not in found["blocks"].remedy


@pytest.mark.parametrize(
    ("kind", "told", "advice"),
    [
        (FailureKind.VALUE, "typo: the server does not take an option", "Correct the option"),
        (FailureKind.NOT_STARTED, "typo: the server does not start", "Read the reason first: `make retry`"),
    ],
)
def test_each_kind_of_failure_has_its_words_and_its_advice(tmp_path, kind, told, advice):
    tree, *_ = worded(refused.PLAN, tmp_path, made=refused.runs(kind))
    answer = answer_of(tree, "typo")
    assert answer.headline.startswith(told)
    assert advice in answer.sentences[0].text


def test_one_run_that_died_otherwise_leaves_the_variant_to_its_reasons(tmp_path):
    made = refused.runs()
    last = max(place for place, facts in enumerate(made) if facts["variant"] == "typo")
    made[last] = {**made[last], "reason": "server died with signal 11", "failure": {}}
    tree, *_ = worded(refused.PLAN, tmp_path, made=made)
    (why,) = answer_of(tree, "typo").sentences
    assert why.text.startswith("Of 10 blocks: in 9 blocks typo: postgres did not start")
    assert why.text.endswith("in 1 block typo: server died with signal 11.")
    assert "Of typo, correct the option in the study" in findings_of(tree)["runs"].remedy
