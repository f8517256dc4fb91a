"""What a server with InnoDB reports: variables, counters, the engine's report, waits, and the files of its data."""

import re
from collections.abc import Mapping
from typing import ClassVar

import pymysql

from scripts.lib.wording import option_value
from scripts.measure.servers.families.connection import Connection, named_rows, rows, value
from scripts.measure.servers.families.family import OFF, ON, Family, ServerSetting
from scripts.measure.servers.families.option_rules import Options, OptionValue

# Names and units of the manual's "InnoDB Standard Monitor and Lock Monitor Output"; seen with 5.5, 5.6, 8.0 and
# MariaDB 10.11. Servers without a change buffer (MariaDB 11) have no such lines.
NUMBERS = {
    "history_list_length": re.compile(r"History list length (\d+)"),
    "change_buffer_pages": re.compile(r"^Ibuf: size (\d+)", re.M),
    "change_buffer_merges": re.compile(r"^Ibuf: .* (\d+) merges", re.M),
}
MERGED = re.compile(r"^(merged|discarded) operations:\n *insert (\d+), delete mark (\d+), delete (\d+)", re.M)
OPERATIONS = ("inserts", "delete_marks", "deletes")
WRITTEN = re.compile(r"^Log sequence number\s+(\d+)", re.M)
CHECKPOINT = re.compile(r"^Last checkpoint at\s+(\d+)", re.M)
ROWS = re.compile(r"^Number of rows inserted (\d+), updated (\d+), deleted (\d+), read (\d+)", re.M)
ROW_OPERATIONS = ("rows_inserted", "rows_updated", "rows_deleted", "rows_read")

# Name in SHOW GLOBAL STATUS -> name in our records.
COUNTERS = {
    "Innodb_buffer_pool_pages_dirty": "dirty_pages",
    "Innodb_buffer_pool_pages_free": "free_pages",
    "Innodb_history_list_length": "history_list_length",
    "Innodb_os_log_written": "log_written_bytes",
    "Innodb_checkpoint_age": "checkpoint_age_bytes",
    "Innodb_buffer_pool_reads": "buffer_pool_misses",
    "Innodb_row_lock_waits": "row_lock_waits",
    "Innodb_data_fsyncs": "data_fsyncs",
    "Innodb_data_written": "data_written_bytes",
    "Com_commit": "commits",
    "Questions": "questions",
}
# MariaDB's report lacks these numbers (10.11, seen); its status has the change buffer's size, but not in pages.
UNREPORTED = {
    "Handler_write": "rows_inserted",
    "Handler_update": "rows_updated",
    "Handler_delete": "rows_deleted",
    "Innodb_ibuf_merges": "change_buffer_merges",
    **{
        f"Innodb_ibuf_{how}_{what}": f"change_buffer_{how}_{what}"
        for how in ("merged", "discarded")
        for what in OPERATIONS
    },
}
# Name in INFORMATION_SCHEMA.INNODB_METRICS -> name in our records. Servers count these with innodb_monitor_enable only.
METRICS = {"purge_invoked": "purges", "buffer_flush_n_to_flush_requested": "flush_requested_pages"}
MONITORED = f"""
    SELECT * FROM information_schema.INNODB_METRICS WHERE NAME IN ({", ".join(f"'{name}'" for name in METRICS)})
"""
# Release 5.5 lacks the table (ER_UNKNOWN_TABLE).
UNKNOWN_TABLE = 1109
# Name in our records.
SYNCED_COMMITS = "binlog_synced_commits"
# Column below -> name in our records.
WAITED = {"waits": "doublewrite_waits", "wait_s": "doublewrite_wait_s"}
# Waits for the mutex of the doublewrite buffer, where the performance schema counts and times them. MySQL 8.0.20
# gave it the shorter name.
DOUBLEWRITE = """
    SELECT SUM(COUNT_STAR) AS waits, SUM(SUM_TIMER_WAIT) / 1e12 AS wait_s
    FROM performance_schema.events_waits_summary_global_by_event_name
    JOIN performance_schema.setup_instruments ON NAME = EVENT_NAME
    WHERE EVENT_NAME IN ('wait/synch/mutex/innodb/buf_dblwr_mutex', 'wait/synch/mutex/innodb/dblwr_mutex')
        AND ENABLED = 'YES' AND TIMED = 'YES'
"""
# A managed server may show no performance schema (ER_TABLEACCESS_DENIED_ERROR), or have none (ER_NO_SUCH_TABLE).
NO_SCHEMA = (1142, 1146)
# The whole work of the engine on a table, which the performance schema counts among the waits.
TABLE_WORK = "wait/io/table/%"
WAITS = f"""
    SELECT IF(threads.NAME LIKE 'thread/%/one_connection' OR threads.NAME LIKE '%worker_thread', 'connections',
              'background'), EVENT_NAME, SUM(COUNT_STAR), SUM(SUM_TIMER_WAIT) / 1e12
    FROM performance_schema.events_waits_summary_by_thread_by_event_name
    JOIN performance_schema.threads USING (THREAD_ID)
    WHERE COUNT_STAR > 0 AND EVENT_NAME NOT LIKE '{TABLE_WORK}' AND EVENT_NAME <> 'idle'
        AND NOT (PROCESSLIST_ID <=> CONNECTION_ID())
    GROUP BY 1, 2
"""

