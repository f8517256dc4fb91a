"""Failures that differ in paths, times, process ids and random names alone have one reason."""

import pytest

from scripts.lib.failure_reasons import alike, cause_text, general
from tests.made import refused

SOCKET = 'connection to server on socket "/tmp/pgobench-{}/.s.PGSQL.5432" failed: No such file or directory'


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (refused.reason(1), refused.reason(59)),
        (
            "2026-11-28T16:39:09.670123Z 0 [ERROR] [MY-000067] [Server] unknown variable 'x=64M'.",
            "2027-01-02T01:02:03.1Z 12 [ERROR] [MY-000067] [Server] unknown variable 'x=64M'.",
        ),
        (
            "2026-11-21 19:35:00 26809 [ERROR] /b/1/mysqld: Aborting",
            "2026-11-21 19:35:01 7 [ERROR] /c/mysqld: Aborting",
        ),
        ("131121 19:35:00 [ERROR] Aborting", "131122  9:35:00 [ERROR] Aborting"),
        (
            f"postgres was not ready after 120.1 s ({SOCKET.format('ab12cd')})",
            f"postgres was not ready after 120.4 s ({SOCKET.format('77fe01')})",
        ),
        (
            "mysqld died with status -11 under load; its last lines (log: results/logs/a/8/1/0123456789ab.log)",
            "mysqld died with status -11 under load; its last lines (log: results/logs/b/1/4/ffeeddccbbaa.log)",
        ),
        ("stack_bottom = 0x7f00ab thread_stack 0x46000", "stack_bottom = 0x7f99ff thread_stack 0x46000"),
        ("process 4711 holds /run/lock/a.lock", "process 12 holds /home/x/a.lock"),
        ("no answer from 10.0.0.1:45332 (errno 111)", "no answer from 10.0.0.1:50001 (errno 111)"),
        ("temporary folder tmpa8_1x0 is gone", "temporary folder tmpq77zz1 is gone"),
    ],
)
def test_what_differs_from_run_to_run_is_taken_out(one, other):
    assert general(one) == general(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("server died with signal 11", "server died with signal 9"),
        ("unknown variable 'x=64M'", "unknown variable 'y=64M'"),
        ("[ERROR] [MY-000067] x", "[ERROR] [MY-000077] x"),
        ("sysbench printed 7 reports", "sysbench printed 8 reports"),
        ("read/write of 3/4 failed", "read/write of 1/4 failed"),
        ("cannot open /a/server.cnf", "cannot open /a/server.key"),
        ("not measured: with 8 clients", "not measured: with 64 clients"),
        ("another host", "another boot of the host"),
    ],
)
def test_what_tells_failures_apart_stays(one, other):
    assert general(one) != general(other)


def test_things_are_grouped_by_reason_the_most_frequent_first():
    reasons = ["rare", *(refused.reason(number) for number in range(1, 11)), "died in /tmp/x1", "died in /tmp/x2"]
    found = alike(range(len(reasons)), reasons.__getitem__)
    assert [len(group.things) for group in found] == [10, 2, 1]
    assert (found[0].reason, found[2].things) == (reasons[1], (0,))


def test_cause_is_told_in_a_few_words():
    assert cause_text(refused.CAUSE) == "unrecognized configuration parameter work_memm"
    assert cause_text("unknown variable 'x=64M'.") == "unknown variable x=64M"
    assert cause_text("") == ""
