"""What MySQL and MariaDB log of the statements they are sent: the general log, kept in its table."""

import pymysql


def log_statements(connection: pymysql.Connection) -> None:
    """Begin a general log, kept in its table."""
    with connection.cursor() as cursor:
        cursor.execute("SET GLOBAL log_output = 'TABLE'")
        cursor.execute("TRUNCATE TABLE mysql.general_log")
        cursor.execute("SET GLOBAL general_log = ON")


def logged_statements(connection: pymysql.Connection, log: str) -> list[str]:
    """Return what others sent since `log_statements`, and end the general log."""
    with connection.cursor() as cursor:
        cursor.execute("SET GLOBAL general_log = OFF")
        cursor.execute(
            "SELECT argument FROM mysql.general_log "
            "WHERE command_type IN ('Query', 'Execute') AND thread_id <> CONNECTION_ID()"
        )
        return [_decoded(argument) for (argument,) in cursor.fetchall()]


def _decoded(text: str | bytes) -> str:
    return text.decode(errors="replace") if isinstance(text, bytes) else text
