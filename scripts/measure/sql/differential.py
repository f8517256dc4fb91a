"""The differential check: ask a build's server statements, and compare the answers with those of its check reference.

The check reference is a build of the same server; all answers must be identical.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from scripts import ROOT
from scripts.lib import json_record
from scripts.lib.host import outcome as host_outcome
from scripts.lib.host.entry import say_waiting
from scripts.lib.host.locks import shared
from scripts.lib.host.process import kill_group, watchdog
from scripts.measure.servers import data_directory, families
from scripts.measure.servers.data_directory import initialise
from scripts.measure.servers.options import server_options
from scripts.measure.servers.server import Server, ServerFailed, running
from scripts.measure.sql import server_answers, statement_files
from scripts.measure.sql.server_answers import concurrency, violations

SCHEMA = "answers"
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
TYPES = (
    f"SELECT DISTINCT data_type FROM information_schema.columns WHERE table_schema = '{SCHEMA}' AND table_name = '{{}}'"
)


def question(name: str, release: str, install: Path, log: Path) -> dict[str, Any]:
    """Return the answers, as `answer` does, of a server of the family `name`, started on a new data directory."""
    family = families.of(name)
    options = {**server_options(family, {}), **family.CHECK_OPTIONS}
    with shared(say_waiting), data_directory.workspace(None) as folder:
        data = initialise(family, install, folder, options, log)
        with running(family, install, data, options, log) as server:
            with host_outcome.refusing():
                answered = answer(server, name, release)
            server.stop(keep_data=False)
    return answered


def answer(server: Server, family: str, release: str) -> dict[str, Any]:
    """Send all statements to a newly initialised server; return {answers, skipped, tables, concurrency}."""
    asked = statement_files.read_check(ROOT, family)
    chosen = [statement for statement in asked if statement.suits(family, release)]
    return {
        "answers": answer_all(server, chosen),
        "skipped": [statement.number for statement in asked if not statement.suits(family, release)],
        "concurrency": _concurrency(server),
        "tables": _tables(server, release),
    }


def answer_all(server: Server, chosen: list[statement_files.Statement]) -> list[dict[str, Any]]:
    """Send statements in their order, each on its connection. Raises ServerFailed naming the one not answered."""
    found = []
    with ExitStack() as stack:
        connections = {
            name: stack.enter_context(server_answers.connections_opened(server.connect))
            for name in statement_files.CONNECTIONS
        }
        for statement in chosen:
            known = {"number": statement.number, "topic": statement.topic, "statement": statement.text}
            with _named(server, f"statement {statement.number} ({statement.topic}): {statement.text}"):
                found.append(
                    {**known, **server_answers.ask_statements(connections[statement.connection], statement.text)}
                )
    return found


def _concurrency(server: Server) -> dict[str, Any]:
    with _named(server, "the part with many connections at once"):
        return concurrency(lambda: _entered(server))


def _tables(server: Server, release: str) -> list[dict[str, Any]]:
    """Return each table's rows, the digest of its rows by primary key, and the server's own checksum if it has one."""
    with (
        _named(server, "the tables' content"),
        server_answers.connections_opened(lambda: _entered(server)) as connection,
    ):
        names = sorted(_words(server_answers.demand_answer(connection, TABLES)))
        types = {name: set(_words(server_answers.demand_answer(connection, TYPES.format(name)))) for name in names}
        return [
            _table(connection, name, server.family.checksum_statement(name, types[name], release)) for name in names
        ]


def _table(connection: Any, name: str, checksum: str | None) -> dict[str, Any]:
    if not (key := _words(server_answers.demand_answer(connection, KEY.format(name)))):
        raise ValueError(
            f"table {name} has no primary key, so its rows have no order; give it one in {statement_files.CHECK_FOLDER}"
        )
    rows = server_answers.demand_answer(connection, f"SELECT * FROM {name} ORDER BY {', '.join(key)}")
    known = server_answers.demand_answer(connection, checksum)[0][1] if checksum else None
    return {"table": name, "rows": len(rows), "sha256": server_answers.answers_digest(rows), "server_checksum": known}


def _words(rows: list[list[str | None]]) -> list[str]:
    """Return the first column's texts without their types."""
    return [str(row[0]).partition(" ")[2] for row in rows]


def _entered(server: Server) -> Any:
    connection = server.connect()
    for text in server.family.enter_statements(SCHEMA):
        server_answers.demand_answer(connection, text)
    return connection


