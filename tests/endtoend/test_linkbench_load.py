"""LinkBench's load on the installed servers: loaded in parallel, run, its operations timed, its counts checked."""

import contextlib
from dataclasses import replace
from pathlib import Path

import pytest

from scripts.lib.recipe_models import TablesRecipe
from scripts.measure.loadgen import gated, output, sysbench
from scripts.measure.loadgen import run_sysbench as loadgen_run
from scripts.measure.loadgen.lua import script_path
from scripts.measure.loadgen.output import SysbenchFailed
from scripts.measure.servers.server import running
from tests.endtoend import installed
from tests.unit.measure.loadgen.test_linkbench import BYTES, MIX

pytestmark = pytest.mark.real
IDS, CLIENTS, SECONDS, DONE_WITHIN_S = 5000, 4, 3, 120
PAGE_BYTES = 16384
OPENED = {
    "mariadb": "variable_value FROM information_schema.global_status WHERE variable_name = 'Connections'",
    "postgresql": "SUM(sessions) FROM pg_stat_database",
}
HEXADECIMAL = {"mariadb": "HEX(data)", "postgresql": "ENCODE(data, 'hex')"}


@pytest.fixture(scope="module", params=installed.SERVERS)
def loaded(request):
    """A server with the graph, loaded by two threads; a connection to it, a folder, and the server's name."""
    with installed.initialised("linkbench-", request.param) as ready:
        log = ready.folder / "server.log"
        with running(ready.family, ready.install, ready.data, ready.options, log) as server:
            tables = TablesRecipe(script="linkbench.lua", options={"ids": IDS})
            loadgen_run.fill(tables, ready.family.sysbench_flags(server.sockets), 2, ready.folder / "load.log")
            with contextlib.closing(server.connect()) as connection:
                yield server, connection, ready.folder, request.param


def call(server, seed: int) -> sysbench.SysbenchCall:
    return sysbench.measuring_call(
        sysbench.read_capabilities(), script_path("linkbench.lua"), server.family.sysbench_flags(server.sockets),
        None, None, {"ids": IDS}, CLIENTS, SECONDS, seed=seed,
    )  # fmt: skip


def run(server, folder: Path, seed: int, script: Path | None = None) -> Path:
    """Run the load, or a script in its place; returns its text."""
    text, own = folder / f"{seed}.txt", call(server, seed)
    if script:
        own = replace(own, script=str(script))
    loadgen_run.run(own, text, timeout_s=DONE_WITHIN_S)
    return text


def answer(connection, statement: str) -> list[tuple]:
    cursor = connection.cursor()
    cursor.execute(f"SELECT {statement}")
    return list(cursor.fetchall())


def asked(connection, statement: str) -> float:
    return float(answer(connection, statement)[0][0])


def tables_of(server) -> list[str]:
    database = "sbtest." if server.family.SYSBENCH_DRIVER == "mysql" else ""
    return [f"{database}{table}" for table in ("nodetable", "linktable", "counttable")]


def test_payloads_arrive_as_the_bytes_that_were_drawn(loaded):
    server, connection, _, name = loaded
    nodes, links, _ = tables_of(server)
    for table, kind in ((nodes, "node"), (links, "link")):
        rows = answer(connection, f"{HEXADECIMAL[name]}, LENGTH(data) FROM {table}")
        data = [bytes.fromhex(text.decode() if isinstance(text, bytes) else text) for text, _ in rows]
        assert [len(one) for one in data] == [length for _, length in rows]
        # Quote, backslash and bytes that are no letter of any text are among them.
        assert set(b"".join(data)) == set(range(BYTES[kind][0], BYTES[kind][1] + 1))


