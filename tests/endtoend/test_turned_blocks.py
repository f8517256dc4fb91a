"""A real load that flushes at every commit, by log or binary log, goes by turns; one that only reads does not."""

from itertools import pairwise

import pytest

from scripts.lib import json_record
from scripts.measure.engine.disk_load import LIMITS_PER_S
from scripts.measure.servers.server import running
from tests.endtoend import installed_mariadb
from tests.endtoend.installed import initialised
from tests.endtoend.installed_mariadb import Place, finish

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(bool(installed_mariadb.missing()), reason=installed_mariadb.missing() or "-"),
]
ARMS, TURN_S = ("aa", "baseline"), 4
READ_ONLY = {"script": "oltp_read_only", "options": {}}
FILL = "CREATE TABLE t AS SELECT generate_series(1, 400000), repeat('x', 200)"
SCAN = "SELECT count(*) FROM t WHERE ctid >= '(0,0)'"
WRITING = {"script": "oltp_update_index", "options": {}}


@pytest.fixture(scope="module")
def place():
    with Place.loaded("turned-") as made:
        yield made


def measured(place, name, flush, load, **options):
    own = place.with_options(innodb_flush_log_at_trx_commit=flush, **options)
    status, said = finish(place.run_command(name, "slices", ARMS, turn_s=TURN_S, variant=own, load=load))
    assert status == 0, said
    return json_record.read(place.run(name, "block")), {arm: json_record.read(place.run(name, arm)) for arm in ARMS}


def test_load_that_flushes_at_every_commit_goes_by_turns_in_long_windows(place):
    block, arms = measured(place, "flushing", 1, {**WRITING, "stop": "slow"})
    assert (block["method"], block["turned_by"]) == ("turns", "fsyncs"), block["disk_per_s"]
    assert block["disk_per_s"]["fsyncs"] > LIMITS_PER_S["fsyncs"]
    assert block["why"] == "bound by a disk: over 100 fsyncs per second"
    assert block["turns"] == sorted(arms, key=lambda name: arms[name]["times"]["started_at"]) == list(ARMS)
    for facts in arms.values():
        assert facts["outcome"] == "ok", facts["reason"]
        assert facts["window"]["duration_s"] == pytest.approx(TURN_S, abs=0.3)
        assert facts["sliced"]["disk_per_s"] == block["disk_per_s"]
        assert 0 < facts["slow_stop_s"] <= facts["phases_s"]["stop"]


def test_load_that_syncs_its_binary_log_at_every_commit_goes_by_turns(place):
    block, _ = measured(place, "logging", 0, WRITING, log_bin="binlog", sync_binlog=1)
    assert (block["method"], block["turned_by"]) == ("turns", "synced_commits"), block["disk_per_s"]
    assert block["disk_per_s"]["synced_commits"] > LIMITS_PER_S["synced_commits"]
    assert block["why"] == "bound by a disk: over 100 commits synced to the binary log per second"


def test_load_that_only_reads_data_in_memory_stays_in_slices(place):
    block, arms = measured(place, "reading", 0, READ_ONLY)
    assert block["method"] == "slices", block["disk_per_s"]
    assert block["disk_per_s"].keys() == LIMITS_PER_S.keys()
    assert all(block["disk_per_s"][name] <= limit for name, limit in LIMITS_PER_S.items())
    assert all((facts["outcome"], facts["slow_stop_s"]) == ("ok", None) for facts in arms.values())


def test_pages_that_postgresql_read_for_us_are_counted_at_once_and_pages_it_added_are_not():
    with initialised("counted-", "postgresql") as ready:
        log = ready.folder / "server.log"
        with running(ready.family, ready.install, ready.data, ready.options, log) as server:
            connection = server.connect()
            misses = [pool_misses(ready.family, connection)]
            for statement in (
                "CREATE TABLE t AS SELECT generate_series(1, 400000), repeat('x', 200)",
                SCAN,
                "SELECT 1",
            ):
                connection.cursor().execute(statement)
                misses.append(pool_misses(ready.family, connection))
            connection.close()
            server.stop(keep_data=False)
    adding, reading, nothing = (after - before for before, after in pairwise(misses))
    # 12 000 pages of 8 KiB, of which shared buffers of 64 MiB can hold two thirds.
    assert adding < 1000
    assert reading > 3000
    assert nothing < 100


def pool_misses(family, connection):
    return family.disk_counts(family.counters(connection))["pool_misses"]
