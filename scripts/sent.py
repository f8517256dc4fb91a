"""What one event of a workload sends, as the server itself logged it; after the window, so that no figure holds it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scripts import sysbench_run
from scripts.phases import Phases
from scripts.run_setting import Setting
from scripts.server import Server

# Of an event that sends more, and of a statement that is longer, this much is kept.
MOST_STATEMENTS, MOST_CHARACTERS = 500, 2000
ONE_EVENT = {"--threads": "1", "--time": "0", "--events": "1"}
DONE_WITHIN_S = 120


def of_one_event(command: Sequence[str]) -> list[str]:
    """Return the command that has one client of a load do one event."""
    named = [(word.partition("=")[0], word) for word in command]
    return [f"{name}={ONE_EVENT[name]}" if name in ONE_EVENT else word for name, word in named]


def logged(
    setting: Setting, server: Server, connection: Any, command: Sequence[str], phases: Phases
) -> dict[str, dict[str, Any]]:
    """Return what one event sends, for a run's record; nothing unless this run is the one to show it."""
    if not setting.place.get("log_statements"):
        return {}
    found = statements(server, connection, command, setting.log.with_suffix(".event.txt"))
    phases.end("log_statements")
    return {"statements": found}


def statements(server: Server, connection: Any, command: Sequence[str], text: Path) -> dict[str, Any]:
    """Run one event of a load, whose measuring command is `command`, and return what the server logged of it.

    `sent` holds the statements in their order, `total` counts them. Raises SysbenchFailed when the event fails.
    """
    read = server.log.stat().st_size
    server.family.log_statements(connection)
    sysbench_run.run(of_one_event(command), text, timeout_s=DONE_WITHIN_S)
    with server.log.open("rb") as log:
        log.seek(read)
        every = server.family.logged_statements(connection, log.read().decode(errors="replace"))
    return {"sent": [one[:MOST_CHARACTERS] for one in every[:MOST_STATEMENTS]], "total": len(every)}