@contextmanager
def _named(server: Server, question: str) -> Iterator[None]:
    """Turn a death, a lost connection or a silence of the server into ServerFailed with the question's name."""
    with watchdog(partial(kill_group, server.process), ANSWERED_WITHIN_S) as silent:
        try:
            with server.blamed():
                yield
        except (ServerFailed, server_answers.ConnectionLost) as error:
            how = f"gave no answer within {ANSWERED_WITHIN_S} s" if silent.is_set() else "went away"
            raise ServerFailed(f"the server {how} under {question}\n{error}") from error


SAME = ("server", "release", "family", "statements_sha256", "recipe")
MOST_SHOWN = 10
LONGEST_SHOWN = 200
CONCURRENCY = "outcome of concurrency: "


def demand_comparable(given: dict, expected: dict) -> None:
    """Raise ValueError, naming both values, for answers of two servers, two releases or to different statements."""
    for key in SAME:
        if given[key] != expected[key]:
            raise ValueError(
                f"check of {given['server']} {given['build']}: {key} is {given[key]!r}, its check reference "
                f"{expected['server']} {expected['build']} has {expected[key]!r}; only builds of one server that "
                "were asked the same are compared"
            )


def differences(given: dict, expected: dict) -> list[dict[str, Any]]:
    """Return the differences, each {asked, answer, reference}: statements first, then tables, then concurrency."""
    ours, theirs = (dict(_answer_name(one)) for one in (given, expected))
    # A fixed outcome is known without a reference, so a reference that is broken itself is found as well.
    known = {f"{CONCURRENCY}{name}": rows for name, (_, rows) in violations(given["concurrency"]).items()}
    return [
        {"asked": asked, "answer": ours.get(asked), "reference": known.get(asked, theirs.get(asked))}
        for asked in dict.fromkeys([*ours, *theirs])
        if asked in known or ours.get(asked) != theirs.get(asked)
    ]


def _asked(answer: dict) -> str:
    return f"statement {answer['number']} ({answer['topic']}): {answer['statement']}"


def _answer_name(one: dict) -> Iterator[tuple[str, Any]]:
    for answer in one["answers"]:
        yield _asked(answer), {key: answer[key] for key in ("rows", "changed", "error")}
    for table in one["tables"]:
        yield f"content of table {table['table']}", {key: table[key] for key in sorted(table) if key != "table"}
    for name, outcome in one["concurrency"].items():
        yield f"{CONCURRENCY}{name}", outcome
    yield "numbers of skipped statements", one["skipped"]


def story(given: dict, expected: dict, found: list[dict[str, Any]]) -> str:
    """Return the message about differences, with both answers for the first ten."""
    shown = "\n".join(_shown(difference) for difference in found[:MOST_SHOWN])
    more = f"\n… and {len(found) - MOST_SHOWN} more" if len(found) > MOST_SHOWN else ""
    return (
        f"{given['server']}: build {given['build']} answers {len(found)} of {len(dict(_answer_name(given)))} questions "
        f"differently from {expected['build']}, its check reference, so nothing is measured with it:\n{shown}{more}"
    )


def _shown(difference: dict[str, Any]) -> str:
    answer, reference = _first_difference(difference["answer"], difference["reference"])
    return f"- {_short(difference['asked'])}\n    answer:    {_short(answer)}\n    reference: {_short(reference)}"


def _first_difference(answer: Any, reference: Any) -> tuple[Any, Any]:
    """Return both answers, of two lists of rows only the first row that differs, or else the numbers of rows."""
    rows = [one.get("rows") if isinstance(one, dict) else None for one in (answer, reference)]
    if not all(isinstance(one, list) for one in rows):
        return answer, reference
    for number, pair in enumerate(zip(*rows, strict=False), start=1):
        if pair[0] != pair[1]:
            return tuple({"row": number, "values": row} for row in pair)
    return tuple({"rows in all": len(one)} for one in rows)


def _short(value: Any) -> str:
    text = " ".join((value if isinstance(value, str) else json_record.canonical(value)).split())
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def facts(given: dict, expected: dict, found: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the record of a check with the differences found; a build compared with itself is the check reference."""
    wrong = {each["asked"] for each in found}
    return {
        "server": given["server"],
        "release": given["release"],
        "build": given["build"],
        "reference_build": expected["build"],
        "is_check_reference": given["build_digest"] == expected["build_digest"],
        "statements_sha256": given["statements_sha256"],
        "statements": len(given["answers"]) + len(given["skipped"]),
        "skipped": len(given["skipped"]),
        "answered_identically": sum(_asked(answer) not in wrong for answer in given["answers"]),
        "tables_checksummed": len(given["tables"]),
        "scans_under_concurrency": given["concurrency"]["scans"],
        "differences": found,
    }