def test_graph_is_loaded_run_and_checked(loaded):
    server, connection, folder, name = loaded
    nodes, links, counts = tables_of(server)
    assert asked(connection, f"COUNT(*) FROM {nodes}") == IDS
    assert asked(connection, f"COUNT(*) FROM {links}") == asked(connection, f"SUM(count) FROM {counts}") > 2 * IDS
    latest = f"FROM {counts} c JOIN (SELECT id1, link_type, MAX(time) AS at FROM {links} GROUP BY id1, link_type) l"
    same = "ON c.id = l.id1 AND c.link_type = l.link_type AND c.time = l.at"
    assert asked(connection, f"COUNT(*) {latest} {same}") == asked(connection, f"COUNT(*) FROM {counts}")
    before = asked(connection, OPENED[name])
    text = run(server, folder, seed=1)
    # Two connections a client, and one for the check at the end.
    assert asked(connection, OPENED[name]) - before == 2 * CLIENTS + 1
    said = text.read_text()
    assert f"counts agree with the links: {IDS} nodes checked" in said
    assert "commits: in the packet of the last statement" in said
    found = output.read_operations(text)
    calls = sum(operation["calls"] for operation in found.values())
    assert calls > 500
    for operation, share in MIX.items():
        wanted = calls * share / 100
        assert abs(found[operation]["calls"] - wanted) < 5 * wanted**0.5 + 1, operation
        assert 0 < found[operation]["p50_ms"] <= found[operation]["p99_ms"] <= found[operation]["max_ms"]
    # One packet, but two or three for a link that is put and two or four for one that is deleted.
    totals = output.parse(said).totals
    assert totals.queries / totals.transactions == pytest.approx(1.25, abs=0.05)
    assert asked(connection, f"MAX(id) FROM {nodes}") > IDS
    assert asked(connection, f"COUNT(*) FROM {nodes} WHERE version = 2") > 0
    assert asked(connection, f"COUNT(*) FROM {links} WHERE visibility = 0") > 0
    assert asked(connection, f"COUNT(*) FROM {links} WHERE time > 1300000000000") > 0
    assert asked(connection, f"COUNT(*) FROM {links} WHERE version <> 0") == 0
    assert asked(connection, f"COUNT(*) FROM {counts} WHERE count < 0") == 0


def test_clients_are_held_at_the_gate_between_operations(loaded):
    server, _, folder, _ = loaded
    text = folder / "gated.txt"
    with gated.gated([call(server, 3)], folder, text) as held:
        slices = [held.slice(0.3, 0.01, within_s=10) for _ in range(3)]
        held.end()
    assert all(one.transactions > 0 for one in slices)
    assert held.gate.completed > 100
    assert f"counts agree with the links: {IDS} nodes checked" in text.read_text()


def test_without_the_client_library_commits_are_packets_of_their_own(loaded):
    server, _, folder, name = loaded
    if name != "mariadb":
        pytest.skip("PostgreSQL's driver takes several statements by itself")
    script = folder / "without.lua"
    hidden = 'require("ffi").offsetof = function() error("unknown") end'
    script.write_text(f'{hidden}\ndofile("{script_path("linkbench.lua")}")\n')
    said = run(server, folder, 4, script).read_text()
    assert "commits: packets of their own" in said
    assert f"counts agree with the links: {IDS} nodes checked" in said
    totals = output.parse(said).totals
    assert totals.queries / totals.transactions == pytest.approx(1.7, abs=0.1)


def test_a_count_that_is_off_is_an_error(loaded):
    server, connection, folder, _ = loaded
    _, links, counts = tables_of(server)
    connection.cursor().execute(f"UPDATE {counts} SET count = count + 1 WHERE id = (SELECT MAX(id1) FROM {links})")
    with pytest.raises(SysbenchFailed, match=f"[12] counts differ from the links, of {IDS} nodes checked"):
        run(server, folder, seed=2)


def compressed(folder: Path, table: str) -> float:
    """Return the part of a table's pages that is allocated, over all its files; pages never written do not count."""
    allocated = written = 0
    for file in folder.rglob(f"{table}*.ibd"):
        data = file.read_bytes()
        allocated += 512 * file.stat().st_blocks
        written += sum(PAGE_BYTES for at in range(0, len(data), PAGE_BYTES) if any(data[at : at + 64]))
    return allocated / written


def test_pages_are_compressed_as_published():
    """Published for MySQL 5.7: zlib leaves 0.708 of the nodes' table and 0.413 of the links'."""
    options = {"ids": 60_000, "create_table_options": "PAGE_COMPRESSED=1"}
    with installed.initialised("linkbench-", "mariadb") as ready:
        chosen = {**ready.options, "innodb_compression_algorithm": "zlib"}
        with running(ready.family, ready.install, ready.data, chosen, ready.folder / "server.log") as server:
            tables, flags = (
                TablesRecipe(script="linkbench.lua", options=options),
                ready.family.sysbench_flags(server.sockets),
            )
            loadgen_run.fill(tables, flags, 2, ready.folder / "load.log")
        found = {table: compressed(ready.data, table) for table in ("nodetable", "linktable")}
    assert found == {"nodetable": pytest.approx(0.708, abs=0.05), "linktable": pytest.approx(0.413, abs=0.05)}
