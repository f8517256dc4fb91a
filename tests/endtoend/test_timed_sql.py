"""Timed SQL on the distribution's own MariaDB server: what a run records, and statements that fail."""

import pytest

from scripts.lib import json_record
from scripts.measure.engine import passes
from scripts.report.page.slices_section import STOPPING_S
from tests.endtoend import installed_mariadb
from tests.endtoend.folders import open_folder
from tests.endtoend.installed_mariadb import Place, finish, lay_out, plan
from tests.endtoend.watching import leftovers

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(bool(installed_mariadb.missing()), reason=installed_mariadb.missing() or "-"),
]
ROWS = 1000
ARMS = {"turns": ("baseline",), "statements": ("baseline", "aa")}
TEXT = """-- name: rows
SELECT COUNT(*), MAX(id) FROM sbtest1;
-- name: asleep
-- against: rows
SELECT SLEEP(0.4);
-- name: everything
SELECT * FROM sbtest1;
-- name: elsewhere
-- since: postgresql 9.0
VACUUM;
-- prepare: statistics
ANALYZE TABLE sbtest1;
-- show: what there is
SELECT table_name, NULL AS nothing FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY 1;
-- name: some deleted
DELETE FROM sbtest1 WHERE id <= 10;
"""


def placed(folder, text):
    (folder / "own.sql").write_text(text)
    timed = {"queries": {"sql": str(folder / "own.sql"), "dataset": "sbtest"}}
    return Place(folder, folder / "build" / "identity.json", plan(workloads=timed, clients=[1]))


@pytest.fixture(scope="module")
def place():
    with open_folder("timed-sql-") as folder:
        lay_out(folder / "build")
        made = placed(folder, TEXT)
        status, said = finish(made.load_command())
        assert status == 0, said
        yield made


@pytest.fixture(scope="module", params=ARMS)
def measured(request, place):
    status, said = finish(place.run_command(request.param, request.param, ARMS[request.param]))
    assert status == 0, said
    return json_record.read(place.run(request.param)), said


def executions(facts, name):
    return [one for one in facts["timed_sql"]["executions"] if one["statement"] == name]


def test_every_named_statement_was_timed_once_a_pass_in_its_order(measured):
    told = measured[0]["timed_sql"]
    names = ["rows", "asleep", "everything", "some deleted"]
    assert [(one["pass"], one["statement"]) for one in told["executions"]] == [
        (n, each) for n in (1, 2) for each in names
    ]
    assert told["skipped"] == ["elsewhere"]


def test_seconds_are_those_the_statement_took(measured):
    for one in executions(measured[0], "asleep"):
        assert 0.4 <= one["seconds"] < 2
        assert one["server_cpu_s"] < 0.3
    whole_s = sum(one["seconds"] for one in measured[0]["timed_sql"]["executions"])
    assert whole_s <= measured[0]["window"]["duration_s"] < whole_s + 5


def test_answers_are_told_by_rows_and_digest(measured):
    first, second = executions(measured[0], "rows")
    assert first["answer_sha256"] == passes.digest([(ROWS, ROWS)])
    assert second["answer_sha256"] == passes.digest([(ROWS - 10, ROWS)])
    assert [one["rows"] for one in executions(measured[0], "everything")] == [ROWS, ROWS - 10]
    assert [(one["rows"], one["answer_sha256"]) for one in executions(measured[0], "some deleted")] == [
        (10, None),
        (0, None),
    ]


def test_rows_to_show_are_kept_as_text_with_holes(measured):
    first, second = measured[0]["timed_sql"]["shown"]
    assert first == {
        "pass": 1,
        "name": "what there is",
        "columns": ["table_name", "nothing"],
        "rows": [["sbtest1", None], ["sbtest2", None]],
    }
    assert second["pass"] == 2


def test_first_pass_found_nothing_in_the_page_cache_and_read_the_table(measured):
    facts = measured[0]
    assert facts["page_cache"]["cached_bytes"] > 2**20
    assert facts["page_cache"]["left_bytes"] == 0
    assert executions(facts, "rows")[1]["read_bytes"] == 0


def test_user_is_told_the_times_of_both_passes(measured):
    lines = [line for line in measured[1].splitlines() if line.startswith("[run ")]
    assert len(lines) == len(ARMS[measured[0]["sliced"]["method"]])
    assert all("cold " in line and "warm " in line for line in lines)


def test_servers_side_by_side_answer_alike_and_use_no_cpu_while_they_wait(place, measured):
    facts = measured[0]
    if facts["sliced"]["method"] == "turns":
        pytest.skip("one server after the other")
    other = json_record.read(place.run("statements", "aa"))
    for one in (facts, other):
        assert one["sliced"]["waiting_cpu_s"] <= STOPPING_S * len(one["timed_sql"]["executions"])
        assert one["cpu"]["server_user_s"] + one["cpu"]["server_system_s"] > 0
        assert "clock" not in {warning["code"] for warning in one["warnings"]}
        assert one["cpu"]["host_idle_s"] <= one["window"]["duration_s"] * one["cpu"]["cpus"]
    told = [
        [(each["statement"], each["answer_sha256"]) for each in one["timed_sql"]["executions"]]
        for one in (facts, other)
    ]
    assert told[0] == told[1]
    places = json_record.read(place.run("statements", "block"))["places"].values()
    assert len(places) == 2 * 2
    assert max(places) - min(places) <= 1


@pytest.mark.parametrize("method", ARMS)
@pytest.mark.parametrize("wrong", ["SELECT nothing FROM sbtest1", "KILL CONNECTION_ID()"])
def test_a_statement_that_fails_fails_the_run_and_is_named(place, wrong, method):
    made, before = placed(place.folder, f"-- name: wrong\n{wrong};\n-- name: after\nSELECT 1;\n"), leftovers()
    status, said = finish(made.run_command("failed", method, ARMS[method]))
    facts = json_record.read(made.run("failed"))
    assert (status, facts["outcome"]) == (0, "failed"), said
    assert facts["reason"].startswith("statement 'wrong' was not answered: (")
    assert leftovers() == before
