"""Read tables and indexes into a server's buffer pool before warm-up, so that data in memory is in memory."""

import time
from collections.abc import Mapping
from typing import Any

from scripts.measure.servers.families import Family

ALWAYS, NEVER = "always", "never"


def fill(load: Mapping[str, Any], family: Family, connection: Any, files: Mapping[str, Any]) -> dict[str, Any]:
    """Read the tables into the pool if the load asks for it, or leaves it open and the pool can hold them.

    `files` are the sizes of the data directory's files by part. Returns the facts of `pool`, empty for a family that
    does not report its pool.
    """
    pool_bytes, _ = family.pool(connection)
    if pool_bytes is None:
        return {}
    table_bytes = sum(part["apparent_bytes"] for part in files.values() if part["kind"] == "table")
    asked = load.get("fill")
    begin_s, read = time.monotonic(), asked == ALWAYS or (asked != NEVER and table_bytes <= pool_bytes)
    statements = family.reading_statements(connection) if read else []
    before = family.read_bytes(connection) if read else None
    for statement in statements:
        cursor = connection.cursor()
        cursor.execute(statement)
        cursor.close()
    fill_s = time.monotonic() - begin_s if read else None
    return {
        "pool_bytes": pool_bytes,
        "table_bytes": table_bytes,
        "fill_s": fill_s,
        "used_bytes": _used_bytes(family, connection, before),
        "statements": statements,
    }


def _used_bytes(family: Family, connection: Any, before: int | None) -> int | None:
    """Return the bytes of the pool in use, or those read into it since `before`, as far as the server reports them.

    What was read is still there as long as it fits; pages of the catalog that were there before are not counted.
    """
    pool_bytes, used_bytes = family.pool(connection)
    if used_bytes is not None or before is None:
        return used_bytes
    after = family.read_bytes(connection)
    return None if after is None or pool_bytes is None else min(after - before, pool_bytes)
