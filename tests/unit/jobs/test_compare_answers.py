"""Every kind of difference between two servers' answers is found, and only comparable answers are compared."""

import copy
import json
import re

import pytest

from scripts.jobs import compare_answers
from scripts.lib.host import outcome
from scripts.measure.sql import server_answers
from scripts.measure.sql.server_answers import known_outcome

ROWS = [["int 1", "str a"], ["int 2", None], ["int 3", "Decimal 1.50"]]


def answered(build, **changed):
    """Return answers as a server gives them: a query, a change, an error, a table."""
    right = {name: [[f"int {value}" for value in row] for row in rows] for name, rows in known_outcome().items()}
    made = {
        "server": "postgresql-15",
        "family": "postgresql",
        "release": "15.18",
        "build": build,
        "build_digest": f"{build:0<12.12}",
        "recipe": 1,
        "statements_sha256": "ab" * 32,
        "answers": [
            {"number": 1, "topic": "sorting", "statement": "SELECT 1", "rows": ROWS, "changed": None, "error": None},
            {"number": 3, "topic": "updates", "statement": "UPDATE t", "rows": None, "changed": 7, "error": None},
            {
                "number": 4,
                "topic": "keys",
                "statement": "INSERT",
                "rows": None,
                "changed": None,
                "error": "SQLSTATE 23505",
            },
        ],
        "skipped": [2],
        "tables": [{"table": "items", "rows": 9, "sha256": "cd" * 32, "server_checksum": "int 5"}],
        "concurrency": {"scans": 80, **right},
    }
    return copy.deepcopy({**made, **changed})


def compared(tmp_path, given, expected, may_fail=False):
    """Run the entry script's main on two files; returns the record."""
    for name, one in (("given", given), ("expected", expected)):
        server_answers.write_answers(tmp_path / f"{name}.json.gz", one)
    files = (tmp_path / "given.json.gz", tmp_path / "expected.json.gz", tmp_path / "check.json", tmp_path / "log")
    compare_answers.main(*files, may_fail=may_fail)
    return json.loads((tmp_path / "check.json").read_text())


def test_identical_answers_pass_and_are_counted(tmp_path):
    facts = compared(tmp_path, answered("pgo"), answered("baseline"))
    assert (facts["build"], facts["reference_build"], facts["is_check_reference"]) == ("pgo", "baseline", False)
    assert (facts["statements"], facts["skipped"], facts["answered_identically"]) == (4, 1, 3)
    assert (facts["tables_checksummed"], facts["differences"]) == (1, [])


def test_build_compared_with_itself_is_recorded_as_the_check_reference(tmp_path):
    assert compared(tmp_path, answered("baseline"), answered("baseline"))["is_check_reference"] is True


def changed_answer(number, **changed):
    one = answered("pgo")
    one["answers"][number].update(changed)
    return one


DIFFERENT = {
    "value": (changed_answer(0, rows=[ROWS[0], ["int 2", "str b"], ROWS[2]]), "statement 1 (sorting): SELECT 1"),
    "scale": (changed_answer(0, rows=[*ROWS[:2], ["int 3", "Decimal 1.5"]]), "statement 1 (sorting)"),
    "type": (changed_answer(0, rows=[["str 1", "str a"], *ROWS[1:]]), "statement 1 (sorting)"),
    "order": (changed_answer(0, rows=[ROWS[1], ROWS[0], ROWS[2]]), "statement 1 (sorting)"),
    "missing row": (changed_answer(0, rows=ROWS[:2]), "statement 1 (sorting)"),
    "one more row": (changed_answer(0, rows=[*ROWS, ROWS[0]]), "statement 1 (sorting)"),
    "error instead of rows": (changed_answer(0, rows=None, error="SQLSTATE XX000"), "statement 1 (sorting)"),
    "rows changed": (changed_answer(1, changed=8), "statement 3 (updates): UPDATE t"),
    "error code": (changed_answer(2, error="SQLSTATE 23503"), "statement 4 (keys): INSERT"),
    "no error": (changed_answer(2, error=None, changed=1), "statement 4 (keys): INSERT"),
    "missing answer": (answered("pgo", answers=answered("pgo")["answers"][:2], skipped=[2, 4]), "statement 4 (keys)"),
    "table content": (
        answered("pgo", tables=[{"table": "items", "rows": 9, "sha256": "ee" * 32, "server_checksum": "int 5"}]),
        "content of table items",
    ),
    "server's checksum": (
        answered("pgo", tables=[{"table": "items", "rows": 9, "sha256": "cd" * 32, "server_checksum": "int 6"}]),
        "content of table items",
    ),
    "missing table": (answered("pgo", tables=[]), "content of table items"),
}


