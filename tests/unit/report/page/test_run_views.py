"""What a run unfolds to, and options that not every server has: the page tells which are left out."""

import pytest

from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.wording import NOTHING
from scripts.measure.servers.families import mysql_options
from scripts.report.page import runs_section
from scripts.report.page.value_tables import Cell
from tests.made.run import record_of


@pytest.mark.parametrize(
    ("options", "release", "named"),
    [
        ({"loose_innodb_undo_logs": 8}, "5.5.34", {}),
        ({"loose_innodb_undo_logs": 8}, "5.6.14", {"loose_innodb_undo_logs": 8}),
        ({"loose_innodb_undo_logs": 8}, "8.0.33", {}),
        ({"loose_tx_isolation": "SERIALIZABLE"}, "8.0.33", {"loose_transaction_isolation": "SERIALIZABLE"}),
        ({"loose-innodb-io-capacity-max": 9}, "5.5.34", {"loose_innodb_io_capacity_max": 9}),
        ({"loose_mysqlx": False}, "5.5.34", {}),
        ({"loose_mysqlx": False}, "8.0.33", {"loose_mysqlx": False}),
        ({"server_id": 3, "loose_query_cache_size": 5}, "8.0.33", {"server_id": 3}),
    ],
)
def test_option_that_need_not_be_there_is_named_by_the_release_or_left_out(options, release, named):
    assert mysql_options.named(options, release) == named
    assert mysql_options.unknown_options(release, options) == []


def run(variant, family, release, variables):
    facts = {"variant": variant, "outcome": "ok", "server": {"family": family, "release": release}}
    return record_of({**facts, "variables": variables})


OPTIONS = {
    "innodb_io_capacity": 900,
    "tx_isolation": "SERIALIZABLE",
    "loose_innodb_io_capacity_max": 2000,
    "query_cache_size": 0,
}
STUDY = {"variants": {name: {"options": OPTIONS} for name in ("old", "new", "fork", "lost")}}
RECORDS = [
    run(
        "old", "mysql", "5.5.34",
        {"innodb_io_capacity": "900", "tx_isolation": "SERIALIZABLE", "query_cache_size": "0"},
    ),
    run(
        "new", "mysql", "8.0.33",
        {"innodb_io_capacity": "900", "transaction_isolation": "SERIALIZABLE", "innodb_io_capacity_max": "2000"},
    ),
    run(
        "fork", "mariadb", "10.11.18",
        {
            "innodb_io_capacity": "900", "tx_isolation": "SERIALIZABLE", "innodb_io_capacity_max": "2000",
            "query_cache_size": "0",
        },
    ),
]  # fmt: skip


def test_options_by_another_name_or_lacking_are_shown_with_the_values_servers_run_with():
    shown = dict(runs_section.option_rows(ResolvedStudy.of(STUDY), RECORDS))
    lacking, unknown = Cell(NOTHING, ("not in this release",), "hole"), Cell(NOTHING)
    serializable = Cell("SERIALIZABLE")
    renamed = Cell("SERIALIZABLE", ("as transaction_isolation",))
    assert shown["tx_isolation"] == (serializable, renamed, serializable, unknown)
    assert shown["innodb_io_capacity_max"] == (lacking, Cell("2000"), Cell("2000"), unknown)
    assert shown["query_cache_size"] == (Cell("0"), lacking, Cell("0"), unknown)
    assert "innodb_io_capacity" not in shown


def test_options_that_all_servers_have_make_no_table():
    alike = {"variants": {name: {"options": {"innodb_io_capacity": 900}} for name in ("old", "new", "fork")}}
    assert runs_section.option_rows(ResolvedStudy.of(alike), RECORDS) == []


def test_variables_that_differ_only_in_a_path_are_told_apart():
    assert runs_section.only_paths(("datadir", ("/tmp/a/", "/tmp/b/")))
    assert not runs_section.only_paths(("socket", ("/tmp/a", "none")))


@pytest.mark.parametrize(
    ("facts", "shown"),
    [
        ({}, "server 0, sysbench 1"),
        ({"nice": 0}, "server 0, sysbench 1; nice value 0"),
        ({"nice": -10}, "server 0, sysbench 1; nice value -10"),
    ],
)
def test_run_unfolds_to_its_cpus_and_their_nice_value_where_it_is_known(facts, shown):
    placement = {"mode": "automatic", "server_cpus": [0], "client_cpus": [1]}
    one = record_of({"variant": "new", "outcome": "ok", "placement": placement, **facts})
    assert dict(runs_section.run_view(one, None, unfold=True).lines)["CPUs"] == shown
