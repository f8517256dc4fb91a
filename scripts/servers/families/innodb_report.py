"""InnoDB's own report (SHOW ENGINE INNODB STATUS), and what its data directory is made of."""

import re

import pymysql

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

FILE_KINDS = tuple(
    (re.compile(pattern), kind)
    for pattern, kind in (
        (r"ibdata\d+", "system"),
        (r"ib_logfile\d+|#innodb_redo/.*", "redo"),
        (r"undo_?\d+|.*\.ibu", "undo"),
        (r".*\.b?dblwr", "doublewrite"),
        (r"ibtmp\d+|#innodb_temp/.*", "temporary"),
        (r"(?:mysql|performance_schema|sys|information_schema)(?:/.*|\.ibd)", "system"),
        (r"(?P<schema>[^/]+)/(?P<table>[^/#.]+)(?:#[^/]*)?\.(?:ibd|frm|MYD|MYI|MAD|MAI|par|isl|cfg)", "table"),
        (r"[^/]*bin(?:log)?\.(?:\d+|index|state)", "binary_log"),
    )
)


def report(connection: pymysql.Connection) -> str:
    """Return the report as the server writes it."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW ENGINE INNODB STATUS")
        return str(cursor.fetchone()[2])


def numbers(text: str) -> dict[str, float]:
    """Return what a report says, as far as it says it.

    Of the history list (transactions), the checkpoint's age (bytes), rows by operation, and of the change buffer its
    size (pages), merges, and merged and discarded operations.
    """
    found = {name: match[1] for name, pattern in NUMBERS.items() if (match := pattern.search(text))}
    for what, *counts in MERGED.findall(text):
        found |= {f"change_buffer_{what}_{name}": count for name, count in zip(OPERATIONS, counts, strict=True)}
    if rows := ROWS.search(text):
        found |= dict(zip(ROW_OPERATIONS, rows.groups(), strict=True))
    told = {name: float(value) for name, value in found.items()}
    if (written := WRITTEN.search(text)) and (checkpoint := CHECKPOINT.search(text)):
        told["checkpoint_age_bytes"] = float(written[1]) - float(checkpoint[1])
    return told
