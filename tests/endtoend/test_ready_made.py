"""Ready-made servers of the catalog, for real: MySQL's own binaries of three decades, and what this machine has."""

import shutil
import tempfile
from pathlib import Path

import pytest

from scripts import record
from tests.endtoend.ready_made import OPTIONS, Ready
from tests.endtoend.watching import wait_until_gone

pytestmark = pytest.mark.real
BINARIES = ["mysql-5.5.34-binary", "mysql-5.6.14-binary", "mysql-8.0.33-binary"]
HERE = ["mariadb-installed", "postgresql-installed"]
# What Maven says when it cannot be had; anything else that goes wrong is ours.
NOT_TO_BE_HAD = ("command mvn not found", "could not be resolved", "Could not transfer", "Could not find artifact")


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
        connection.close()
        server.stop(keep_data=False)
    return finished, variables, before, after, server


def test_release_is_the_one_declared(ready):
    facts = ready.facts
    assert f"{facts['release']}.".startswith(f"{ready.entry['version']}.")
    assert facts["release"] in facts["told"]["version"]


def test_compiler_is_told_where_the_vendor_left_it_in_the_file(ready):
    told = ready.facts["told"]
    assert (told["compiler_comment"] is None) == (ready.name in HERE)
    assert told["hardening"]["relro"] == {"5.5": "none", "5.6": "none", "8.0": "partial"}.get(
        ready.facts["release"][:3], "full"
    )


def test_identity_is_that_of_the_program_that_runs(ready):
    identity = record.read(ready.identity)
    assert record.file_sha256(ready.install / identity["server_file"]) == identity["sha256"]


def test_server_serves_sysbench_and_stops_cleanly(measured):
    finished, *_, server = measured
    assert finished.output.totals.transactions > 0
    assert server.process.returncode == 0
    assert not server.sockets.exists()
    assert wait_until_gone(["mysqld", "mariadbd", "postgres"], (str(server.sockets),)) == []


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


def test_counters_moved_with_the_load(ready, measured):
    _, _, before, after, *_ = measured
    assert after["commits"] > before["commits"]
    assert after["log_written_bytes"] > before["log_written_bytes"]
    if ready.entry["family"] == "mysql":
        assert after["history_list_length"] > before["history_list_length"]
        assert after["checkpoint_age_bytes"] > before["checkpoint_age_bytes"]
        assert {"dirty_pages", "row_lock_waits", "data_fsyncs", "buffer_pool_misses", "questions"} <= after.keys()
