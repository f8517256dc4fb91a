"""One run of timed SQL: what makes two answers the same, and how cold the page cache is."""

import datetime
import os
import tempfile
from decimal import Decimal
from pathlib import Path

import pytest

from scripts.lib.host import storage
from scripts.measure.engine import passes
from scripts.measure.sql import times as sql_times
from scripts.report.analysis.run_tables import run_row
from tests.made.run import record_of


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (7, Decimal("7")),
        (Decimal("7.50"), Decimal("7.5")),
        (Decimal("1E+3"), 1000),
        (True, 1),
        (b"river_1", "river_1"),
        (0.1 + 0.2, 0.3),
        (datetime.date(2024, 1, 2), "2024-01-02"),
    ],
)
def test_answers_of_two_servers_agree_whatever_type_their_driver_gives(ours, theirs):
    assert passes.digest([(1, ours)]) == passes.digest([(1, theirs)])


@pytest.mark.parametrize(
    ("ours", "theirs"), [(None, ""), (None, 0), (1, 2), ("a", "a "), (0.1, 0.1001), (b"\xff", "?")]
)
def test_answers_that_differ_have_other_digests(ours, theirs):
    assert passes.digest([(ours,)]) != passes.digest([(theirs,)])


def test_order_of_rows_is_no_part_of_an_answer_but_their_number_is():
    rows = [(1, "a"), (2, "b"), (2, "b")]
    assert passes.digest(rows) == passes.digest(reversed(rows))
    assert passes.digest(rows) != passes.digest(rows[:2])


def executed(*times):
    return [{"pass": number, "statement": name, "seconds": took_s} for number, name, took_s in times]


def test_first_pass_is_cold_and_the_mean_of_the_others_warm():
    done = executed((1, "a", 9.0), (1, "b", 1.0), (2, "a", 2.0), (2, "b", 0.5), (3, "a", 4.0), (3, "b", 0.5))
    assert sql_times.seconds(done) == {("cold", "a"): 9, ("cold", "b"): 1, ("warm", "a"): 3, ("warm", "b"): 0.5}
    assert sql_times.totals_s(done) == {"cold": 10, "warm": 3.5}
    row = run_row(record_of({"timed_sql": {"executions": executed((1, "a", 9.0))}}))
    assert (row["cold_s"], row["warm_s"]) == (9, None)


def test_totals_are_over_the_statements_that_every_run_was_sent():
    full, less = executed((1, "a", 5.0), (1, "b", 2.0)), executed((1, "a", 7.0))
    assert sql_times.common_totals_s([full, less]) == [{"cold_s": 5.0, "warm_s": None}, {"cold_s": 7.0, "warm_s": None}]


def test_page_cache_of_a_folder_is_emptied_on_a_disk():
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        (Path(folder) / "data").write_bytes(os.urandom(1 << 20))
        assert storage.cached_bytes([Path(folder) / "data"]) == 1 << 20
        assert storage.drop_cached(Path(folder)) == {"cached_bytes": 1 << 20, "left_bytes": 0}


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="no /dev/shm to write to")
def test_what_lies_in_memory_stays_and_is_told():
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        (Path(folder) / "data").write_bytes(b"x" * (1 << 20))
        assert storage.drop_cached(Path(folder))["left_bytes"] == 1 << 20


def test_without_fincore_it_is_unknown_what_stayed(tmp_path, monkeypatch):
    (tmp_path / "data").write_bytes(b"x")
    monkeypatch.setattr(storage, "DROP_COMMAND", ["no-such-fincore"])
    assert storage.drop_cached(tmp_path) == {"cached_bytes": None, "left_bytes": None}
