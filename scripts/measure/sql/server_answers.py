"""Answers of a server in a form that can be compared: values as text with their type, and error codes."""

import contextlib
import gzip
import hashlib
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypedDict

from scripts.lib import json_record
from scripts.measure.servers.families.connection import Connection

# The drivers' errors for a lost connection contain no answer of the server.
CLIENT_ERRNO = range(2000, 3000)
# The PostgreSQL driver's error for a COMMIT that the server answers with ROLLBACK.
FAILED_BLOCK = "in failed transaction block"
SHUT_DOWN = ("57P01", "57P02", "57P03")

# Rows of an answer, each value as `value_text` writes it.
Rows = list[list[str | None]]
Connect = Callable[[], Connection]


class Reply(TypedDict):
    """Reply to a statement: its rows, or the number of rows that it changed, or the code of its error."""

    rows: Rows | None
    changed: int | None
    error: str | None


class Outcome(TypedDict):
    """What many connections at once left: the number of scans, their different answers, and the final rows."""

    scans: int
    scanned: Rows
    accounts: Rows
    counters: Rows
    transfers: Rows


class StatementAnswer(Reply):
    """The answer to one statement of the check, by its number and topic."""

    number: int
    topic: str
    statement: str


class TableContent(TypedDict):
    """The content of a table: the number of its rows, the digest of all, and the server's own checksum, if any."""

    table: str
    rows: int
    sha256: str
    server_checksum: str | None


class Answers(TypedDict):
    """All answers of one server to the check; `skipped` holds the numbers of statements of other releases."""

    answers: list[StatementAnswer]
    skipped: list[int]
    tables: list[TableContent]
    concurrency: Outcome


class BuildAnswers(Answers):
    """The answers of a build, with the names of the build."""

    server: str
    family: str
    build: str
    build_digest: str
    release: str
    build_id: str | None
    recipe: int
    statements_sha256: str


class ConnectionLost(RuntimeError):
    """The connection was lost before an answer; the text is the driver's."""


def value_text(value: object) -> str | None:
    """Return a value as its type and text, None for NULL. Raises ValueError for a type that has no fixed text."""
    match value:
        case None:
            return None
        case float():
            return f"float {value!r}"
        case bytes() | bytearray():
            return f"bytes {value.hex()}"
        case list() | dict() | set():
            return f"{type(value).__name__} {json_record.canonical(sorted(value) if isinstance(value, set) else value)}"
    if type(value).__str__ is object.__str__ and type(value).__repr__ is object.__repr__:
        raise ValueError(f"answer: a value of type {type(value).__name__} ({value!r}), expected one with a fixed text")
    return f"{type(value).__name__} {value}"


def error_code(error: Exception) -> str:
    """Return SQLSTATE or errno of a driver's error. Raises ConnectionLost if it has none."""
    match error.args:
        case [int(number), *_] if number and number not in CLIENT_ERRNO:
            return f"errno {number}"
        case [{"C": str(state)}, *_] if state not in SHUT_DOWN:
            return f"SQLSTATE {state}"
        case [str(text), *_] if text == FAILED_BLOCK:
            return FAILED_BLOCK
    raise ConnectionLost(f"{type(error).__name__}: {error}") from error


@contextlib.contextmanager
def connections_opened(connect: Connect) -> Iterator[Connection]:
    """Yield a connection and close it; an error of closing does not hide an error of the body."""
    connection = connect()
    try:
        yield connection
    except BaseException:
        with contextlib.suppress(Exception):  # a driver cannot take leave of a server that died
            connection.close()
        raise
    connection.close()


def ask_statements(connection: Connection, text: str) -> Reply:
    """Send a statement and return its answer.

    Raises ConnectionLost when the server goes away.
    """
    cursor = connection.cursor()
    try:
        cursor.execute(text)
        rows = None if cursor.description is None else cursor.fetchall()
    except Exception as error:  # each family's driver has its own errors
        return {"rows": None, "changed": None, "error": error_code(error)}
    if rows is None:
        return {"rows": None, "changed": cursor.rowcount, "error": None}
    return {"rows": [[value_text(value) for value in row] for row in rows], "changed": None, "error": None}


def demand_answer(connection: Connection, text: str) -> Rows:
    """Send a statement that must not fail, and return its rows. Raises ValueError naming it and the error code."""
    answer = ask_statements(connection, text)
    if answer["error"]:
        raise ValueError(f"{text[:200]!r} was answered with {answer['error']}, expected no error")
    return answer["rows"] or []


def answers_digest(rows: Iterable[Sequence[str | None]]) -> str:
    """Return the SHA-256 of rows in their order, in hexadecimal."""
    total = hashlib.sha256()
    for row in rows:
        total.update(json_record.canonical(row).encode() + b"\n")
    return total.hexdigest()


