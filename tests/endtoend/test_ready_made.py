"""Ready-made servers of the catalog, for real: binaries of three decades, and what this machine has."""

import shutil
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from scripts.lib import json_record
from scripts.lib.host import leftovers
from scripts.lib.host.freezer import freezer_of
from scripts.measure.engine import observe
from scripts.measure.engine.side_by_side import Signals
from scripts.report.page.slices_section import STOPPING_S
from tests.endtoend import installed_mariadb, option_lists
from tests.endtoend.guards import kill_with_guard
from tests.endtoend.ready_made import OPTIONS, Ready
from tests.endtoend.watching import is_stopped, processes, wait_until_gone
from tests.faults.scale import WHOLE

pytestmark = pytest.mark.real
# The others take a gigabyte of downloads: only `make faults` tries them.
MARIADB = [f"mariadb-{release}-binary" for release in ("10.1.23", "10.2.11", "10.11.5", "11.4.5")]
BINARIES = ["mysql-5.6.14-binary", *(["mysql-5.5.34-binary", "mysql-8.0.33-binary", *MARIADB] if WHOLE else [])]
HERE = ["mariadb-installed", "postgresql-installed"]
ARMS = ("baseline", "aa")
DONE_WITHIN_S = 60
# What Maven says when it cannot be had; anything else that goes wrong is ours.
NOT_TO_BE_HAD = ("command mvn not found", "could not be resolved", "Could not transfer", "Could not find artifact")

# MySQL 5.5 closed a connection after so many interruptions, until its option net_retry_count was raised.
RETRIES_OF_5_5 = 10


@pytest.fixture(scope="module", params=[*BINARIES, *HERE])
def ready(request):
    """A server fetched, installed and loaded, in a folder that every user can enter."""
    with tempfile.TemporaryDirectory(prefix="ready-made-", dir="/var/tmp") as name:
        made = Ready(request.param, Path(name))
        made.folder.chmod(0o755)
        absent = made.name in HERE and not Path(made.entry["sources"][0]["installed"]).exists()
        if absent or ((said := made.fetch()) and any(text in said for text in NOT_TO_BE_HAD)):
            pytest.skip(f"{made.name} is not to be had on this machine: {'not installed' if absent else said}")
        assert said == ""
        made.take()
        if made.name in BINARIES:
            shutil.rmtree(made.folder / "source" / "tree")
        made.load()
        yield made


@pytest.fixture(scope="module")
def measured(ready):
    """What a short load and the server's counters around it showed."""
    with ready.served() as server:
        connection = server.connect()
        variables, before = ready.family.variables(connection), ready.family.counters(connection)
        finished = ready.measure(server, 2)
        after = ready.family.counters(connection)
        files = observe.file_sizes(ready.family, Path("/proc", str(server.process.pid), "cwd").resolve(), connection)
        sent = ready.sent(server, connection)
        connection.close()
        server.stop(keep_data=False)
    return finished, variables, before, after, sent, files, server


def test_release_is_the_one_declared(ready):
    facts = ready.facts
    assert f"{facts['release']}.".startswith(f"{ready.entry['version']}.")
    assert facts["release"] in facts["told"]["version"]


def test_compiler_is_told_where_the_vendor_left_it_in_the_file(ready):
    told = ready.facts["told"]
    assert (told["compiler_comment"] is None) == (ready.name in HERE)
    older = {"5.5": "none", "5.6": "none", "8.0": "partial", "10.1": "none", "10.2": "none"}
    assert told["hardening"]["relro"] == older.get(".".join(ready.facts["release"].split(".")[:2]), "full")


def test_identity_is_that_of_the_program_that_runs(ready):
    identity = json_record.read(ready.identity)
    assert json_record.file_sha256(ready.install / identity["server_file"]) == identity["sha256"]


def test_server_serves_sysbench_and_stops_cleanly(measured):
    finished, *_, server = measured
    assert finished.output.totals.transactions > 0
    assert server.process.returncode == 0
    assert not server.sockets.exists()
    assert wait_until_gone(["mysqld", "mariadbd", "postgres"], (str(server.sockets),)) == []


def test_idle_connection_outlives_the_stops_of_a_waiting_server(ready):
    with ready.served() as server:
        connection = server.connect()
        cursor = connection.cursor()
        for hold in filter(None, [freezer_of(server.process.pid), Signals(server.process.pid)]):
            for _ in range(3 * RETRIES_OF_5_5):
                hold.stop()
                hold.go_on()
                time.sleep(0.01)
            hold.release()
            cursor.execute("SELECT 1")
            assert cursor.fetchone()[0] == 1
        connection.close()
        server.stop(keep_data=False)


