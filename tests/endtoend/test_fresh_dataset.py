"""A run that loads its tables itself and reads counters every second, on the distribution's own MariaDB server."""

from itertools import pairwise

import pytest

from scripts.lib import json_record
from tests.endtoend import installed_mariadb
from tests.endtoend.installed_mariadb import MEASURE_S, Place, finish

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(bool(installed_mariadb.missing()), reason=installed_mariadb.missing() or "-"),
]
ROWS, REST_S = 5000, 1
CONFIG = {
    "workloads": {"writes": {"script": "oltp_write_only", "dataset": "fresh"}},
    "datasets": {
        "fresh": {
            "tables": 2,
            "rows": ROWS,
            "script": "oltp_write_only",
            "fresh": True,
            "options": {"secondary": True, "mysql_storage_engine": "innodb"},
        }
    },
    "rest_s": REST_S,
    "series": True,
    "client_environment": {"MALLOC_ARENA_MAX": "2"},
}


@pytest.fixture(scope="module")
def place():
    with Place.loaded("fresh-dataset-", **CONFIG) as made:
        yield made


@pytest.fixture(scope="module")
def measured(place):
    status, said = finish(place.run_command("fresh"))
    assert status == 0, said
    facts = json_record.read(place.run("fresh"))
    assert facts["outcome"] == "ok", facts["reason"]
    return facts


def test_snapshot_is_a_data_directory_without_the_tables(place):
    facts = json_record.read(place.dataset)
    assert (facts["fresh"], facts["tables"], facts["rows"]) == (True, 2, ROWS)
    assert not list((place.folder / "set" / "snapshot" / "data" / "sbtest").glob("*.ibd"))


def test_tables_were_loaded_by_the_run_with_the_options_of_the_dataset(place, measured):
    command = measured["commands"]["load"]
    assert {"oltp_write_only", f"--table_size={ROWS}", "--secondary=on", "prepare"} <= set(command)
    assert f"Inserting {ROWS} records" in place.log_of("fresh").with_suffix(".load.txt").read_text()
    assert "--secondary=on" in measured["commands"]["measure"]
    assert measured["phases_s"]["load"] > 0.1


def test_sysbench_had_the_environment_of_the_study(measured):
    assert measured["client_environment"] == CONFIG["client_environment"]


def test_run_rested_before_it_began(measured):
    assert REST_S <= measured["phases_s"]["rest"] < REST_S + 0.5


def test_counters_were_read_every_second_on_the_clock_of_the_reports(measured):
    sampled, reported = measured["counter_series"], measured["series"]["second"]
    seconds = sampled["second"]
    # A busy machine may delay a reading or cost one second its sample: no second has two, and delays do not add up.
    assert MEASURE_S - 1 <= len(seconds) <= MEASURE_S + 3
    assert all(later > earlier for earlier, later in pairwise(seconds))
    assert len(seconds) - 2 < seconds[-1] - seconds[0] < len(seconds) + 1
    assert reported[0] - 1 <= seconds[0] <= reported[0] + 1
    changed = [sum(parts) for parts in zip(sampled["rows_updated"], sampled["rows_inserted"], strict=True)]
    assert changed == sorted(changed)
    assert changed[-1] > changed[0]
    assert sampled["purges"] == sorted(sampled["purges"])
    assert min(sampled["flush_requested_pages"]) >= 0
    assert len(sampled["history_list_length"]) == len(sampled["dirty_pages"]) == len(seconds)


def test_sizes_of_the_loaded_tables_and_the_engines_report_are_kept_of_both_edges(measured):
    for edge in ("before", "after"):
        files = measured["files"][edge]
        assert {"sbtest.sbtest1", "sbtest.sbtest2", "system", "redo"} <= files.keys()
        assert files["sbtest.sbtest1"]["kind"] == "table"
        assert files["sbtest.sbtest1"]["allocated_bytes"] > ROWS * 190
        assert files["redo"]["apparent_bytes"] >= 32 * 2**20
        assert "END OF INNODB MONITOR OUTPUT" in measured["engine_report"][edge]


def test_server_that_cannot_hold_the_tables_is_a_failed_run(place):
    command = place.run_command("full", variant=place.with_options(innodb_read_only=True))
    status, said = finish(command)
    facts = json_record.read(place.run("full"))
    assert (status, facts["outcome"]) == (0, "failed"), said
    assert facts["reason"].startswith("the tables could not be loaded: ")
    assert "CREATE TABLE sbtest" in facts["reason"]
