"""The statements of one event of a load, as the server logs them."""

from pathlib import Path

from scripts.measure.engine.run_parts import Statements
from scripts.measure.engine.setting import Setting
from scripts.measure.loadgen import run_sysbench
from scripts.measure.loadgen.sysbench import SysbenchCall
from scripts.measure.servers.families.connection import Connection
from scripts.measure.servers.server import Server

# The first statements of an event, and the first characters of a statement, that a record keeps.
MOST_STATEMENTS, MOST_CHARACTERS = 500, 2000
DONE_WITHIN_S = 120


def logged_statements(setting: Setting, server: Server, connection: Connection, call: SysbenchCall) -> Statements:
    """Return the statements of one event, without values unless this run is the one to log them."""
    if not setting.context.log_statements:
        return Statements()
    return statements_of_one_event(server, connection, call, setting.log.with_suffix(".event.txt"))


def statements_of_one_event(server: Server, connection: Connection, call: SysbenchCall, text: Path) -> Statements:
    """Run one event of a load, whose measuring call is `call`; returns the statements that the server logged.

    `sent` holds the first statements in their order, `total` counts all. Raises SysbenchFailed when the event fails.
    """
    read = server.log.stat().st_size
    server.family.log_statements(connection)
    run_sysbench.run_unread(call.of_one_event(), text, timeout_s=DONE_WITHIN_S)
    with server.log.open("rb") as log:
        log.seek(read)
        logged = server.family.logged_statements(connection, log.read().decode(errors="replace"))
    return Statements([text[:MOST_CHARACTERS] for text in logged[:MOST_STATEMENTS]], len(logged))
