"""The distribution's servers answer the check's statements: twice the same, in order, and their death is named."""

import re
import time

import pytest

from scripts import ROOT
from scripts.lib import json_record
from scripts.lib.host import workplace
from scripts.measure.servers import data_directory, families
from scripts.measure.servers.data_directory import workspace
from scripts.measure.servers.server import ServerFailed, running
from scripts.measure.sql import differential, server_answers, statement_files
from scripts.measure.sql.statement_files import Statement
from tests.endtoend import installed
from tests.endtoend.asking import ask, compare
from tests.endtoend.folders import open_folder
from tests.endtoend.watching import leftovers
from tests.faults.interrupting import demand_no_leftovers

pytestmark = pytest.mark.real


@pytest.fixture(scope="module", params=installed.SERVERS)
def identity(request):
    with open_folder("installed-server-") as folder:
        yield installed.identity(request.param, folder)


@pytest.fixture(scope="module")
def asked(identity, tmp_path_factory):
    """Two runs on one server, each on a data directory of its own; they leave nothing behind."""
    folder, before, since_s = tmp_path_factory.mktemp("answers"), leftovers(), time.time()
    runs = [ask(identity, folder, name) for name in ("first", "second")]
    demand_no_leftovers(before, since_s)
    return runs


@pytest.fixture(scope="module")
def answered(asked):
    first, second = asked
    assert (first.status, second.status) == (0, 0), first.said + second.said
    return server_answers.read_answers(first.answers)


def test_two_runs_of_one_server_answer_the_same_to_the_byte(asked, answered, tmp_path):
    first, second = (one.answers for one in asked)
    assert first.read_bytes() == second.read_bytes()
    status, said = compare(second, first, tmp_path / "check.json")
    assert status == 0, said
    facts = json_record.read(tmp_path / "check.json")
    assert facts["answered_identically"] == len(answered["answers"]) >= 300
    assert facts["statements"] == facts["answered_identically"] + facts["skipped"]
    assert facts["tables_checksummed"] > 30
    assert facts["is_check_reference"] is True


def test_statements_are_no_heap_of_errors_and_cover_every_topic(answered):
    failed = [one for one in answered["answers"] if one["error"]]
    assert 40 <= len(failed) <= 100
    assert not {"errno 1064", "SQLSTATE 42601"} & {one["error"] for one in failed if one["topic"] == "session"}
    known = {one.topic for one in statement_files.read_check(ROOT, answered["family"])}
    assert {one["topic"] for one in answered["answers"]} == known


def test_only_the_sentence_without_a_condition_is_bad_syntax_everywhere(answered):
    wrong = [one["statement"] for one in answered["answers"] if one["error"] in ("errno 1064", "SQLSTATE 42601")]
    assert "SELECT id FROM items WHERE" in wrong
    assert set(wrong) <= {"SELECT id FROM items WHERE", "EXECUTE ranged (12)"}


def test_answers_of_several_rows_have_an_order(answered):
    loose = [
        one["statement"]
        for one in answered["answers"]
        if len(one["rows"] or []) > 1
        and re.match("SELECT|WITH", one["statement"])
        and not re.search("ORDER BY", one["statement"])
    ]
    assert loose == []


def test_tables_hold_real_volume_and_innodb_adds_its_own_checksum(answered):
    rows = {table["table"]: table["rows"] for table in answered["tables"]}
    assert sum(rows.values()) > 40_000
    assert rows["items"] > 9000
    own = {table["server_checksum"] is None for table in answered["tables"]}
    assert own == {answered["family"] == "postgresql"}


def test_scans_beside_transfers_saw_the_constant_sum_and_nothing_else(answered):
    outcome = answered["concurrency"]
    assert outcome["scanned"] == outcome["accounts"]
    assert [text.split()[1] for text in outcome["accounts"][0]] == ["2000", "2000000"]
    assert sum(int(n.split()[1]) for _, n in outcome["counters"]) == 400


DEATHS = {"mariadb": "SHUTDOWN", "postgresql": "SELECT pg_terminate_backend(pg_backend_pid())"}
# A server that shuts down still answers short statements.
SLEEPS = {"mariadb": "SELECT SLEEP(30)", "postgresql": "SELECT pg_sleep(30)"}


@pytest.fixture
def server(identity, tmp_path):
    """A server that was just initialised and runs."""
    described = json_record.read(identity)
    family, install, log = families.of(described["family"]), workplace.installed(identity), tmp_path / "server.log"
    options = {**family.default_options(1024), **family.CHECK_OPTIONS}
    with workspace(None) as folder:
        data = data_directory.initialise(family, install, folder, options, log)
        with running(family, install, data, options, log) as started:
            yield described["family"], started


def test_server_that_goes_away_is_a_failure_that_names_the_statement(server):
    family, started = server
    asked = [
        Statement(41, "before", "SELECT 1"),
        Statement(42, "deaths", DEATHS[family]),
        Statement(43, "x", SLEEPS[family]),
        Statement(44, "x", "SELECT 2"),
    ]
    with pytest.raises(ServerFailed, match=r"the server went away under statement 4[234] "):
        differential.answer_all(started, asked)


def test_server_that_keeps_silent_is_a_failure_that_names_the_statement(server, monkeypatch):
    family, started = server
    monkeypatch.setattr(differential, "ANSWERED_WITHIN_S", 1)
    with pytest.raises(ServerFailed, match=r"gave no answer within 1 s under statement 7 \(sleep\)"):
        differential.answer_all(started, [Statement(7, "sleep", SLEEPS[family])])
