"""Ask a server the statements of the differential check, on a new data directory, and keep its answers."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from scripts import answers, failures, families, job, record, snapshot, statements, workplace
from scripts.concurrent_answers import concurrency
from scripts.hostlock import shared
from scripts.load_dataset import initialise, server_options
from scripts.process import CommandFailed, say, tell_wait, watchdog
from scripts.server import Server, ServerFailed, running

ROOT = Path(__file__).parents[1]
# Nothing here outlives the check, so nothing waits for a disk; small files are quick to make.
OPTIONS = {
    "innodb": {
        "innodb_buffer_pool_size": "128M",
        "innodb_log_file_size": "48M",
        "innodb_flush_log_at_trx_commit": 0,
        "innodb_lock_wait_timeout": 50,
    },
    "postgresql": {
        "shared_buffers": "128MB",
        "max_connections": 40,
        "fsync": False,
        "synchronous_commit": False,
        "deadlock_timeout": "20ms",
    },
}
SCHEMA = "answers"
# Statements after which a connection is in our schema; the first connection's own come from the files.
ENTER = {"innodb": [f"USE {SCHEMA}"], "postgresql": [f"SET search_path TO {SCHEMA}"]}
ANSWERED_WITHIN_S = 120

TABLES = (
    f"SELECT table_name FROM information_schema.tables WHERE table_schema = '{SCHEMA}' AND table_type = 'BASE TABLE'"
)
KEY = (
    "SELECT k.column_name FROM information_schema.key_column_usage k JOIN information_schema.table_constraints c "
    "ON c.table_schema = k.table_schema AND c.table_name = k.table_name AND c.constraint_name = k.constraint_name "
    f"WHERE c.constraint_type = 'PRIMARY KEY' AND k.table_schema = '{SCHEMA}' AND k.table_name = '{{}}' "
    "ORDER BY k.ordinal_position"
)


def main(recipe: dict, identity: Path, answers_file: Path, log: Path) -> None:
    """Write `answers_file` with the answers of the build that `identity` describes.

    Raises ServerFailed naming the question under which the server died or fell silent, and ValueError when the
    statements are not those of the recipe. The answers of a build that may fail tell that it did instead.
    """
    begin_s, described = time.monotonic(), record.read(identity)
    names = {key: described.get(key) for key in ("server", "family", "build", "release", "build_id")}
    names |= {key: recipe[key] for key in ("recipe", "build_digest", "statements_sha256")}
    if (found := statements.statements_sha256(ROOT, recipe["family"])) != recipe["statements_sha256"]:
        raise ValueError(f"statements_sha256: the files have {found}, the recipe {recipe['statements_sha256']}")

    def give_up(reason: str) -> None:
        answers.write(answers_file, {**names, **failures.told(reason)})

    with failures.as_result(answers_file.parent, give_up, ServerFailed, CommandFailed):
        failures.usable(identity)
        answered = question(recipe["family"], described["release"], workplace.installed(identity), log)
        answers.write(answers_file, {**names, **answered})
        count, took_s = len(answered["answers"]), time.monotonic() - begin_s
        say(f"[check {described['server']} {described['build']}] {count} statements answered in {took_s:.0f} s")


def question(name: str, release: str, install: Path, log: Path) -> dict[str, Any]:
    """Start a server of the family `name` on a new data directory, and ask it everything, as `answer` does."""
    family = families.of(name)
    dialect = statements.DIALECTS[name]
    options = {**server_options(family, {}), **OPTIONS[dialect]}
    with shared(tell_wait), snapshot.workspace(None) as folder:
        data = initialise(family, install, folder, options, log)
        with running(family, install, data, options, log) as server:
            with failures.refusing():
                answered = answer(server, name, release)
            server.stop(keep_data=False)
    return answered


def answer(server: Server, family: str, release: str) -> dict[str, Any]:
    """Ask a server that has just been initialised everything; returns {answers, skipped, tables, concurrency}."""
    asked = statements.read(ROOT, family)
    chosen = [statement for statement in asked if statement.suits(family, release)]
    enter = ENTER[statements.DIALECTS[family]]
    return {
        "answers": answer_all(server, chosen),
        "skipped": [statement.number for statement in asked if not statement.suits(family, release)],
        "concurrency": _concurrency(server, enter),
        "tables": _tables(server, enter, checksums=statements.DIALECTS[family] == "innodb"),
    }


def answer_all(server: Server, chosen: list[statements.Statement]) -> list[dict[str, Any]]:
    """Send statements in their order, each on its connection. Raises ServerFailed naming the one not answered."""
    found = []
    with ExitStack() as stack:
        connections = {name: stack.enter_context(answers.opened(server.connect)) for name in statements.CONNECTIONS}
        for statement in chosen:
            known = {"number": statement.number, "topic": statement.topic, "statement": statement.text}
            with _named(server, f"statement {statement.number} ({statement.topic}): {statement.text}"):
                found.append({**known, **answers.ask(connections[statement.connection], statement.text)})
    return found


def _concurrency(server: Server, enter: list[str]) -> dict[str, Any]:
    with _named(server, "the part with many connections at once"):
        return concurrency(lambda: _entered(server, enter))


def _tables(server: Server, enter: list[str], *, checksums: bool) -> list[dict[str, Any]]:
    """Return each table's rows, the digest of its rows by primary key, and the server's own checksum if it has one."""
    with _named(server, "the tables' content"), answers.opened(lambda: _entered(server, enter)) as connection:
        names = sorted(_words(answers.demand(connection, TABLES)))
        return [_table(connection, name, checksums) for name in names]


def _table(connection: Any, name: str, checksums: bool) -> dict[str, Any]:
    if not (key := _words(answers.demand(connection, KEY.format(name)))):
        raise ValueError(
            f"table {name} has no primary key, so its rows have no order; give it one in {statements.FOLDER}"
        )
    rows = answers.demand(connection, f"SELECT * FROM {name} ORDER BY {', '.join(key)}")
    checksum = answers.demand(connection, f"CHECKSUM TABLE {name}")[0][1] if checksums else None
    return {"table": name, "rows": len(rows), "sha256": answers.digest(rows), "server_checksum": checksum}


def _words(rows: list[list[str | None]]) -> list[str]:
    """Return the first column's texts without their types."""
    return [str(row[0]).partition(" ")[2] for row in rows]


def _entered(server: Server, enter: list[str]) -> Any:
    connection = server.connect()
    for text in enter:
        answers.demand(connection, text)
    return connection


@contextmanager
def _named(server: Server, question: str) -> Iterator[None]:
    """Turn a death, a lost connection or a silence of the server into ServerFailed with the question's name."""
    with watchdog(server.process, ANSWERED_WITHIN_S) as silent:
        try:
            with server.blamed():
                yield
        except (ServerFailed, answers.ConnectionLost) as error:
            how = f"gave no answer within {ANSWERED_WITHIN_S} s" if silent.is_set() else "went away"
            raise ServerFailed(f"the server {how} under {question}\n{error}") from error


if __name__ == "__main__":
    answers_file = {"type": Path, "required": True, "dest": "answers_file"}
    job.run(main, __doc__, "identity", recipe=job.RECIPE, answers=answers_file)