@pytest.fixture
def mysql_block(ready):
    """The command that measures a block of two servers side by side, and the records of its arms."""
    if ready.entry["family"] != "mysql":
        pytest.skip("the other families have blocks in test_side_by_side and test_real_study")
    named = {name: ready.entry[name] for name in ("family", "product", "version")}
    servers = {installed_mariadb.NAME: {**named, "sources": [{"file": "/nowhere"}]}}
    plan = installed_mariadb.plan(servers=servers, options=OPTIONS, datasets={"sbtest": {"tables": 2, "rows": 1000}})
    place = installed_mariadb.Place(ready.folder, ready.identity, plan)
    return place.run_command("sliced", "slices", ARMS), [place.run("sliced", arm) for arm in ARMS]


def test_servers_of_a_block_wait_stopped_while_another_works(mysql_block):
    command, records = mysql_block
    status, said = installed_mariadb.finish(command)
    assert status == 0, said
    for run in map(json_record.read, records):
        assert run["outcome"] == "ok", run["reason"]
        assert run["sliced"]["rounds"] >= 6
        assert run["sliced"]["waiting_cpu_s"] <= STOPPING_S * run["sliced"]["rounds"]
        assert (run["window"]["transactions"] > 0, run["window"]["errors"]) == (True, 0)
        assert run["window"]["queries"] > run["window"]["transactions"]


@pytest.mark.parametrize("with_guard", [False, True], ids=["the job", "the job and its guard"])
def test_job_killed_while_both_servers_of_a_block_are_stopped_leaves_none(ready, mysql_block, with_guard):
    place = (str(ready.folder),)
    with installed_mariadb.start(mysql_block[0]) as job:
        deadline_s = time.monotonic() + DONE_WITHIN_S
        while not (len(found := processes("mysqld", place)) == len(ARMS) and all(map(is_stopped, found))):
            assert job.poll() is None, job.stderr.read()
            assert time.monotonic() < deadline_s, "never were both stopped"
            time.sleep(0.001)
            psutil.Process(job.pid).resume()
            psutil.Process(job.pid).suspend()
        kill_with_guard(job.pid) if with_guard else job.kill()
    if with_guard:
        assert sum(len(leftover.folders) for leftover in leftovers.find()) > len(ARMS)
        with leftovers.hold_machine():
            pass
        assert leftovers.find() == []
    assert wait_until_gone(["mysqld", "sysbench"], place, seconds=10) == []


def test_limit_of_a_login_is_raised_while_thousands_log_in_at_once(ready):
    if ready.entry["family"] == "postgresql":
        pytest.skip("PostgreSQL gives a client 60 s to log in")
    with ready.served() as server:
        connection = server.connect()
        limits_s = [ready.family.variables(connection)["connect_timeout"]]
        with ready.family.patient_logins(connection):
            limits_s.append(ready.family.variables(connection)["connect_timeout"])
        limits_s.append(ready.family.variables(connection)["connect_timeout"])
        assert limits_s == ["10", "300", "10"]
        connection.close()
        server.stop(keep_data=False)


def test_variables_are_those_that_were_asked_for(ready, measured):
    variables = measured[1]
    if ready.entry["family"] == "postgresql":
        assert (variables["listen_addresses"], variables["autovacuum"]) == ("", "off")
        return
    size = 2 * 16 * 2**20 if ready.name == "mysql-8.0.33-binary" else 16 * 2**20
    name = "innodb_redo_log_capacity" if ready.name == "mysql-8.0.33-binary" else "innodb_log_file_size"
    assert OPTIONS["innodb_log_file_size"] == "16M"
    assert int(variables[name]) == size
    assert int(variables["innodb_buffer_pool_size"]) == 64 * 2**20
    off = {variables[name] for name in ("performance_schema", "log_bin")}
    assert (off, variables["skip_networking"]) == ({"OFF"}, "ON")
    assert variables["version"].startswith(ready.facts["release"])
    assert not [name for name in variables if name.startswith("mysqlx")]


def test_every_option_with_text_is_listed(ready):
    if ready.entry["family"] == "postgresql":
        pytest.skip("its settings are compared in test_option_lists.py")
    names = option_lists.of_help(ready.install / ready.family.SERVER, f"--lc-messages-dir={ready.install}/share")
    assert len(names) > 90
    assert sorted(names - option_lists.listed(ready.family.NAME)) == []


def test_counters_moved_with_the_load(ready, measured):
    _, _, before, after, *_ = measured
    assert after["commits"] > before["commits"]
    assert after["log_written_bytes"] > before["log_written_bytes"]
    if ready.entry["family"] == "mysql":
        # Purging and flushing work against both, so neither need be larger after the load.
        assert any(after[name] != before[name] for name in ("history_list_length", "checkpoint_age_bytes"))
        assert {"dirty_pages", "row_lock_waits", "data_fsyncs", "buffer_pool_misses", "questions"} <= after.keys()


