"""What a workload sends: the command of one event, alike statements, and the page."""

import pytest

from scripts.measure.engine import observe
from scripts.measure.loadgen import run_sysbench as loadgen_run
from scripts.measure.loadgen.sysbench import SysbenchCall
from scripts.measure.servers.families.postgresql import LOGGED_STATEMENT
from scripts.report.page import workloads_section
from tests.made import synthetic
from tests.made.rendering import Elements, worded
from tests.made.studies import paths

TRANSACTION = ["BEGIN", *(f"SELECT c FROM sbtest{i} WHERE id={i * 7}" for i in range(1, 11)), "COMMIT"]
UPDATE = "UPDATE sbtest3 SET c='68487932199-96439406143' WHERE id=5005"
LOG = """2026-11-21 10:00:00.000 UTC [7] LOG:  statement: BEGIN
2026-11-21 10:00:00.001 UTC [7] LOG:  execute sbstmt1: SELECT c
\t  FROM sbtest1
\t WHERE id=$1
2026-11-21 10:00:00.001 UTC [7] DETAIL:  parameters: $1 = '501'
2026-11-21 10:00:00.002 UTC [7] LOG:  execute <unnamed>: SELECT 1
2026-11-21 10:00:00.003 UTC [8] LOG:  checkpoint starting: time
2026-11-21 10:00:00.004 UTC [7] LOG:  statement: COMMIT
"""


def test_statements_that_differ_in_values_and_tables_alone_are_told_once():
    assert workloads_section.grouped_statements(TRANSACTION) == [("BEGIN", 1), (TRANSACTION[1], 10), ("COMMIT", 1)]
    assert workloads_section.statement_form(UPDATE) == workloads_section.statement_form(
        "UPDATE  sbtest1 SET c='it''s'\n WHERE id=7"
    )
    assert workloads_section.statement_form(UPDATE) != workloads_section.statement_form(
        "UPDATE sbtest3 SET k=k+1 WHERE id=5005"
    )


def test_postgresql_log_gives_statements_simple_and_prepared():
    found = [text.replace("\n\t", "\n") for text in LOGGED_STATEMENT.findall(LOG)]
    assert found == ["BEGIN", "SELECT c\n  FROM sbtest1\n WHERE id=$1", "SELECT 1", "COMMIT"]


def test_one_run_of_each_variant_and_workload_tells():
    known = paths(clients=[8, 64], repetitions=3)
    telling = [
        (block.key.clients, block.key.repetition, name, block.key.workload)
        for block in known.blocks
        for name in block.arms
        if known.context(block, name).log_statements
    ]
    assert {each[:2] for each in telling} == {(8, 1)}
    assert len(telling) == len({each[2:] for each in telling}) == 3 * 2


def logging(*variants, sent=TRANSACTION, total=12):
    def edit(facts):
        told = facts.get("variant") in variants and facts.get("repetition") == 1
        return {**facts, "statements": {"sent": list(sent), "total": total}} if told else facts

    return edit


PLAN = synthetic.Plan(workloads=("oltp",), clients=(8,))


def test_the_page_shows_what_all_variants_send_once(tmp_path):
    said = Elements(worded(PLAN, tmp_path, logging("baseline", "pgo", "aa"))[1]).said()
    assert said.count("What it sends: 12 statements in one event") == 1
    assert "from the log of the server of baseline" in said
    assert said.count("SELECT c FROM sbtest1 WHERE id=7") == 1
    assert "sbtest2" not in said


def test_variants_that_send_other_statements_are_told_apart_and_long_ones_cut(tmp_path):
    long = f"INSERT INTO t VALUES ('{'x' * 900}<script>alert(1)</script>')"

    def edit(facts):
        return logging("pgo", sent=[long[:2000]], total=900)(logging("baseline", "aa")(facts))

    page = worded(PLAN, tmp_path, edit)[1]
    said = Elements(page).said()
    assert "12 statements in one event (baseline)" in said
    assert "900 statements in one event (pgo)" in said
    assert "and 899 statements more" in said
    assert "x" * 300 not in said
    assert "<script>alert" not in page


def test_what_is_sent_is_escaped(tmp_path):
    page = worded(PLAN, tmp_path, logging("baseline", sent=["SELECT '<script>alert(1)</script>'"], total=1))[1]
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page


def test_runs_of_before_have_no_such_part(tmp_path):
    assert "What it sends" not in Elements(worded(PLAN, tmp_path)[1]).said()


@pytest.mark.parametrize("amount", [1, 700])
def test_no_more_of_an_event_is_kept_than_a_page_can_use(amount, monkeypatch, tmp_path):
    class Known:
        log = tmp_path / "server.log"

        class family:
            log_statements = staticmethod(lambda connection: None)
            logged_statements = staticmethod(lambda connection, log: ["x" * 5000] * amount)

    Known.log.write_text("")
    monkeypatch.setattr(loadgen_run, "run_unread", lambda call, text, timeout_s: calls.append(call))
    calls, measuring = [], SysbenchCall(("sysbench",), "cpu", (), clients=64, seconds=60)
    kept = observe.statements_of_one_event(Known, None, measuring, tmp_path / "event.txt")
    assert calls == [measuring.of_one_event()]
    assert kept.total == amount
    assert len(kept.sent) == min(amount, observe.MOST_STATEMENTS)
    assert {len(text) for text in kept.sent} == {observe.MOST_CHARACTERS}