# A partition's file is named after table and partition: linktable#P#p0.ibd, in MySQL 8.0 linktable#p#p0.ibd.
TABLE_FILE = (
    r"(?P<schema>[^/]+)/(?P<table>[^/#.]+)(?:#[pP]#(?P<partition>[^/#.]+))?(?:#[^/]*)?"
    r"\.(?:ibd|frm|MYD|MYI|MAD|MAI|par|isl|cfg)"
)
NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)([kmgtpe]?)")
POWERS = " kmgtpe"
# Option -> its variable, in the releases that have no variable of the option's name.
OLDER_VARIABLES = {"transaction_isolation": "tx_isolation", "transaction_read_only": "tx_read_only"}
OLD_UTF8 = re.compile(r"^utf8(?=_|$)")


# Without the privilege PROCESS, which managed servers need not grant (ER_SPECIFIC_ACCESS_DENIED_ERROR).
MAY_NOT = 1227
POOL_PAGES = ("Innodb_buffer_pool_pages_total", "Innodb_buffer_pool_pages_data")
TABLES = "SHOW FULL TABLES FROM `{database}` WHERE table_type = 'BASE TABLE'"
# SHOW INDEX has a column for indexes that statements may not name: `Visible` in MySQL 8.0, `Ignored` in MariaDB 10.6.
USABLE = {"Visible": "YES", "Ignored": "NO"}


