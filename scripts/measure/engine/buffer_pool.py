"""Read tables and indexes into a server's buffer pool before warm-up, so that data in memory is in memory."""

import time
from collections.abc import Mapping

from scripts.measure.engine.run_parts import FileSizes, Pool
from scripts.measure.servers.families.connection import Connection, execute
from scripts.measure.servers.families.family import Family

ALWAYS, NEVER = "always", "never"


def fill(fill_when: str | None, family: Family, connection: Connection, files: Mapping[str, FileSizes]) -> Pool:
    """Read the tables into the pool if the load asks for it, or leaves it open (None) and the pool can hold them.

    `files` are the sizes of the data directory's files by part. Returns a pool without values for a family that does
    not report it.
    """
    pool_bytes, _ = family.pool(connection)
    if pool_bytes is None:
        return Pool()
    table_bytes = sum(part.apparent_bytes or 0 for part in files.values() if part.kind == "table")
    begin_s, read = time.monotonic(), fill_when == ALWAYS or (fill_when != NEVER and table_bytes <= pool_bytes)
    statements = family.reading_statements(connection) if read else []
    before = family.read_bytes(connection) if read else None
    for statement in statements:
        execute(connection, statement)
    fill_s = time.monotonic() - begin_s if read else None
    return Pool(pool_bytes, table_bytes, fill_s, _used_bytes(family, connection, before), statements)


def _used_bytes(family: Family, connection: Connection, before: int | None) -> int | None:
    """Return the bytes of the pool in use, or those read into it since `before`, as far as the server reports them.

    What was read is still there as long as it fits; pages of the catalog that were there before are not counted.
    """
    pool_bytes, used_bytes = family.pool(connection)
    if used_bytes is not None or before is None:
        return used_bytes
    after = family.read_bytes(connection)
    return None if after is None or pool_bytes is None else min(after - before, pool_bytes)
