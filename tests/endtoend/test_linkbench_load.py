"""LinkBench's load on the installed servers: loaded in parallel, run, its operations timed, its counts checked."""

import contextlib
from pathlib import Path

import pytest

from scripts.loadgen import output, sysbench
from scripts.loadgen import run as loadgen_run
from scripts.loadgen.lua import script_path
from scripts.loadgen.output import SysbenchFailed
from scripts.servers.server import running
from tests.endtoend import installed
from tests.unit.loadgen.test_linkbench import MIX

pytestmark = [pytest.mark.real, pytest.mark.shares]
IDS, SECONDS, DONE_WITHIN_S = 2000, 3, 120
OWN = {"mariadb": {"partitions": 4}, "postgresql": {}}


@pytest.fixture(scope="module", params=installed.SERVERS)
def loaded(request):
    """A server with the graph, loaded by two threads; a connection to it, and a folder."""
    with installed.initialised("linkbench-", request.param) as ready:
        log = ready.folder / "server.log"
        with running(ready.family, ready.install, ready.data, ready.options, log) as server:
            tables = {"script": "linkbench.lua", "options": {"ids": IDS, **OWN[request.param]}}
            loadgen_run.fill(tables, ready.family.sysbench_flags(server.sockets), 2, ready.folder / "load.log")
            with contextlib.closing(server.connect()) as connection:
                yield server, connection, ready.folder


def run(server, folder: Path, clients: int, seed: int) -> Path:
    """Run the load; returns its text."""
    command = sysbench.run_command(
        sysbench.read_capabilities(), script_path("linkbench.lua"), server.family.sysbench_flags(server.sockets),
        None, None, {"ids": IDS}, clients, SECONDS, seed=seed,
    )  # fmt: skip
    text = folder / f"{seed}.txt"
    loadgen_run.run(command, text, timeout_s=DONE_WITHIN_S)
    return text


def asked(connection, statement: str) -> float:
    cursor = connection.cursor()
    cursor.execute(f"SELECT {statement}")
    return float(cursor.fetchone()[0])


def test_graph_is_loaded_run_and_checked(loaded):
    server, connection, folder = loaded
    database = "sbtest." if server.family.SYSBENCH_DRIVER == "mysql" else ""
    nodes, links, counts = (f"{database}{table}" for table in ("nodetable", "linktable", "counttable"))
    assert asked(connection, f"COUNT(*) FROM {nodes}") == IDS
    assert asked(connection, f"COUNT(*) FROM {links}") == asked(connection, f"SUM(count) FROM {counts}") > 2 * IDS
    text = run(server, folder, clients=4, seed=1)
    assert f"counts agree with the links: {IDS} nodes checked" in text.read_text()
    found = output.read_operations(text)
    calls = sum(operation["calls"] for operation in found.values())
    assert calls > 500
    for name, share in MIX.items():
        wanted = calls * share / 100
        assert abs(found[name]["calls"] - wanted) < 5 * wanted**0.5 + 1, name
        assert 0 < found[name]["p50_ms"] <= found[name]["p99_ms"] <= found[name]["max_ms"]
    assert asked(connection, f"MAX(id) FROM {nodes}") > IDS
    assert asked(connection, f"COUNT(*) FROM {links} WHERE visibility = 0") > 0
    assert asked(connection, f"COUNT(*) FROM {links} WHERE version > 0") > 0
    connection.cursor().execute(f"UPDATE {counts} SET count = count + 1 WHERE id = (SELECT MAX(id1) FROM {links})")
    with pytest.raises(SysbenchFailed, match=f"[12] counts differ from the links, of {IDS} nodes checked"):
        run(server, folder, clients=4, seed=2)
