"""Answers have one text for each type and value, error codes stand for errors, and a lost connection is no answer."""

import datetime
import decimal
import gzip

import pg8000.dbapi
import pymysql
import pytest

from scripts.measure.sql import server_answers


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        (5, "int 5"),
        ("5", "str 5"),
        (True, "bool True"),
        (5.0, "float 5.0"),
        (0.1 + 0.2, "float 0.30000000000000004"),
        (decimal.Decimal("5.00"), "Decimal 5.00"),
        (b"\x00\xff", "bytes 00ff"),
        (bytearray(b"a"), "bytes 61"),
        (datetime.date(2020, 2, 29), "date 2020-02-29"),
        (datetime.datetime(2020, 2, 29, 1, 2, 3), "datetime 2020-02-29 01:02:03"),
        (datetime.timedelta(hours=30), "timedelta 1 day, 6:00:00"),
        ([1, None, "x"], 'list [1,null,"x"]'),
        ({"b": 1, "a": 2}, 'dict {"a":2,"b":1}'),
        ({"b", "a"}, 'set ["a","b"]'),
        (pg8000.dbapi.PGInterval(days=2), "PGInterval 2 days"),
    ],
)
def test_value_has_the_text_of_its_type_and_value(value, text):
    assert server_answers.value_text(value) == text


def test_type_whose_text_holds_an_address_is_refused():
    with pytest.raises(ValueError, match="a value of type object"):
        server_answers.value_text(object())


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (pymysql.err.IntegrityError(1062, "Duplicate entry"), "errno 1062"),
        (pymysql.err.OperationalError(1213, "Deadlock found"), "errno 1213"),
        (pg8000.dbapi.DatabaseError({"S": "ERROR", "C": "23505", "M": "duplicate key"}), "SQLSTATE 23505"),
        (pg8000.dbapi.InterfaceError("in failed transaction block"), "in failed transaction block"),
    ],
)
def test_error_is_its_code(error, code):
    assert server_answers.error_code(error) == code


@pytest.mark.parametrize(
    "error",
    [
        pymysql.err.OperationalError(2013, "Lost connection to MySQL server during query"),
        pymysql.err.InterfaceError(0, ""),
        pg8000.dbapi.InterfaceError("network error"),
        pg8000.dbapi.DatabaseError({"C": "57P02", "M": "terminating connection because of crash"}),
        OSError("broken pipe"),
    ],
)
def test_lost_connection_is_no_answer(error):
    with pytest.raises(server_answers.ConnectionLost):
        server_answers.error_code(error)


def test_digest_depends_on_values_types_and_order():
    rows = [["int 1", "str a"], ["int 2", None]]
    others = [rows[::-1], rows[:1], [["str 1", "str a"], rows[1]], [rows[0], ["int 2", "str None"]]]
    assert server_answers.answers_digest(rows) == server_answers.answers_digest([list(row) for row in rows])
    assert len({server_answers.answers_digest(one) for one in [rows, *others]}) == 5


def test_written_answers_are_read_again_and_have_the_same_bytes(tmp_path):
    one, two = tmp_path / "a" / "answers.json.gz", tmp_path / "b" / "answers.json.gz"
    for file in (one, two):
        server_answers.write_answers(file, {"answers": [{"rows": [["str ä"]]}]})
    assert server_answers.read_answers(one)["answers"] == [{"rows": [["str ä"]]}]
    assert one.read_bytes() == two.read_bytes()
    assert [file.name for file in one.parent.iterdir()] == ["answers.json.gz"]


@pytest.mark.parametrize(
    "content",
    [b"", b"text", gzip.compress(b"not json"), gzip.compress(b"{}" * 50)[:-9]],
    ids=["empty", "text", "no JSON", "cut off"],
)
def test_file_without_answers_is_refused_by_name(tmp_path, content):
    (tmp_path / "answers.json.gz").write_bytes(content)
    with pytest.raises(ValueError, match=r"answers\.json\.gz: no answers"):
        server_answers.read_answers(tmp_path / "answers.json.gz")


def test_answers_of_a_newer_release_are_refused(tmp_path):
    server_answers.write_answers(tmp_path / "a.gz", {"format": 99})
    with pytest.raises(ValueError, match="format 99 is newer"):
        server_answers.read_answers(tmp_path / "a.gz")


def test_fixed_outcome_of_concurrency_follows_from_the_transactions():
    sent = [one for number in range(server_answers.CONNECTIONS) for one in server_answers.transactions(number)]
    assert server_answers.known_outcome()["transfers"] == [[len(sent), sum(int(one[0].split()[7]) for one in sent)]]
    counted = [one[3].split()[-1] for one in sent]
    assert server_answers.known_outcome()["counters"] == [
        [int(name), counted.count(name)] for name in sorted(set(counted))
    ]


def test_transfers_lock_rows_in_both_orders_and_never_from_an_account_to_itself():
    sent = [one for number in range(server_answers.CONNECTIONS) for one in server_answers.transactions(number)]
    ways = [(int(one[0].split()[-1]), int(one[1].split()[-1])) for one in sent]
    assert all(giver != taker for giver, taker in ways)
    assert {giver < taker for giver, taker in ways} == {True, False}


def outcome(**changed):
    right = {
        name: [[f"int {value}" for value in row] for row in rows]
        for name, rows in server_answers.known_outcome().items()
    }
    return {"scans": 80, **right, **changed}


def test_right_outcome_has_no_violation_whatever_number_type_the_driver_has():
    assert server_answers.violations(outcome()) == {}
    assert server_answers.violations(outcome(accounts=[["int 2000", "Decimal 2000000"]])) == {}


def test_torn_scan_and_lost_update_are_violations():
    torn = outcome(scanned=[["int 2000", "int 2000000"], ["int 2000", "int 1999995"]])
    assert set(server_answers.violations(torn)) == {"scanned"}
    lost = outcome(counters=[["int 0", "int 100"], ["int 1", "int 99"], ["int 2", "int 100"], ["int 3", "int 100"]])
    assert set(server_answers.violations(lost)) == {"counters"}