def test_counters_tell_of_rows_and_of_the_change_buffer(ready, measured):
    _, _, before, after, *_ = measured
    if ready.entry["family"] == "postgresql":
        assert after["rows_changed"] > before["rows_changed"]
        return
    assert all(after[name] > before[name] for name in ("rows_inserted", "rows_updated", "rows_deleted"))
    # MariaDB 11 has no change buffer.
    buffered = not ready.name.startswith("mariadb-11")
    assert ({"change_buffer_merges", "change_buffer_merged_inserts"} <= after.keys()) == buffered
    # MariaDB left them out of its report later.
    reported = ready.entry["family"] == "mysql" or ready.name in MARIADB[:2]
    assert ({"change_buffer_pages", "rows_read"} <= after.keys()) == reported
    assert after["free_pages"] > 0


def test_files_of_the_data_directory_are_told_apart(ready, measured):
    files = measured[5]
    schema = "public" if ready.entry["family"] == "postgresql" else "sbtest"
    kinds = {part: sized.kind for part, sized in files.items()}
    # 5.5 keeps tables in the system table space unless told otherwise.
    least_bytes = 0 if ready.name == "mysql-5.5.34-binary" else 1000 * 190
    for table in (f"{schema}.sbtest1", f"{schema}.sbtest2"):
        assert kinds[table] == "table"
        assert files[table].allocated_bytes > least_bytes
    assert {"catalog", "redo"} <= kinds.keys()
    assert files["redo"].apparent_bytes >= 16 * 2**20
    assert "other" not in files or files["other"].apparent_bytes < 2**20


SELECT, UPDATE = "SELECT c FROM sbtest? WHERE id", "UPDATE sbtest? SET"
BETWEEN = f"{SELECT} BETWEEN ? AND ?"
ORDERED = f"{BETWEEN} ORDER BY c"
INDEX, NON_INDEX = f"{UPDATE} k=k+? WHERE id=?", f"{UPDATE} c=? WHERE id=?"
DELETE, INSERT = "DELETE FROM sbtest? WHERE id=?", "INSERT INTO sbtest? (id, k, c, pad) VALUES (?, ?, ?, ?)"
SUM = "SELECT SUM(k) FROM sbtest? WHERE id BETWEEN ? AND ?"
RANGES = [BETWEEN, SUM, ORDERED, ORDERED.replace("SELECT", "SELECT DISTINCT")]
WRITES = [INDEX, NON_INDEX, DELETE, INSERT]
IN_A_TRANSACTION = {
    "simple_select": [f"{SELECT}=?"],
    "simple_range": RANGES[:1],
    "sum_range": RANGES[1:2],
    "order_range": RANGES[2:3],
    "distinct_range": RANGES[3:],
    "index_update": [INDEX],
    "non_index_update": [NON_INDEX],
    "delete_insert": [DELETE, INSERT],
    "oltp": [f"{SELECT}=?", *RANGES, *WRITES],
    "oltp_read_only": [f"{SELECT}=?"] * 10 + RANGES,
    "oltp_read_write": [f"{SELECT}=?"] * 10 + RANGES + WRITES,
    "oltp_write_only": WRITES,
}
ALONE = {
    "oltp_point_select": [f"{SELECT}=?"],
    "oltp_delete": [DELETE],
    "oltp_update_index": [INDEX],
    "oltp_update_non_index": [NON_INDEX],
}
# A record keeps the first 500 statements of an event.
LONG = {"point_selects": ["BEGIN", *([f"{SELECT}=?"] * 499)]}


def test_every_workload_of_the_catalog_sends_what_its_name_says(measured):
    sent = measured[4]
    for name, statements in IN_A_TRANSACTION.items():
        assert sent[name] == ["BEGIN", *statements, "COMMIT"], name
    for name, statements in {**ALONE, **LONG}.items():
        assert sent[name] == statements, name
    assert [text.split(" (")[0] for text in sent["oltp_insert"]] == ["INSERT INTO sbtest?"]
    (points,), (ranges,) = sent["select_random_points"], sent["select_random_ranges"]
    assert points.startswith("SELECT id, k, c, pad FROM sbtest? WHERE k IN (")
    assert ranges.count("BETWEEN") == 10
    created, inserted = sent["bulk_insert"]
    assert created.startswith("CREATE TABLE bulk_?_? (id INTEGER")
    assert inserted == "INSERT INTO bulk_?_? (id, k) VALUES(?, ?)"
    others = {"oltp_insert", "select_random_points", "select_random_ranges", "bulk_insert"}
    assert sorted(sent) == sorted({*IN_A_TRANSACTION, *ALONE, *LONG, *others})
