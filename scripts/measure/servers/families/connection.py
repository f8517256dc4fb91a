"""What the workflow uses of a connection to a server, by any product's Python driver (PEP 249)."""

from collections.abc import Sequence
from typing import Any, Protocol


class Cursor(Protocol):
    """Sends statements, and holds the answer to the last one."""

    @property
    def description(self) -> Sequence[Sequence[Any]] | None:
        """The columns of the answer, each with its name first; None for a statement without rows."""

    @property
    def rowcount(self) -> int:
        """The number of rows that the statement returned or changed."""

    def execute(self, statement: str, parameters: tuple[str, ...] = ..., /) -> object:
        """Send one statement; raises the driver's errors."""

    def fetchall(self) -> Sequence[Any]:
        """Return the rows of the answer that were not fetched yet."""

    def close(self) -> None:
        """Give the answer up."""


class Connection(Protocol):
    """An open connection, on which each statement is a transaction of its own."""

    def cursor(self) -> Cursor:
        """Return a new cursor."""

    def close(self) -> None:
        """End the connection."""


def execute(connection: Connection, *statements: str) -> None:
    """Send statements and leave their answers unread."""
    cursor = connection.cursor()
    for statement in statements:
        cursor.execute(statement)
    cursor.close()


def rows(connection: Connection, statement: str, *parameters: str) -> list[tuple[Any, ...]]:
    """Return the rows that a statement is answered with, each with the driver's types."""
    return _answer(connection, statement, *parameters)[1]


def named_rows(connection: Connection, statement: str) -> list[dict[str, Any]]:
    """Return the rows that a statement is answered with, each by names of columns."""
    names, answered = _answer(connection, statement)
    return [dict(zip(names, row, strict=True)) for row in answered]


def value(connection: Connection, statement: str) -> Any:
    """Return the first value that a statement is answered with. Raises ValueError naming one that gives no row."""
    if not (answered := rows(connection, statement)):
        raise ValueError(f"{statement!r} was answered with no row, expected one")
    return answered[0][0]


def _answer(connection: Connection, statement: str, *parameters: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    cursor = connection.cursor()
    # Without parameters the drivers leave percent signs alone.
    cursor.execute(statement, *([parameters] if parameters else []))
    answer = [column[0] for column in cursor.description or ()], [tuple(row) for row in cursor.fetchall()]
    cursor.close()
    return answer
