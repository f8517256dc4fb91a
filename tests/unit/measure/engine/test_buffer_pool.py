"""When tables are read into the pool, and what is recorded of it."""

import pytest

from scripts.measure.engine import buffer_pool
from scripts.measure.engine.run_parts import FileSizes

FILES = {
    "sbtest.sbtest1": FileSizes("table", apparent_bytes=60, allocated_bytes=70),
    "sbtest.sbtest2": FileSizes("table", apparent_bytes=40, allocated_bytes=50),
    "redo": FileSizes("redo", apparent_bytes=1000, allocated_bytes=1000),
}


class Connection:
    """A connection that keeps the statements it was sent."""

    def __init__(self):
        self.sent = []

    def cursor(self):
        return self

    def execute(self, statement):
        self.sent.append(statement)

    def close(self):
        """Do nothing."""


class Family:
    """A server whose pool has a size, and one page in use per statement."""

    def __init__(self, pool_bytes):
        self.pool_bytes = pool_bytes

    def pool(self, connection):
        return self.pool_bytes, len(connection.sent)

    def reading_statements(self, _):
        return ["SELECT 1", "SELECT 2"]

    def read_bytes(self, connection):
        return None


class Reading(Family):
    """One that knows the bytes it has read, 40 per statement on 7 of before, but not how many are in use."""

    def pool(self, connection):
        return self.pool_bytes, None

    def read_bytes(self, connection):
        return 7 + 40 * len(connection.sent)


@pytest.mark.parametrize(
    ("fill", "pool_bytes", "used"),
    [(buffer_pool.ALWAYS, 1000, 80), (buffer_pool.ALWAYS, 50, 50), (buffer_pool.NEVER, 1000, None)],
)
def test_bytes_read_stand_for_those_in_use_where_only_these_are_known(fill, pool_bytes, used):
    assert buffer_pool.fill(fill, Reading(pool_bytes), Connection(), FILES).used_bytes == used


@pytest.mark.parametrize(
    ("fill", "pool_bytes", "read"),
    [(None, 100, True), (None, 99, False), (buffer_pool.ALWAYS, 99, True), (buffer_pool.NEVER, 1000, False)],
)
def test_tables_are_read_where_they_fit_unless_the_load_says_otherwise(fill, pool_bytes, read):
    connection = Connection()
    pool = buffer_pool.fill(fill, Family(pool_bytes), connection, FILES)
    assert connection.sent == (["SELECT 1", "SELECT 2"] if read else [])
    assert (pool.pool_bytes, pool.table_bytes) == (pool_bytes, 100)
    assert pool.used_bytes == len(connection.sent)
    assert pool.statements == connection.sent
    assert (pool.fill_s is not None) == read


def test_nothing_is_read_or_recorded_where_the_pool_is_unknown():
    connection = Connection()
    assert not buffer_pool.fill(None, Family(None), connection, FILES)
    assert connection.sent == []
