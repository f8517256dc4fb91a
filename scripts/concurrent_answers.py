"""Work of many connections at once whose outcome does not depend on their order: transfers, increments, full scans."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from scripts.answers import ask, demand, opened

ACCOUNTS, OPENING = 2000, 1000
HOT_ACCOUNTS, COUNTERS = 16, 4
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


def concurrency(connect: Callable[[], Any]) -> dict[str, Any]:
    """Let connections work at once on new tables; `connect` opens one that is in the right database.

    Returns the different answers of the full scans and the final rows; `known` tells what they must be.
    Raises ValueError when a statement fails other than by a conflict; ConnectionLost when the server goes away.
    """
    with opened(connect) as connection:
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
            "accounts": demand(connection, SCAN),
            "counters": demand(connection, "SELECT id, n FROM counters ORDER BY id"),
            "transfers": demand(connection, "SELECT COUNT(*), SUM(amount) FROM transfers"),
        }


def known() -> dict[str, list[list[int]]]:
    """Return what follows from the work alone: each scan's only answer, and the final rows."""
    amounts = [_amount(connection, number) for connection in range(CONNECTIONS) for number in range(TRANSFERS)]
    whole = [[ACCOUNTS, ACCOUNTS * OPENING]]
    return {
        "scanned": whole,
        "accounts": whole,
        "counters": [[number, CONNECTIONS * TRANSFERS // COUNTERS] for number in range(COUNTERS)],
        "transfers": [[len(amounts), sum(amounts)]],
    }


def violations(outcome: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return name -> (what came out, what is known) of the parts of an outcome that are wrong by themselves."""
    return {
        name: (outcome[name], rows)
        for name, rows in known().items()
        if [[int(str(text).split()[-1]) for text in row] for row in outcome[name]] != rows
    }


def _amount(connection_number: int, number: int) -> int:
    return 1 + (connection_number * TRANSFERS + number) % 9


def _fill(connection: Any) -> None:
    values = ", ".join(f"({number}, {OPENING})" for number in range(ACCOUNTS))
    counters = ", ".join(f"({number}, 0)" for number in range(COUNTERS))
    for text in (*TABLES, f"INSERT INTO accounts VALUES {values}", f"INSERT INTO counters VALUES {counters}"):
        demand(connection, text)


def transactions(connection_number: int) -> list[list[str]]:
    """Return the statements of each transaction of one connection.

    Rows are locked in either order, so that there are deadlocks to detect.
    """
    made = []
    for number in range(TRANSFERS):
        spread = connection_number * TRANSFERS + number
        giver = spread * 7 % HOT_ACCOUNTS
        taker = (giver + 1 + spread * 5 % (HOT_ACCOUNTS - 1)) % HOT_ACCOUNTS
        amount = _amount(connection_number, number)
        counter = (connection_number + number) % COUNTERS
        made.append(
            [
                f"UPDATE accounts SET balance = balance - {amount} WHERE id = {giver}",
                f"UPDATE accounts SET balance = balance + {amount} WHERE id = {taker}",
                f"INSERT INTO transfers VALUES ({connection_number}, {number}, {giver}, {taker}, {amount})",
                f"UPDATE counters SET n = n + 1 WHERE id = {counter}",
            ]
        )
    return made


def _transfer(connect: Callable[[], Any], number: int, start: threading.Barrier) -> None:
    with opened(connect) as connection:
        start.wait()
        for statements in transactions(number):
            for _ in range(MOST_TRIES):
                if _committed(connection, statements):
                    break
            else:
                raise ValueError(f"transaction {statements[2]!r} met a conflict {MOST_TRIES} times, expected a commit")


def _committed(connection: Any, statements: list[str]) -> bool:
    """Send a transaction; tell whether it was committed, False when a conflict undid it."""
    for text in ("BEGIN", *statements, "COMMIT"):
        error = ask(connection, text)["error"]
        if error in AGAIN:
            demand(connection, "ROLLBACK")
            return False
        if error:
            raise ValueError(f"{text!r} was answered with {error}, expected no error")
    return True


def _scan(connect: Callable[[], Any], start: threading.Barrier) -> list[list[str | None]]:
    with opened(connect) as connection:
        start.wait()
        return [demand(connection, SCAN)[0] for _ in range(SCANS)]
