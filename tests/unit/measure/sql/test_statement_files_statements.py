"""The check's SQL files are split at the right places, and each release is asked what it can answer."""

import re

import pytest

from scripts.measure.servers import families
from scripts.measure.sql import statement_files
from scripts.measure.sql.statement_files import split_check, statements_sha256
from tests.conftest import CHECKOUT

RELEASES = [
    ("mysql", "5.5.34"),
    ("mysql", "8.0.36"),
    ("mysql", "9.1.0"),
    ("mariadb", "10.11.18"),
    ("postgresql", "15.18"),
]


def texts(sql):
    return [statement.text for statement in split_check(f"-- topic: test\n{sql}")]


def test_statement_ends_at_its_semicolon_and_keeps_its_lines():
    assert texts("SELECT 1;\nSELECT\n  2;") == ["SELECT 1", "SELECT\n  2"]


@pytest.mark.parametrize("quoted", ["'a;b'", "'it''s; so'", '"a;b"', "`a;b`", "'--'", "'a -- b;'", "$$ x; y; $$"])
def test_semicolon_in_quotes_ends_nothing(quoted):
    assert texts(f"SELECT {quoted};SELECT 2;") == [f"SELECT {quoted}", "SELECT 2"]


def test_procedure_ends_where_its_body_does():
    body = "CREATE PROCEDURE p(IN x INT)\nBEGIN\n  WHILE x > 0 DO\n    SET x = x - 1;\n  END WHILE;\nEND\n"
    assert texts(f"{body};\nCALL p(3);\nCREATE PROCEDURE q() SELECT 1;\nSELECT 2;") == [
        body.strip(),
        "CALL p(3)",
        "CREATE PROCEDURE q() SELECT 1",
        "SELECT 2",
    ]


def test_comments_are_dropped_and_end_nothing():
    assert texts("-- it's a remark; no more\nSELECT 1 -- really; 'so\n + 1;\n--\nSELECT 2;") == [
        "SELECT 1 \n + 1",
        "SELECT 2",
    ]


def test_minus_signs_and_json_operators_are_no_comments():
    assert texts("SELECT 5 - -3, doc ->> 'x', a-b, $1;") == ["SELECT 5 - -3, doc ->> 'x', a-b, $1"]


def test_directives_hold_for_the_next_statement_and_topics_until_the_next_topic():
    found = split_check(
        "-- topic: one\nA;\n-- on: second\n-- since: mysql 8.0.4, mariadb 10.2\nB;\nC;\n-- topic: two\nD;"
    )
    assert [(one.number, one.topic, one.connection) for one in found] == [
        (1, "one", "first"),
        (2, "one", "second"),
        (3, "one", "first"),
        (4, "two", "first"),
    ]
    assert [bool(one.since) for one in found] == [False, True, False, False]
    assert found[1].since == (("mysql", (8, 0, 4)), ("mariadb", (10, 2)))


def test_since_of_a_topic_holds_for_its_statements_unless_they_say_otherwise():
    one, two, three = split_check("-- topic: json since: mysql 5.7\nA;\n-- since: mysql 8.0\nB;\n-- topic: rest\nC;")
    assert (one.since, two.since, three.since) == ((("mysql", (5, 7)),), (("mysql", (8, 0)),), ())


@pytest.mark.parametrize(
    ("family", "release", "suits"),
    [
        ("mysql", "8.0.4", True),
        ("mysql", "8.0.36-28", True),
        ("mysql", "9.0.1", True),
        ("mysql", "8.0.3", False),
        ("mysql", "5.7.44", False),
        ("mariadb", "10.11.18", True),
        ("mariadb", "10.1.48", False),
        ("postgresql", "15.18", False),
    ],
)
def test_since_compares_releases_by_their_numbers(family, release, suits):
    (statement,) = split_check("-- topic: a since: mysql 8.0.4, mariadb 10.2\nSELECT 1;")
    assert statement.suits(family, release) is suits


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT 1;", "check.sql:1: no topic"),
        ("-- topic: a\nSELECT 1;\nSELECT 2", "check.sql:3: the last statement has no `;`: 'SELECT 2'"),
        ("-- topic: a\n\nSELECT 'x;", "check.sql:3: the quote ' is not closed"),
        ("-- topic: a\n-- sinse: mysql 8.0\nSELECT 1;", "check.sql:3: directive 'sinse' is unknown"),
        ("-- topic: a\n-- since: oracle 8\nSELECT 1;", "since 'oracle 8', expected a family and a release"),
        ("-- topic: a\n-- since: mysql\nSELECT 1;", "since 'mysql', expected a family and a release"),
        ("-- topic: a\n-- on: third\nSELECT 1;", "on 'third', expected one of first, second"),
        ("-- topic: A-B\nSELECT 1;", "topic 'A-B', expected small letters"),
    ],
)
def test_what_cannot_be_read_is_refused_with_file_and_line(sql, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        split_check(sql, "check.sql")


def test_release_without_numbers_is_refused():
    with pytest.raises(ValueError, match="release: 'newest', expected numbers"):
        statement_files.release_numbers("newest")


def test_family_without_statements_is_refused_with_the_folder_they_would_lie_in(tmp_path):
    with pytest.raises(ValueError, match="'mysql' has no statements, expected SQL files in workloads/check/innodb"):
        statement_files.check_files(tmp_path, "mysql")


def test_unknown_family_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="'oracle' is unknown, expected one of mariadb, mysql, postgresql"):
        statement_files.check_files(CHECKOUT, "oracle")


@pytest.mark.parametrize(("family", "release"), RELEASES)
def test_every_release_is_asked_at_least_300_statements(family, release):
    asked = [one for one in statement_files.read_check(CHECKOUT, family) if one.suits(family, release)]
    assert len(asked) >= 300
    assert len({one.text for one in asked}) >= 300


@pytest.mark.parametrize("family", families.names())
def test_statements_are_numbered_in_their_order_and_session_comes_first(family):
    found = statement_files.read_check(CHECKOUT, family)
    assert [one.number for one in found] == list(range(1, len(found) + 1))
    assert found[0].topic == "session"


@pytest.mark.parametrize("family", families.names())
def test_no_statement_asks_for_what_differs_from_run_to_run(family):
    forbidden = re.compile(
        r"\b(now|rand|random|uuid|gen_random_uuid|sysdate|curdate|clock_timestamp|connection_id|explain|analyze)\b"
        r"|current_(date|time|timestamp)|pg_backend|pg_sleep|\bsleep\b",
        re.I,
    )
    assert [one.text for one in statement_files.read_check(CHECKOUT, family) if forbidden.search(one.text)] == []


def test_digest_covers_content_and_names_of_the_familys_files_only(tmp_path):
    for part in ("common", "innodb", "postgresql"):
        (tmp_path / "workloads" / "check" / part).mkdir(parents=True)
    folder = tmp_path / "workloads" / "check"
    (folder / "common" / "1.sql").write_text("SELECT 1;")
    (folder / "innodb" / "0.sql").write_text("SELECT 2;")
    assert [file.name for file in statement_files.check_files(tmp_path, "mysql")] == ["0.sql", "1.sql"]
    before = {family: statements_sha256(tmp_path, family) for family in families.names()}
    (folder / "postgresql" / "2.sql").write_text("SELECT 3;")
    assert statements_sha256(tmp_path, "mysql") == before["mysql"] == before["mariadb"]
    assert statements_sha256(tmp_path, "postgresql") != before["postgresql"]
    (folder / "innodb" / "0.sql").write_text("SELECT 4;")
    assert statements_sha256(tmp_path, "mysql") != before["mysql"]
