"""Read tables and indexes into a server's buffer pool before warm-up, so that data in memory is in memory."""

import time
from collections.abc import Mapping
from typing import Any

from scripts.servers.families import Family

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
    for statement in statements:
        cursor = connection.cursor()
        cursor.execute(statement)
        cursor.close()
    return {
        "pool_bytes": pool_bytes,
        "table_bytes": table_bytes,
        "fill_s": time.monotonic() - begin_s if read else None,
        "used_bytes": family.pool(connection)[1],
        "statements": statements,
    }
