"""What PostgreSQL logs of the statements it is sent (its manual, log_statement)."""

import re

import pg8000.dbapi

# A statement's further lines begin with a tab.
STATEMENT = re.compile(r"LOG:  (?:statement|execute [^:]*): (.*(?:\n\t.*)*)")


def log_statements(connection: pg8000.dbapi.Connection) -> None:
    """Have the server's log hold the statements of connections made from now on."""
    connection.cursor().execute("ALTER ROLE ALL SET log_statement = 'all'")


def logged_statements(connection: pg8000.dbapi.Connection, log: str) -> list[str]:
    """Return the statements in a piece of the server's log, and log no more of them."""
    connection.cursor().execute("ALTER ROLE ALL RESET log_statement")
    return [found.replace("\n\t", "\n") for found in STATEMENT.findall(log)]