@pytest.mark.parametrize("kind", DIFFERENT)
def test_difference_is_found_and_named_and_nothing_is_written(tmp_path, kind):
    given, named = DIFFERENT[kind]
    with pytest.raises(ValueError, match=re.escape(named)) as raised:
        compared(tmp_path, given, answered("baseline"))
    assert "build pgo" in str(raised.value)
    assert "differently from baseline" in str(raised.value)
    assert not (tmp_path / "check.json").exists()
    assert any(named in one["asked"] for one in json.loads((tmp_path / "log").read_text()))


def test_message_shows_the_row_that_differs_with_both_answers(tmp_path):
    with pytest.raises(ValueError, match="SELECT 1") as raised:
        compared(tmp_path, DIFFERENT["value"][0], answered("baseline"))
    assert 'answer:    {"row":2,"values":["int 2","str b"]}' in str(raised.value)
    assert 'reference: {"row":2,"values":["int 2",null]}' in str(raised.value)


def test_message_shows_the_first_ten_and_counts_the_rest(tmp_path):
    template = answered("pgo")["answers"][0]
    right = [{**template, "number": number} for number in range(1, 26)]
    wrong = [{**one, "rows": [["int 0"]]} for one in right]
    with pytest.raises(ValueError, match="answers 25 of 32 questions") as raised:
        compared(tmp_path, answered("pgo", answers=wrong), answered("baseline", answers=right))
    assert str(raised.value).count("\n- ") == 10
    assert "… and 15 more" in str(raised.value)
    assert len(json.loads((tmp_path / "log").read_text())) == 25


def test_wrong_outcome_of_concurrency_fails_even_where_the_reference_has_the_same(tmp_path):
    torn = answered("x")["concurrency"] | {"scanned": [["int 2000", "int 1999999"]]}
    with pytest.raises(ValueError, match="outcome of concurrency: scanned"):
        compared(tmp_path, answered("pgo", concurrency=torn), answered("baseline", concurrency=torn))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("server", "postgresql-16"),
        ("release", "15.17"),
        ("family", "mysql"),
        ("statements_sha256", "00" * 32),
        ("recipe", 2),
    ],
)
def test_answers_of_another_server_release_or_statements_are_not_compared(tmp_path, key, value):
    with pytest.raises(ValueError, match=f"{key} is .*only builds of one server") as raised:
        compared(tmp_path, answered("pgo"), answered("baseline", **{key: value}))
    assert repr(value) in str(raised.value)
    assert not (tmp_path / "check.json").exists()


def test_wrong_answers_of_a_build_that_may_fail_are_a_failed_check_with_the_story(tmp_path):
    given, named = DIFFERENT["value"]
    check = compared(tmp_path, given, answered("baseline"), may_fail=True)
    assert (check["outcome"], check["answered_identically"], len(check["differences"])) == ("failed", 2, 1)
    assert named in check["reason"]


@pytest.mark.parametrize("place", [0, 1], ids=["build", "reference"])
def test_answers_that_were_never_given_fail_the_check(tmp_path, place):
    lost = {**{key: answered("pgo")[key] for key in ("server", "release", "build")}, **outcome.failure_facts("it died")}
    pair = [answered("pgo"), answered("baseline")]
    pair[place] = lost
    check = compared(tmp_path, *pair, may_fail=True)
    assert check["outcome"] == "failed"
    assert "it died" in check["reason"]
