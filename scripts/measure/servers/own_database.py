"""The database of ours on a server that already runs: made with a marker table, and dropped only if it has the marker.

Whoever has made a database of this name without the marker keeps it.
"""

import contextlib
import secrets

from scripts.measure.servers.endpoint import Endpoint
from scripts.measure.servers.families.connection import execute, rows
from scripts.measure.servers.families.family import Family

MARKER = "pgobench_marker"


class NotOurs(ValueError):
    """A database that exists and has no marker of ours, or another one than was expected."""


def make(family: Family, endpoint: Endpoint, database: str) -> str:
    """Make a database with a new mark in it, in place of one of ours from before; return the mark.

    Raises NotOurs, with nothing changed, for a database without the marker.
    """
    drop(family, endpoint, database)
    mark = secrets.token_hex(8)
    with contextlib.closing(family.reach(endpoint)) as connection:
        execute(connection, f"CREATE DATABASE {database}")
    with contextlib.closing(family.reach(endpoint.within(database))) as connection:
        execute(connection, f"CREATE TABLE {MARKER} (mark VARCHAR(32) PRIMARY KEY)")
        execute(connection, f"INSERT INTO {MARKER} VALUES ('{mark}')")
    return mark


def drop(family: Family, endpoint: Endpoint, database: str) -> bool:
    """Drop a database of ours; return whether there was one. Raises NotOurs for one without the marker."""
    with contextlib.closing(family.reach(endpoint)) as connection:
        if not family.has_database(connection, database):
            return False
        mark_in(family, endpoint, database)
        execute(connection, family.drop_statement(database))
    return True


def mark_in(family: Family, endpoint: Endpoint, database: str) -> str:
    """Return the mark in a database that exists. Raises NotOurs without the marker, or with more than one mark."""
    with contextlib.closing(family.reach(endpoint.within(database))) as connection:
        try:
            marks = rows(connection, f"SELECT mark FROM {MARKER}")
        except Exception as error:  # each family's driver has its own errors for a table that is missing
            raise NotOurs(_refusal(endpoint, database, f"it has no table {MARKER} that we can read")) from error
    if len(marks) != 1:
        raise NotOurs(_refusal(endpoint, database, f"its table {MARKER} has {len(marks)} rows, expected 1"))
    return str(marks[0][0])


def demand_mark(family: Family, endpoint: Endpoint, database: str, mark: str, record: str) -> None:
    """Raise NotOurs unless a database exists and has the mark that the `record` of its loading states."""
    with contextlib.closing(family.reach(endpoint)) as connection:
        exists = family.has_database(connection, database)
    actual = mark_in(family, endpoint, database) if exists else "no such database"
    if actual != mark:
        raise NotOurs(
            f"database {database} of {endpoint.server}: its mark is {actual!r}, expected {mark!r}: its tables were "
            f"dropped or loaded anew since {record} was written; remove that file, and they are loaded again"
        )


def _refusal(endpoint: Endpoint, database: str, why: str) -> str:
    return (
        f"database {database} of {endpoint.server} was not made by this workflow: {why}; it is left as it is. Drop it "
        "by hand if nobody needs it, or rename the study"
    )
