"""Files of timed SQL: what is read, what each release is sent, and what is refused."""

import pytest

from scripts.measure.sql import statement_files
from tests.made.studies import CHECKOUT

TEXT = """-- name: whole table
SELECT COUNT(*) FROM t WHERE note <> 'a; -- name: b';
-- prepare: tidy
ANALYZE TABLE t;
-- show: size
SELECT 1;
-- name: rebuild
-- since: mysql 5.0, mariadb 5.0
ALTER TABLE t ENGINE=InnoDB;
-- name: rebuild
-- since: mysql 8.0.12
-- against: whole table
ALTER TABLE t ENGINE=InnoDB, ALGORITHM=INPLACE;
-- name: rebuild
-- since: postgresql 9.0
VACUUM FULL t;
"""
NAMED = "expected one of name, show, prepare"


def sent(family, release):
    return [
        (one.kind, one.name, one.text)
        for one in statement_files.suited_statements(statement_files.split_timed(TEXT, "t.sql"), family, release)
    ]


def test_statements_keep_their_kind_name_text_and_order():
    first, *rest = sent("mysql", "5.6.14")
    assert first == ("name", "whole table", "SELECT COUNT(*) FROM t WHERE note <> 'a; -- name: b'")
    assert [each[:2] for each in rest] == [("prepare", "tidy"), ("show", "size"), ("name", "rebuild")]


@pytest.mark.parametrize(
    ("family", "release", "text"),
    [
        ("mysql", "5.5.34", "ALTER TABLE t ENGINE=InnoDB"),
        ("mysql", "8.0.11", "ALTER TABLE t ENGINE=InnoDB"),
        ("mysql", "8.0.12", "ALTER TABLE t ENGINE=InnoDB, ALGORITHM=INPLACE"),
        ("mariadb", "10.11.18", "ALTER TABLE t ENGINE=InnoDB"),
        ("postgresql", "15.18", "VACUUM FULL t"),
    ],
)
def test_of_statements_with_one_name_a_release_is_sent_the_last_that_suits_it(family, release, text):
    assert sent(family, release)[-1] == ("name", "rebuild", text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("SELECT 1;", f"t.sql:1: the statement has nothing before it, {NAMED}"),
        (
            "-- name: a\n-- show: b\nSELECT 1;",
            f"t.sql:3: the statement has `-- name:` and `-- show:` before it, {NAMED}",
        ),
        ("-- nam: a\nSELECT 1;", "t.sql:2: directive 'nam' is unknown, expected name, show, prepare, since or against"),
        ("-- name: \nSELECT 1;", "t.sql:2: name '', expected at most 40 letters"),
        (f"-- name: {'x' * 41}\nSELECT 1;", "expected at most 40 letters"),
        ("-- name: <b>\nSELECT 1;", "t.sql:2: name '<b>', expected at most 40 letters"),
        ("-- name: a\nSELECT 1;\n-- show: a\nSELECT 2;", "t.sql:4: 'a' is `show` here and `name` above"),
        ("-- name: a\n-- since: oracle 9\nSELECT 1;", "t.sql:3: since 'oracle 9', expected a family and a release"),
        ("-- name: a\n-- against: b\nSELECT 1;", "t.sql:3: against 'b', expected a timed statement above a timed one"),
        ("-- name: a\nSELECT 1", "t.sql:2: the last statement has no `;`: 'SELECT 1'"),
        ("-- name: a\nSELECT 'x;", "t.sql:2: the quote ' is not closed"),
        ("-- prepare: a\nSELECT 1;", "t.sql: no statement is timed, expected a line `-- name: NAME`"),
        ("", "t.sql: no statement is timed"),
    ],
)
def test_what_cannot_be_read_is_refused_with_file_and_line(text, told):
    with pytest.raises(ValueError, match=r"t\.sql") as caught:
        statement_files.split_timed(text, "t.sql")
    assert told in str(caught.value)


def test_a_file_that_is_no_text_is_refused_by_name(tmp_path):
    (tmp_path / "t.sql").write_bytes(b"\xff\xfe-- name: a")
    with pytest.raises(ValueError, match=r"t\.sql: cannot be read"):
        statement_files.read_timed(tmp_path / "t.sql")


@pytest.mark.parametrize("file", sorted((CHECKOUT / "workloads").glob("*.sql")), ids=lambda file: file.name)
@pytest.mark.parametrize(
    ("family", "release"), [("mysql", "5.5.34"), ("mysql", "8.0.33"), ("mariadb", "10.11"), ("postgresql", "15")]
)
def test_our_files_time_something_on_every_family(file, family, release):
    chosen = statement_files.suited_statements(statement_files.read_timed(file), family, release)
    timed = {one.name for one in chosen if one.kind == statement_files.TIMED}
    assert timed
    assert {one.against for one in chosen if one.against} <= timed
