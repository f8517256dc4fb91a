"""The differential check: ask a build's server statements, and compare the answers with those of its check reference.

The check reference is a build of the same server; all answers must be identical.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TypedDict

from scripts import ROOT
from scripts.lib import json_record
from scripts.lib.build_records import Check
from scripts.lib.host import outcome as host_outcome
from scripts.lib.host.causes import full_disk_in
from scripts.lib.host.entry import say_waiting
from scripts.lib.host.locks import shared
from scripts.lib.host.process import kill_group, watchdog
from scripts.measure.servers import data_directory, families
from scripts.measure.servers.data_directory import initialise
from scripts.measure.servers.families.connection import Connection
from scripts.measure.servers.options import server_options
from scripts.measure.servers.server import Server, ServerFailed, running
from scripts.measure.sql import server_answers as answers
from scripts.measure.sql import statement_files
from scripts.measure.sql.server_answers import (
    Answers,
    BuildAnswers,
    Rows,
    StatementAnswer,
    TableContent,
    concurrency,
    violations,
)

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


def question(name: str, release: str, install: Path, log: Path) -> Answers:
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


def answer(server: Server, family: str, release: str) -> Answers:
    """Send all statements to a newly initialised server, and return its answers."""
    statements = statement_files.read_check(ROOT, family)
    chosen = [statement for statement in statements if statement.suits(family, release)]
    replies = answer_all(server, chosen)
    with _named(server, "the part with many connections at once"):
        outcome = concurrency(lambda: _entered(server))
    return {
        "answers": replies,
        "skipped": [statement.number for statement in statements if not statement.suits(family, release)],
        "concurrency": outcome,
        "tables": _tables(server, release),
    }


def answer_all(server: Server, chosen: list[statement_files.Statement]) -> list[StatementAnswer]:
    """Send statements in their order, each on its connection. Raises ServerFailed naming the one not answered."""
    answered: list[StatementAnswer] = []
    with ExitStack() as stack:
        connections = {
            name: stack.enter_context(answers.connections_opened(server.connect))
            for name in statement_files.CONNECTIONS
        }
        for statement in chosen:
            with _named(server, f"statement {statement.number} ({statement.topic}): {statement.text}"):
                reply = answers.ask_statements(connections[statement.connection], statement.text)
            answered.append(
                {"number": statement.number, "topic": statement.topic, "statement": statement.text, **reply}
            )
    return answered


def _tables(server: Server, release: str) -> list[TableContent]:
    """Return each table's rows, the digest of its rows by primary key, and the server's own checksum if it has one."""
    with (
        _named(server, "the tables' content"),
        answers.connections_opened(lambda: _entered(server)) as connection,
    ):
        names = sorted(_words(answers.demand_answer(connection, TABLES)))
        types = {name: set(_words(answers.demand_answer(connection, TYPES.format(name)))) for name in names}
        return [
            _table(connection, name, server.family.checksum_statement(name, types[name], release)) for name in names
        ]


def _table(connection: Connection, name: str, checksum: str | None) -> TableContent:
    if not (key := _words(answers.demand_answer(connection, KEY.format(name)))):
        raise ValueError(
            f"table {name} has no primary key, so its rows have no order; give it one in {statement_files.CHECK_FOLDER}"
        )
    rows = answers.demand_answer(connection, f"SELECT * FROM {name} ORDER BY {', '.join(key)}")
    server_checksum = answers.demand_answer(connection, checksum)[0][1] if checksum else None
    sha256 = answers.answers_digest(rows)
    return {"table": name, "rows": len(rows), "sha256": sha256, "server_checksum": server_checksum}


def _words(rows: Rows) -> list[str]:
    """Return the first column's texts without their types."""
    return [str(row[0]).partition(" ")[2] for row in rows]


def _entered(server: Server) -> Connection:
    connection = server.connect()
    for text in server.family.enter_statements(SCHEMA):
        answers.demand_answer(connection, text)
    return connection


@contextmanager
def _named(server: Server, question: str) -> Iterator[None]:
    """Turn a death, a lost connection or a silence of the server into ServerFailed with the question's name."""
    with watchdog(partial(kill_group, server.process), ANSWERED_WITHIN_S) as silent:
        try:
            with server.blamed():
                yield
        except (ServerFailed, answers.ConnectionLost) as error:
            how = f"gave no answer within {ANSWERED_WITHIN_S} s" if silent.is_set() else "went away"
            code = error.cause.code if isinstance(error, ServerFailed) else full_disk_in(str(error))
            raise ServerFailed(f"the server {how} under {question}\n{error}", code) from error