def write_answers(file: Path, answers: Mapping[str, object]) -> None:
    """Write answers to a compressed JSON file, whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f".{file.name}.part")
    text = json_record.json_text({"format": json_record.FORMAT, **answers})
    temporary.write_bytes(gzip.compress(text.encode(), mtime=0))
    temporary.replace(file)


def read_answers(file: Path) -> BuildAnswers:
    """Read the answers that `write_answers` wrote. Raises ValueError naming a file that is not such."""
    try:
        content = json.loads(gzip.decompress(file.read_bytes()))
    except (OSError, EOFError, ValueError) as error:
        raise ValueError(f"{file}: no answers ({error}); remove it, and the workflow asks the server again") from error
    if content.get("format", 0) > json_record.FORMAT:
        raise ValueError(f"{file}: format {content['format']} is newer than this release reads ({json_record.FORMAT})")
    answers: BuildAnswers = content
    return answers


ACCOUNTS, OPENING = 2000, 1000
HOT_ACCOUNTS, COUNTER_ROWS = 16, 4
CONNECTIONS, TRANSFERS, SCANNERS, SCANS = 4, 100, 2, 40
# Deadlock, lock wait timeout, serialization failure: the transaction is to be sent again.
AGAIN = frozenset({"errno 1213", "errno 1205", "SQLSTATE 40001", "SQLSTATE 40P01"})
MOST_TRIES, READY_WITHIN_S = 1000, 60

TABLES = (
    "CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL)",
    "CREATE TABLE counters (id INT PRIMARY KEY, n INT NOT NULL)",
    "CREATE TABLE transfers (connection INT, number INT, giver INT NOT NULL, taker INT NOT NULL, amount INT NOT NULL, "
    "PRIMARY KEY (connection, number))",
)
SCAN = "SELECT COUNT(*), SUM(balance) FROM accounts"


def concurrency(connect: Connect) -> Outcome:
    """Run transactions on new tables over several connections at once; `connect` opens one in the right database.

    Returns the different answers of the full scans and the final rows; `known_outcome` holds what they must be.
    Raises ValueError when a statement fails other than by a conflict; ConnectionLost when the server goes away.
    """
    with connections_opened(connect) as connection:
        _fill(connection)
        start = threading.Barrier(CONNECTIONS + SCANNERS, timeout=READY_WITHIN_S)
        with ThreadPoolExecutor(CONNECTIONS + SCANNERS) as pool:
            workers = [pool.submit(_transfer, connect, number, start) for number in range(CONNECTIONS)]
            scanners = [pool.submit(_scan, connect, start) for _ in range(SCANNERS)]
            for worker in workers:
                worker.result()
            seen = {tuple(row) for scanner in scanners for row in scanner.result()}
        return {
            "scans": SCANNERS * SCANS,
            "scanned": sorted(map(list, seen)),
            "accounts": demand_answer(connection, SCAN),
            "counters": demand_answer(connection, "SELECT id, n FROM counters ORDER BY id"),
            "transfers": demand_answer(connection, "SELECT COUNT(*), SUM(amount) FROM transfers"),
        }


def known_outcome() -> dict[str, list[list[int]]]:
    """Return the outcome that follows from the work alone: each scan's only answer, and the final rows."""
    amounts = [_amount(connection, number) for connection in range(CONNECTIONS) for number in range(TRANSFERS)]
    total = [[ACCOUNTS, ACCOUNTS * OPENING]]
    return {
        "scanned": total,
        "accounts": total,
        "counters": [[number, CONNECTIONS * TRANSFERS // COUNTER_ROWS] for number in range(COUNTER_ROWS)],
        "transfers": [[len(amounts), sum(amounts)]],
    }


def violations(outcome: Outcome) -> dict[str, list[list[int]]]:
    """Return name -> expected rows for the parts of an outcome that are wrong whatever the reference."""
    actual = {
        "scanned": outcome["scanned"],
        "accounts": outcome["accounts"],
        "counters": outcome["counters"],
        "transfers": outcome["transfers"],
    }
    return {
        name: rows
        for name, rows in known_outcome().items()
        if [[int(str(text).split()[-1]) for text in row] for row in actual[name]] != rows
    }


def _amount(connection_number: int, number: int) -> int:
    return 1 + (connection_number * TRANSFERS + number) % 9


def _fill(connection: Connection) -> None:
    values = ", ".join(f"({number}, {OPENING})" for number in range(ACCOUNTS))
    counters = ", ".join(f"({number}, 0)" for number in range(COUNTER_ROWS))
    for text in (*TABLES, f"INSERT INTO accounts VALUES {values}", f"INSERT INTO counters VALUES {counters}"):
        demand_answer(connection, text)


def transactions(connection_number: int) -> list[list[str]]:
    """Return the statements of each transaction of one connection.

    Rows are locked in either order, so that there are deadlocks to detect.
    """
    sent = []
    for number in range(TRANSFERS):
        spread = connection_number * TRANSFERS + number
        giver = spread * 7 % HOT_ACCOUNTS
        taker = (giver + 1 + spread * 5 % (HOT_ACCOUNTS - 1)) % HOT_ACCOUNTS
        amount = _amount(connection_number, number)
        counter = (connection_number + number) % COUNTER_ROWS
        sent.append(
            [
                f"UPDATE accounts SET balance = balance - {amount} WHERE id = {giver}",
                f"UPDATE accounts SET balance = balance + {amount} WHERE id = {taker}",
                f"INSERT INTO transfers VALUES ({connection_number}, {number}, {giver}, {taker}, {amount})",
                f"UPDATE counters SET n = n + 1 WHERE id = {counter}",
            ]
        )
    return sent


def _transfer(connect: Connect, number: int, start: threading.Barrier) -> None:
    with connections_opened(connect) as connection:
        start.wait()
        for statements in transactions(number):
            for _ in range(MOST_TRIES):
                if _committed(connection, statements):
                    break
            else:
                raise ValueError(f"transaction {statements[2]!r} met a conflict {MOST_TRIES} times, expected a commit")


def _committed(connection: Connection, statements: list[str]) -> bool:
    """Send a transaction; return whether it was committed, False if a conflict undid it."""
    for text in ("BEGIN", *statements, "COMMIT"):
        error = ask_statements(connection, text)["error"]
        if error in AGAIN:
            demand_answer(connection, "ROLLBACK")
            return False
        if error:
            raise ValueError(f"{text!r} was answered with {error}, expected no error")
    return True


def _scan(connect: Connect, start: threading.Barrier) -> Rows:
    with connections_opened(connect) as connection:
        start.wait()
        return [demand_answer(connection, SCAN)[0] for _ in range(SCANS)]
