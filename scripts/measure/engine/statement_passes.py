"""Timed SQL: the statements for a release, and what one execution took, with a digest of its answer."""

import contextlib
import hashlib
import os
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial

from scripts import ROOT
from scripts.lib import json_record
from scripts.lib.host import priority, usage
from scripts.lib.host.causes import full_disk_in
from scripts.lib.host.process import kill_group, watchdog
from scripts.measure.engine.run_parts import SentStatement, ShownAnswer
from scripts.measure.engine.setting import Setting
from scripts.measure.servers.families.connection import Connection
from scripts.measure.servers.server import Server, ServerFailed
from scripts.measure.sql import server_answers, statement_files
from scripts.measure.sql.times import Execution

CHANGES = re.compile(r"(insert|update|delete|replace)\b", re.IGNORECASE)
ANSWERED_WITHIN_S = 6 * 3600


def sent(chosen: Sequence[statement_files.Timed]) -> list[SentStatement]:
    """Return statements as a record shows them."""
    return [{"kind": timed.kind, "name": timed.name, "text": timed.text, "against": timed.against} for timed in chosen]


def line(execution: Execution) -> str:
    """Return an execution of a statement as a line of text."""
    seconds, rows = execution["seconds"], execution["rows"] or 0
    return f"pass {execution['pass']}  {seconds:12.6f} s  {rows:>10} rows  {execution['statement']}\n"


def _statements_of_file(setting: Setting) -> list[statement_files.Timed]:
    """Return the statements of all releases. Raises ValueError when the file is not the one of the recipe."""
    file = statement_files.timed_sql_path(ROOT, setting.context.sql or "")
    if (sha256 := json_record.file_sha256(file)) != setting.load.content:
        raise ValueError(
            f"{file}: its SHA-256 is {sha256}, the recipe's {setting.load.content}; start the workflow again"
        )
    return statement_files.read_timed(file)


def names_of_statements(setting: Setting) -> list[str]:
    """Return the names of the statements of all releases, in the order of the file."""
    return list(dict.fromkeys(statement.name for statement in _statements_of_file(setting)))


def statements_of(setting: Setting) -> tuple[list[statement_files.Timed], list[str]]:
    """Return the statements for this release, and the names of the timed statements that it is not sent."""
    described, statements = json_record.read(setting.identity), _statements_of_file(setting)
    chosen = statement_files.suited_statements(statements, described["family"], described["release"])
    sent_names = {statement.name for statement in chosen}
    timed = dict.fromkeys(statement.name for statement in statements if statement.kind == statement_files.TIMED)
    return chosen, [name for name in timed if name not in sent_names]


@contextlib.contextmanager
def connected(setting: Setting, server: Server) -> Iterator[Connection]:
    """Have a connection for one pass, set up as the family's benchmark statements say."""
    with server_answers.connections_opened(server.connect) as connection:
        priority.carry_over(server.process.pid)
        for text in setting.family.benchmark_statements():
            server_answers.demand_answer(connection, text)
        yield connection


def send(
    server: Server, connection: Connection, statement: statement_files.Timed, number: int
) -> tuple[list[Execution], list[ShownAnswer]]:
    """Send a statement in the pass of this number; returns what a record has of it: nothing if it only prepares."""
    before = usage.process_times(server.process.pid)
    with _awaited(server, statement.name):
        cursor = connection.cursor()
        begin_s = time.perf_counter()
        cursor.execute(statement.text)
        rows = None if cursor.description is None else cursor.fetchall()
        seconds = time.perf_counter() - begin_s
    if statement.kind == statement_files.SHOWN:
        texts, columns = [[plain(value) for value in row] for row in rows or []], cursor.description or []
        named: ShownAnswer = {
            "pass": number, "name": statement.name, "columns": [column[0] for column in columns], "rows": texts,
        }  # fmt: skip
        return [], [named]
    if statement.kind != statement_files.TIMED:
        return [], []
    after = usage.process_times(server.process.pid)
    changed = cursor.rowcount if CHANGES.match(statement.text) else None
    execution: Execution = {
        "pass": number,
        "statement": statement.name,
        "seconds": seconds,
        "rows": changed if rows is None else len(rows),
        "answer_sha256": None if rows is None else digest(rows),
        "server_cpu_s": round(after.user_s + after.system_s - before.user_s - before.system_s, 6),
        "read_bytes": _grown(before.read_bytes, after.read_bytes),
        "write_bytes": _grown(before.write_bytes, after.write_bytes),
    }
    return [execution], []


def _grown(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else after - before


def digest(rows: Iterable[Iterable[object]]) -> str:
    """Return the SHA-256 (hex) of an answer's rows, whatever their order, with values written as `plain` does."""
    total = hashlib.sha256()
    for line in sorted(json_record.canonical([plain(value) for value in row]) for row in rows):
        total.update(line.encode() + b"\n")
    return total.hexdigest()


def plain(value: object) -> str | None:
    """Return a value as text that two servers agree on: numbers without type, floats in 12 digits, bytes as UTF-8."""
    match value:
        case None:
            return None
        case bool() | int() | Decimal():
            return f"{Decimal(value).normalize():f}"
        case float():
            return f"{value:.12g}"
        case bytes() | bytearray():
            return bytes(value).decode("utf-8", "backslashreplace")
    return str(value)


@contextlib.contextmanager
def _awaited(server: Server, name: str) -> Iterator[None]:
    """Raise ServerFailed naming the statement after an error, a lost connection or a timeout."""
    with watchdog(partial(kill_group, server.process), ANSWERED_WITHIN_S) as silent:
        try:
            yield
        except Exception as error:  # each family's driver has its own errors
            how = f"had no answer within {ANSWERED_WITHIN_S} s" if silent.is_set() else f"was not answered: {error}"
            raise ServerFailed(f"statement {name!r} {how}", full_disk_in(str(error))) from error


@contextlib.contextmanager
def pinned(cpus: Sequence[int]) -> Iterator[None]:
    """Keep this process on some CPUs while the body runs."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def sample(server_pid: int) -> usage.Sample:
    """Sample the usage of the server and of this process as load generator, without the server that it started."""
    usage_now, times = usage.sample_usage(server_pid, server_pid), os.times()
    client = replace(usage_now.client, processes=1, user_s=times.user, system_s=times.system)
    return replace(usage_now, client=client)