SAME = ("server", "release", "family", "statements_sha256", "recipe")
MOST_SHOWN = 10
LONGEST_SHOWN = 200
CONCURRENCY = "outcome of concurrency: "


class AnswerDifference(TypedDict):
    """A question that two builds answer differently; None is an answer that one of them lacks."""

    asked: str
    answer: object
    reference: object


def demand_comparable(build: BuildAnswers, reference: BuildAnswers) -> None:
    """Raise ValueError, naming both values, for answers of two servers, two releases or to different statements."""
    for key in SAME:
        if build.get(key) != reference.get(key):
            raise ValueError(
                f"check of {build['server']} {build['build']}: {key} is {build.get(key)!r}, its check reference "
                f"{reference['server']} {reference['build']} has {reference.get(key)!r}; only builds of one server "
                "that were asked the same are compared"
            )


def differences(build: Answers, reference: Answers) -> list[AnswerDifference]:
    """Return the differences: statements first, then tables, then concurrency."""
    by_build, by_reference = dict(_questions(build)), dict(_questions(reference))
    # A fixed outcome is known without a reference, so a reference that is broken itself is found as well.
    fixed = {f"{CONCURRENCY}{name}": rows for name, rows in violations(build["concurrency"]).items()}
    return [
        {
            "asked": question,
            "answer": by_build.get(question),
            "reference": fixed.get(question, by_reference.get(question)),
        }
        for question in dict.fromkeys([*by_build, *by_reference])
        if question in fixed or by_build.get(question) != by_reference.get(question)
    ]


def _statement(answer: StatementAnswer) -> str:
    return f"statement {answer['number']} ({answer['topic']}): {answer['statement']}"


def _questions(answers: Answers) -> Iterator[tuple[str, object]]:
    """Yield each question with its answer."""
    for answer in answers["answers"]:
        yield _statement(answer), {"rows": answer["rows"], "changed": answer["changed"], "error": answer["error"]}
    for table in answers["tables"]:
        content = {key: value for key, value in sorted(table.items()) if key != "table"}
        yield f"content of table {table['table']}", content
    for name, outcome in answers["concurrency"].items():
        yield f"{CONCURRENCY}{name}", outcome
    yield "numbers of skipped statements", answers["skipped"]


def story(build: BuildAnswers, reference: BuildAnswers, different: list[AnswerDifference]) -> str:
    """Return the message about differences, with both answers for the first ten."""
    shown = "\n".join(_shown(difference) for difference in different[:MOST_SHOWN])
    more = f"\n… and {len(different) - MOST_SHOWN} more" if len(different) > MOST_SHOWN else ""
    count = len(dict(_questions(build)))
    return (
        f"{build['server']}: build {build['build']} answers {len(different)} of {count} questions "
        f"differently from {reference['build']}, its check reference, so nothing is measured with it:\n{shown}{more}"
    )


def _shown(difference: AnswerDifference) -> str:
    answer, reference = _first_difference(difference["answer"], difference["reference"])
    return f"- {_short(difference['asked'])}\n    answer:    {_short(answer)}\n    reference: {_short(reference)}"


def _first_difference(answer: object, reference: object) -> tuple[object, object]:
    """Return both answers, of two lists of rows only the first row that differs, or else the numbers of rows."""
    match answer, reference:
        case {"rows": list(rows)}, {"rows": list(reference_rows)}:
            for number, (row, expected) in enumerate(zip(rows, reference_rows, strict=False), start=1):
                if row != expected:
                    return {"row": number, "values": row}, {"row": number, "values": expected}
            return {"rows in all": len(rows)}, {"rows in all": len(reference_rows)}
    return answer, reference


def _short(value: object) -> str:
    text = " ".join((value if isinstance(value, str) else json_record.canonical(value)).split())
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def checked(build: BuildAnswers, reference: BuildAnswers, different: list[AnswerDifference]) -> Check:
    """Return the record of a check with the differences that `differences` returned.

    A build compared with itself is the check reference.
    """
    wrong = {difference["asked"] for difference in different}
    return Check(
        server=build["server"],
        release=build["release"],
        build=build["build"],
        reference_build=reference["build"],
        is_check_reference=build["build_digest"] == reference["build_digest"],
        statements_sha256=build["statements_sha256"],
        statements=len(build["answers"]) + len(build["skipped"]),
        skipped=len(build["skipped"]),
        answered_identically=sum(_statement(answer) not in wrong for answer in build["answers"]),
        tables_checksummed=len(build["tables"]),
        scans_under_concurrency=build["concurrency"]["scans"],
        differences=different,
    )