class InnoDBStatus(Family):
    """The part of MySQL and MariaDB that reads what a running server reports."""

    # Release 5.5 has every instrument on, and no option for them.
    WAIT_OPTIONS: ClassVar[Options] = {"performance_schema": True, "loose_performance_schema_instrument": "wait/%=ON"}
    CLIENT_WAITS = ("wait/io/socket/sql/client_connection",)
    FILE_KINDS = tuple(
        (re.compile(pattern), kind)
        for pattern, kind in (
            (r"ibdata\d+", "system"),
            (r"ib_logfile\d+|#innodb_redo/.*", "redo"),
            (r"undo_?\d+|.*\.ibu", "undo"),
            (r".*\.b?dblwr", "doublewrite"),
            (r"ibtmp\d+|#innodb_temp/.*", "temporary"),
            (r"(?:mysql|performance_schema|sys|information_schema)(?:/.*|\.ibd)", "catalog"),
            (TABLE_FILE, "table"),
            (r"[^/]*bin(?:log)?\.(?:\d+|index|state)", "binary_log"),
        )
    )

    def variables(self, connection: Connection) -> dict[str, str]:
        return _pairs(connection, "SHOW GLOBAL VARIABLES")

    def option_taken(self, name: str, value: OptionValue, settings: Mapping[str, ServerSetting]) -> bool | None:
        """Return whether the server has the value; None without a variable, or if its form cannot be compared."""
        stated, plain = option_value(value).strip().lower(), name.removeprefix("loose_")
        if plain not in settings and plain in OLDER_VARIABLES:
            plain = OLDER_VARIABLES[plain]
        if plain not in settings and plain.startswith("skip_"):
            plain, stated = plain.removeprefix("skip_"), "off" if stated in ON else "on"
        if plain not in settings:
            return None
        actual = settings[plain].text.strip().lower()
        # The option names the files of the log; the variable is ON or OFF.
        return actual == "on" if plain == "log_bin" and stated not in OFF else _same_value(stated, actual)

    def counters(self, connection: Connection) -> dict[str, float]:
        """Return the counters that are compared at both edges of a window; those the release lacks are missing.

        History list and checkpoint age are status variables in some releases only; InnoDB's report has them in all.
        """
        status = _pairs(connection, "SHOW GLOBAL STATUS")
        unreported = {name: float(status[key]) for key, name in UNREPORTED.items() if key in status}
        reported = numbers(self.engine_report(connection))
        counted = {name: float(status[key]) for key, name in COUNTERS.items() if key in status}
        queried = _synced_commits(connection, status) | _monitored(connection) | _doublewrite(connection)
        return unreported | reported | counted | queried

    def disk_counts(self, counters: Mapping[str, float]) -> dict[str, float]:
        """Return fsyncs, pool_misses, written_bytes and synced_commits up to a moment; see `Family.disk_counts`.

        In MariaDB 10.11 flushes of the log are among Innodb_data_fsyncs, its bytes not in Innodb_data_written, which
        has those of the doublewrite buffer (seen). Releases whose Innodb_data_written has the log count it twice here.
        """
        summed = {
            "fsyncs": ("data_fsyncs",),
            "pool_misses": ("buffer_pool_misses",),
            "synced_commits": (SYNCED_COMMITS,),
            "written_bytes": ("data_written_bytes", "log_written_bytes"),
        }
        complete = {name: parts for name, parts in summed.items() if counters.keys() >= set(parts)}
        return {name: sum(counters[part] for part in parts) for name, parts in complete.items()}

    def pool(self, connection: Connection) -> tuple[int | None, int | None]:
        """Return (bytes of the buffer pool, bytes of its pages that hold data)."""
        status = _pairs(connection, "SHOW GLOBAL STATUS LIKE 'Innodb\\_%page%'")
        total, used = (int(status[name]) * int(status["Innodb_page_size"]) for name in POOL_PAGES)
        return total, used

    def reading_statements(self, connection: Connection) -> list[str]:
        """Return a scan of each table's rows, its primary key, and of each of its other B-trees."""
        tables = sorted(name for name, _ in rows(connection, TABLES.format(database=self.DATABASE)))
        return [text for table in tables for text in _scans(connection, self.DATABASE, table)]

    def engine_report(self, connection: Connection) -> str:
        """Return InnoDB's own report, an empty text for an account that may not read it."""
        try:
            return str(rows(connection, "SHOW ENGINE INNODB STATUS")[0][2])
        except pymysql.Error as error:
            if error.args[0] == MAY_NOT:
                return ""
            raise

    def read_waits(self, connection: Connection) -> dict[tuple[str, str], tuple[float, float]]:
        """Return (connections or background, event) -> waits so far and their seconds, for threads alive now."""
        return {(who, event): (float(count), float(seconds)) for who, event, count, seconds in rows(connection, WAITS)}


