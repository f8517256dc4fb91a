"""Servers that start slowly, hang, refuse connections or roll back: told, counted, and never in the figures."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from scripts.lib import json_record
from scripts.measure.servers import server
from scripts.measure.servers.server import ServerFailed
from tests.endtoend import installed_mariadb
from tests.endtoend.installed_mariadb import Place, finish
from tests.endtoend.watching import leftovers, processes
from tests.faults import confined
from tests.faults.interrupting import PLACES, wait_until
from tests.unit.measure.servers.test_server import READY, place, started  # noqa: F401 (fixture)

needs_mariadb = pytest.mark.skipif(bool(installed_mariadb.missing()), reason=installed_mariadb.missing() or "-")
SLOW = "import time; time.sleep(60)"
DEAF = READY.replace("signal.signal(signal.SIGTERM, leave)", "signal.signal(signal.SIGTERM, signal.SIG_IGN)")


def test_server_that_starts_too_slowly_is_given_up_and_killed(tmp_path, place, monkeypatch):  # noqa: F811
    monkeypatch.setattr(server, "READY_WITHIN_S", 0.5)
    with pytest.raises(ServerFailed, match=r"was not ready after 0\.5 s"), started(tmp_path, place, SLOW):
        pass


def test_server_that_hangs_at_its_stop_has_failed_and_is_killed(tmp_path, place, monkeypatch):  # noqa: F811
    monkeypatch.setattr(server, "STOPPED_WITHIN_S", 0.5)
    with pytest.raises(ServerFailed, match=r"still ran 0\.5 s after the request to stop"):
        with started(tmp_path, place, DEAF.format(status=0)) as running:
            running.stop(keep_data=False)
    assert running.process.poll() is not None


@pytest.fixture(scope="module")
def loaded():
    """The installed MariaDB server and its dataset."""
    with Place.loaded("misbehaving-") as made:
        yield made


def measured(loaded, name, options, clients, **tables):
    """Measure one run with other server options, clients and tables than planned; returns its record."""
    before, load = leftovers(), loaded.paths.plan.load("baseline", "oltp").dump()
    edits = {"load": {"tables": {**load["tables"], **tables}}, "context": {"clients": clients}}
    status, said = finish(loaded.run_command(name, variant=loaded.with_options(**options), **edits))
    assert status == 0, said
    assert leftovers() == before
    return json_record.read(loaded.run(name))


@pytest.mark.real
@needs_mariadb
def test_server_that_refuses_connections_at_this_client_count_has_failed_there(loaded):
    facts = measured(loaded, "refused", {"max_connections": 10}, clients=32)
    assert (facts["outcome"], facts.get("window")) == ("failed", None)
    assert "Too many connections" in facts["reason"]


@pytest.mark.real
@needs_mariadb
def test_deadlocks_are_counted_and_told_at_the_run(loaded):
    facts = measured(loaded, "deadlocked", {"innodb_lock_wait_timeout": 1}, clients=16, rows=10)
    assert facts["outcome"] == "ok"
    assert facts["window"]["errors"] > 0
    assert "errors" in {warning["code"] for warning in facts["warnings"]}


@pytest.mark.real
@needs_mariadb
@pytest.mark.skipif(confined.limit_file() is None, reason="this user may make no cgroup with a limit of memory")
def test_server_that_the_kernel_kills_for_lack_of_memory_has_failed_and_says_so(loaded):
    with confined.to_memory(2) as confine, ThreadPoolExecutor() as aside:
        confined_one = aside.submit(lambda: confine(wait_until(lambda: processes("mariadbd", PLACES), 60)[0].pid))
        facts = measured(loaded, "starved", {}, clients=2)
        confined_one.result()
    assert (facts["outcome"], facts.get("window")) == ("failed", None)
    assert "the kernel killed for lack of memory (1 in /proc/vmstat's oom_kill)" in facts["reason"]
