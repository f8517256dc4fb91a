"""LinkBench's load on the installed servers: loaded in parallel, run, its operations timed, its counts checked."""

import contextlib
import tempfile
from pathlib import Path

import pytest

from scripts import families, filling, load_dataset, operations, snapshot, sysbench, sysbench_run, workplace
from scripts.server import running
from scripts.sysbench_flags import script_path
from scripts.sysbench_output import SysbenchFailed
from tests.endtoend import installed_mariadb, installed_postgresql
from tests.unit.test_linkbench import MIX

pytestmark = pytest.mark.real
SERVERS = {"mariadb": installed_mariadb, "postgresql": installed_postgresql}
SMALL = {
    "mariadb": {"innodb_buffer_pool_size": "64M", "innodb_log_file_size": "16M"},
    "postgresql": {"shared_buffers": "64MB", "max_connections": 20},
}
IDS, SECONDS, DONE_WITHIN_S = 2000, 3, 120
OWN = {"mariadb": {"partitions": 4}, "postgresql": {}}


@pytest.fixture(scope="module", params=SERVERS)
def loaded(request):
    """A server with the graph, loaded by two threads; a connection to it, and a folder."""
    installed = SERVERS[request.param]
    if why := installed.missing():
        pytest.skip(why)
    with tempfile.TemporaryDirectory(prefix="linkbench-", dir="/var/tmp") as name, snapshot.workspace(None) as place:
        folder = Path(name)
        folder.chmod(0o755)
        family = families.of(request.param)
        install = workplace.installed(installed.lay_out(folder / "build"))
        options = load_dataset.server_options(family, {"options": SMALL[request.param]})
        data = load_dataset.initialise(family, install, place, options, folder / "init.log")
        with running(family, install, data, options, folder / "server.log") as server:
            tables = {"script": "linkbench.lua", "options": {"ids": IDS, **OWN[request.param]}}
            filling.fill(tables, family.sysbench_flags(server.sockets), 2, folder / "load.log")
            with contextlib.closing(server.connect()) as connection:
                yield server, connection, folder


def run(server, folder: Path, clients: int, seed: int) -> Path:
    """Run the load; returns its text."""
    command = sysbench.run_command(
        sysbench.read_capabilities(), script_path("linkbench.lua"), server.family.sysbench_flags(server.sockets),
        None, None, {"ids": IDS}, clients, SECONDS, seed=seed,
    )  # fmt: skip
    text = folder / f"{seed}.txt"
    sysbench_run.run(command, text, timeout_s=DONE_WITHIN_S)
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
    found = operations.read(text)
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