def numbers(report: str) -> dict[str, float]:
    """Return the numbers of InnoDB's report; those that it lacks are missing.

    They are the history list (transactions), the checkpoint's age (bytes), rows per operation, and of the change buffer
    its size (pages), its merges, and its merged and discarded operations.
    """
    texts = {name: match[1] for name, pattern in NUMBERS.items() if (match := pattern.search(report))}
    for what, *counts in MERGED.findall(report):
        texts |= {f"change_buffer_{what}_{name}": count for name, count in zip(OPERATIONS, counts, strict=True)}
    if rows := ROWS.search(report):
        texts |= dict(zip(ROW_OPERATIONS, rows.groups(), strict=True))
    values = {name: float(value) for name, value in texts.items()}
    if (written := WRITTEN.search(report)) and (checkpoint := CHECKPOINT.search(report)):
        values["checkpoint_age_bytes"] = float(written[1]) - float(checkpoint[1])
    return values


def _monitored(connection: Connection) -> dict[str, float]:
    """Return the counters of METRICS that the server counts."""
    try:
        monitors = named_rows(connection, MONITORED)
    except pymysql.Error as error:
        if error.args[0] in (MAY_NOT, UNKNOWN_TABLE):
            return {}
        raise
    # MySQL has a column STATUS, MariaDB 10.11 ENABLED in its place.
    counted = [row for row in monitors if row.get("STATUS") == "enabled" or row.get("ENABLED") == 1]
    return {METRICS[row["NAME"]]: float(row["COUNT"]) for row in counted}


def _synced_commits(connection: Connection, status: Mapping[str, str]) -> dict[str, float]:
    """Return the commits that waited for a sync of the binary log, which is not among InnoDB's fsync calls.

    The server syncs at every group of commits, or every `sync_binlog`-th, so that one commit in so many waits, however
    large the groups are. Seen with MySQL 8.0.36 and MariaDB 10.11; figures in docs/method.md.
    """
    if "Binlog_cache_use" not in status:
        return {}
    commits = value(connection, "SELECT @@GLOBAL.sync_binlog")
    return {SYNCED_COMMITS: float(status["Binlog_cache_use"]) / commits if commits else 0.0}


def _doublewrite(connection: Connection) -> dict[str, float]:
    """Return how often and how long threads waited for the doublewrite buffer; nothing where that is not timed."""
    try:
        (row,) = named_rows(connection, DOUBLEWRITE)
    except pymysql.Error as error:
        if error.args[0] in NO_SCHEMA:
            return {}
        raise
    return {WAITED[name]: float(total) for name, total in row.items() if total is not None}


def _pairs(connection: Connection, statement: str) -> dict[str, str]:
    """Return the rows of a statement with two columns as a mapping."""
    return {str(name): str(text) for name, text in rows(connection, statement)}


def _same_value(stated: str, actual: str) -> bool | None:
    if stated in ON | OFF and actual in ON | OFF:
        return (stated in ON) == (actual in ON)
    stated_number, actual_number = _number(stated), _number(actual)
    if stated_number is not None and actual_number is not None:
        return stated_number == actual_number or (None if stated_number == -1 else False)  # -1: the server chooses
    if stated_number is not None:
        return None  # the variable shows the name of the value, the option gives its number
    # Options may give some flags of a list, or one mode that stands for several.
    return set(_words(stated)) <= set(_words(actual))


def _number(text: str) -> float | None:
    if not (parts := NUMBER.fullmatch(text)):
        return None
    return float(parts[1]) * 1024.0 ** POWERS.index(parts[2] or " ")


def _words(text: str) -> list[str]:
    return [OLD_UTF8.sub("utf8mb3", word.strip().strip("\"'")) for word in text.split(",")]


def _scans(connection: Connection, database: str, table: str) -> list[str]:
    counted = f"SELECT COUNT(*) FROM `{database}`.`{table}`"
    columns = named_rows(connection, f"SHOW INDEX FROM `{database}`.`{table}`")
    indexes = [row for row in columns if row["Seq_in_index"] == 1 and row["Index_type"] == "BTREE"]
    usable = [row["Key_name"] for row in indexes if all(row.get(key, value) == value for key, value in USABLE.items())]
    return [f"{counted} USE INDEX ()", *(f"{counted} FORCE INDEX (`{name}`)" for name in usable if name != "PRIMARY")]
