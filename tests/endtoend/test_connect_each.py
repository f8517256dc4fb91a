"""An application that connects for each statement goes on when the server's queue of connections is full."""

import os
import signal
import time

import pytest

from scripts.lib.recipe_models import TablesRecipe
from scripts.measure.loadgen import output, sysbench
from scripts.measure.loadgen import run_sysbench as loadgen_run
from scripts.measure.loadgen.lua import script_path
from scripts.measure.servers.server import running
from tests.endtoend import installed

pytestmark = pytest.mark.real
# The client library tries for up to a second by itself; only what the script waits after that is counted.
CLIENTS, SECONDS, DONE_WITHIN_S, LIBRARY_S, STOPPED_S = 16, 4, 60, 1, 2.2
TABLES = TablesRecipe(tables=1, rows=1000)


def test_clients_wait_for_a_place_in_a_full_queue_and_say_how_often():
    with installed.initialised("connect-each-", "mariadb") as ready:
        options = {**ready.options, "back_log": 1}
        with running(ready.family, ready.install, ready.data, options, ready.folder / "server.log") as server:
            flags = ready.family.sysbench_flags(server.sockets)
            loadgen_run.fill(TABLES, flags, 1, ready.folder / "load.log")
            script, pid = script_path("connect_each.lua"), server.process.pid

            def fill_the_queue_once(moment):
                if moment.number == 1:
                    os.kill(pid, signal.SIGSTOP)
                    time.sleep(STOPPED_S)
                    os.kill(pid, signal.SIGCONT)

            call = sysbench.measuring_call(
                sysbench.read_capabilities(), script, flags, TABLES.tables, TABLES.rows, {}, CLIENTS, SECONDS, seed=1
            )
            log = ready.folder / "run.txt"
            done = loadgen_run.run(call, log, timeout_s=DONE_WITHIN_S, on_report=fill_the_queue_once)
            operations = output.read_operations(log)
    assert done.output.totals.errors == 0
    assert done.output.totals.transactions > 100
    # Clients whose connection the server had accepted before it stopped wait for their answer, not for a place.
    assert operations["queue_full"]["calls"] >= 1
    assert 0 < operations["queue_full"]["mean_ms"] <= operations["queue_full"]["max_ms"]
    assert operations["queue_full"]["max_ms"] >= (STOPPED_S - LIBRARY_S) * 1000 / 2
