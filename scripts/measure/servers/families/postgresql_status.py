"""What a PostgreSQL server reports: settings, counters, files of tables, and waits."""

import re
from collections.abc import Mapping

from scripts.measure.servers.families.connection import Connection, rows, value
from scripts.measure.servers.families.family import OFF, ON, Family, ServerSetting
from scripts.measure.servers.families.option_rules import OptionValue

# The name of our own connections; otherwise they would be idle clients among those of the load.
OWN_NAME = "observer"
TABLE_FILES = """
WITH tables AS (
  SELECT oid, relnamespace::regnamespace || '.' || relname AS name, reltoastrelid FROM pg_class
  WHERE relkind IN ('r', 'm') AND relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
), parts AS (
  SELECT oid AS part, name FROM tables UNION ALL SELECT reltoastrelid, name FROM tables WHERE reltoastrelid <> 0
)
SELECT pg_relation_filepath(part), name FROM parts
UNION ALL SELECT pg_relation_filepath(indexrelid), name FROM parts JOIN pg_index ON indrelid = part
"""
RUNNING = "running, no wait"
# A background process without work waits for an event of type Activity.
WAITS = f"""
    SELECT CASE backend_type WHEN 'client backend' THEN 'connections' ELSE 'background' END,
           coalesce(wait_event_type || ': ' || wait_event, '{RUNNING}'), count(*)
    FROM pg_stat_activity
    WHERE application_name IS DISTINCT FROM '{OWN_NAME}' AND wait_event_type IS DISTINCT FROM 'Activity'
        AND (wait_event IS NOT NULL OR state = 'active' OR backend_type <> 'client backend')
    GROUP BY 1, 2
"""
COUNTERS = {
    "commits": "xact_commit",
    "rollbacks": "xact_rollback",
    "block_reads": "blks_read",
    "block_hits": "blks_hit",
    "rows_changed": "tup_inserted + tup_updated + tup_deleted",
    "deadlocks": "deadlocks",
}

# Statistics of the cluster: name in our records -> view, and its columns to add up. Not all releases have them.
CLUSTER_COUNTERS = {
    "wal_syncs": ("pg_stat_wal", ("wal_sync",)),
    "buffers_written": ("pg_stat_bgwriter", ("buffers_checkpoint", "buffers_clean", "buffers_backend")),
}
COLUMNS = "SELECT attrelid::regclass::text, attname::text FROM pg_attribute WHERE attrelid IN ({views}) AND attnum > 0"

NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)\s*([A-Za-z]*)")
UNIT = re.compile(r"(\d*)([A-Za-z]+)")
# In bytes and in microseconds: https://www.postgresql.org/docs/15/config-setting.html, "Numeric with Unit".
SIZES = {"B": 1, "kB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}
TIMES = {"us": 1, "ms": 1000, "s": 10**6, "min": 60 * 10**6, "h": 3600 * 10**6, "d": 86400 * 10**6}
# initdb takes it in megabytes, without a unit.
IN_MEGABYTES = "wal_segment_size"
# Of a server that was compiled without --with-blocksize.
PAGE_BYTES = 8192


POOL_BYTES = """
    SELECT setting::bigint * current_setting('block_size')::bigint FROM pg_settings WHERE name = 'shared_buffers'
"""
TABLES = """
    SELECT pg_class.oid::regclass::text FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE relkind = 'r' AND nspname !~ '^pg_' AND nspname <> 'information_schema' ORDER BY 1
"""
# The first column of each B-tree; an index of expressions has none.
INDEXED = """
    SELECT indrelid::regclass::text, quote_ident(attname) FROM pg_index
    JOIN pg_class AS index ON index.oid = indexrelid JOIN pg_am ON pg_am.oid = index.relam AND amname = 'btree'
    JOIN pg_class AS tables ON tables.oid = indrelid JOIN pg_namespace ON pg_namespace.oid = tables.relnamespace
    JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
    WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' ORDER BY 1, 2
"""
PLAIN_SCANS = ("enable_seqscan", "enable_bitmapscan")


class PostgreSQLStatus(Family):
    """The part of PostgreSQL that reads what a running server reports."""

    WAITS_SAMPLED = True
    # PGSTAT_MIN_INTERVAL of 1 s in src/backend/utils/activity/pgstat.c.
    REPORTED_WITHIN_S = 1.05
    CLIENT_WAITS = ("Client: ClientRead",)
    FILE_KINDS = tuple(
        (re.compile(pattern), kind)
        for pattern, kind in (
            (r"(?P<stem>(?:base/\d+|pg_tblspc/\d+/[^/]+/\d+)/\d+)(?:_(?:fsm|vm|init))?(?:\.\d+)?", "table"),
            (r"base/pgsql_tmp/.*|base/\d+/t\d+_.*|pg_stat_tmp/.*", "temporary"),
            (r"(?:base|global)/.*", "catalog"),
            (r"pg_wal/.*", "redo"),
        )
    )

    def variables(self, connection: Connection) -> dict[str, str]:
        return dict(rows(connection, "SELECT name, setting FROM pg_settings ORDER BY name"))

    def settings(self, connection: Connection) -> dict[str, ServerSetting]:
        """Return every setting by its name in small letters."""
        settings = rows(connection, "SELECT lower(name), setting, unit FROM pg_settings")
        return {name: ServerSetting(text, unit) for name, text, unit in settings}

    def option_taken(self, name: str, value: OptionValue, settings: Mapping[str, ServerSetting]) -> bool | None:
        """Return whether the server has the value of an option; None if it has no such setting."""
        if name.lower() not in settings:
            return None
        running = settings[name.lower()]
        stated = {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value).strip()
        if stated.lower() in ON | OFF and running.text in ("on", "off"):
            return (stated.lower() in ON) == (running.text == "on")
        stated_number = _number(f"{stated}MB" if name == IN_MEGABYTES else stated, running.unit)
        actual_number = _number(running.text, running.unit)
        if stated_number is None or actual_number is None:
            return stated.lower() == running.text.lower()
        return stated_number == actual_number or (None if stated == "-1" else False)  # -1: the server chooses

    def counters(self, connection: Connection) -> dict[str, float]:
        """Return the counters that are compared at both edges of a window; those the release lacks are missing."""
        reported = _report_own_work(connection)
        columns = ", ".join(COUNTERS.values())
        database = f"SELECT {columns} FROM pg_stat_database WHERE datname = '{self.DATABASE}'"
        counted = dict(zip(COUNTERS, map(float, rows(connection, database)[0]), strict=True))
        wal = value(connection, "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')")
        size = f"SELECT pg_database_size('{self.DATABASE}') / current_setting('block_size')::int"
        pages = {"database_pages": float(value(connection, size))} if reported else {}
        return {**counted, **_cluster_counters(connection), "log_written_bytes": float(wal), **pages}

    def disk_counts(self, counters: Mapping[str, float]) -> dict[str, float]:
        """Return fsyncs, pool_misses and written_bytes up to a moment from its counters; see `Family.disk_counts`.

        A page that is added to a table counts as a block read (PostgreSQL 15, seen), so growth is taken away. What
        backends did is known once they report it; before 15 that holds for our own reading of all tables as well, so
        that pages read are not known.
        """
        counts = {}
        if "database_pages" in counters:
            counts["pool_misses"] = counters["block_reads"] - counters["database_pages"]
        if "wal_syncs" in counters:
            counts["fsyncs"] = counters["wal_syncs"]
        if "buffers_written" in counters:
            counts["written_bytes"] = counters["log_written_bytes"] + counters["buffers_written"] * PAGE_BYTES
        return counts

    def pool(self, connection: Connection) -> tuple[int | None, int | None]:
        """Return (bytes of shared buffers, None): how many are in use is known to an extension only."""
        return int(value(connection, POOL_BYTES)), None

    def read_bytes(self, connection: Connection) -> int | None:
        """Return the bytes of blocks of the database read into shared buffers so far; None before release 15."""
        if not _report_own_work(connection):
            return None
        blocks = f"SELECT blks_read FROM pg_stat_database WHERE datname = '{self.DATABASE}'"
        return int(value(connection, blocks)) * int(value(connection, "SHOW block_size"))

    def reading_statements(self, connection: Connection) -> list[str]:
        """Return a scan of each table and of its indexes that keeps what it reads.

        A sequential scan of a table larger than a fourth of shared buffers reuses a ring of 256 KiB (PostgreSQL's
        src/backend/storage/buffer/README); a scan of a range of row addresses (from 14 on) and one of an index do not.
        """
        tables = [table for (table,) in rows(connection, TABLES)]
        scans = [f"SELECT count(*) FROM {table} WHERE ctid >= '(0,0)'" for table in tables]
        indexed = dict.fromkeys(rows(connection, INDEXED))
        scans += [f"SELECT count({name}) FROM {table} WHERE {name} IS NOT NULL" for table, name in indexed]
        off = [f"SET {name} = off" for name in PLAIN_SCANS]
        return [*off, *scans, *(f"RESET {name}" for name in PLAIN_SCANS)]

    def table_files(self, connection: Connection) -> dict[str, str]:
        """Return path below the data directory -> table, for the first file of tables, their indexes and TOAST."""
        return dict(rows(connection, TABLE_FILES))

    def read_waits(self, connection: Connection) -> dict[tuple[str, str], tuple[float, float]]:
        """Return (connections or background, event) -> how many are in it now, twice: the count stands for both."""
        return {(who, event): (float(count), float(count)) for who, event, count in rows(connection, WAITS)}


def _report_own_work(connection: Connection) -> bool:
    """Have what our own connection did counted at once; returns whether the release (from 15 on) can do so."""
    if not value(connection, "SELECT to_regproc('pg_catalog.pg_stat_force_next_flush') IS NOT NULL"):
        return False
    rows(connection, "SELECT pg_stat_force_next_flush()")
    return True


def _cluster_counters(connection: Connection) -> dict[str, float]:
    views = ", ".join(f"to_regclass('pg_catalog.{view}')" for view, _ in CLUSTER_COUNTERS.values())
    present = set(rows(connection, COLUMNS.format(views=views)))
    counted = {
        name: (view, columns)
        for name, (view, columns) in CLUSTER_COUNTERS.items()
        if present >= {(view, column) for column in columns}
    }
    sums = ", ".join(f"(SELECT {' + '.join(columns)} FROM {view})" for view, columns in counted.values())
    return dict(zip(counted, map(float, rows(connection, f"SELECT {sums}")[0]), strict=True)) if counted else {}


def _number(text: str, unit: str | None) -> float | None:
    """Return a number in bytes or microseconds, in its own unit or the setting's; None if the text is no number."""
    if not (number := NUMBER.fullmatch(text)):
        return None
    of_setting = UNIT.fullmatch(unit) if unit else None
    count, setting_unit = (int(of_setting[1] or 1), of_setting[2]) if of_setting else (1, "")
    scale = {**SIZES, **TIMES}.get(number[2] or setting_unit, None if number[2] else 1)
    return None if scale is None else float(number[1]) * scale * (1 if number[2] else count)
