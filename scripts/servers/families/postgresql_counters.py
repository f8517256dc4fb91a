"""What a PostgreSQL server says of itself: its settings, what it counts, and which files hold which table."""

import pg8000.dbapi

from scripts.servers.families import postgresql_options
from scripts.servers.families.postgresql_network import DATABASE


def variables(connection: pg8000.dbapi.Connection) -> dict[str, str]:
    """Return every setting as the server has it."""
    return dict(_rows(connection, "SELECT name, setting FROM pg_settings ORDER BY name"))


def counters(connection: pg8000.dbapi.Connection) -> dict[str, float]:
    """Return the counters worth comparing at both edges of a window."""
    names = ["commits", "rollbacks", "block_reads", "block_hits", "rows_changed", "deadlocks"]
    database = _rows(
        connection,
        "SELECT xact_commit, xact_rollback, blks_read, blks_hit, tup_inserted + tup_updated + tup_deleted, deadlocks "
        f"FROM pg_stat_database WHERE datname = '{DATABASE}'",
    )[0]
    wal = _rows(connection, "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')")[0][0]
    return {
        **{name: float(value) for name, value in zip(names, database, strict=True)},
        "log_written_bytes": float(wal),
    }


def engine_report(connection: pg8000.dbapi.Connection) -> str:
    """Return nothing: there is no such report."""
    return ""


def table_files(connection: pg8000.dbapi.Connection) -> dict[str, str]:
    """Return path below the data directory -> table, of the first file of each table, of its indexes and its TOAST."""
    return dict(_rows(connection, postgresql_options.TABLE_FILES))


def _rows(connection: pg8000.dbapi.Connection, statement: str) -> list[tuple]:
    cursor = connection.cursor()
    cursor.execute(statement)
    return list(cursor.fetchall())
