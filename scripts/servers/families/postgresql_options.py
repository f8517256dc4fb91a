"""Options of PostgreSQL: how they are written, which names it has in no release, how its log tells of a wrong one."""

import re
from typing import Any

INITDB_FLAGS = {"data_checksums": "--data-checksums", "wal_segment_size": "--wal-segsize={}"}
# Of a wrong option only a LOG line has the name; a connection that came too early is no reason to end.
COMPLAINT = re.compile(
    r"(?:FATAL|PANIC):  (?!the database system is starting up)(.*)|LOG:  (.*\bparameter\b.*|syntax error.*)"
)
NOT_TAKEN = re.compile(r"(?!)")  # it does not start with a value that it cannot take
NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?")

FILE_KINDS = tuple(
    (re.compile(pattern), kind)
    for pattern, kind in (
        (r"(?P<stem>(?:base/\d+|pg_tblspc/\d+/[^/]+/\d+)/\d+)(?:_(?:fsm|vm|init))?(?:\.\d+)?", "table"),
        (r"base/pgsql_tmp/.*|base/\d+/t\d+_.*|pg_stat_tmp/.*", "temporary"),
        (r"(?:base|global)/.*", "system"),
        (r"pg_wal/.*", "redo"),
    )
)
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


def unknown_options(release: str, options: dict[str, Any]) -> list[str]:
    """Return one line for each option that no release has: its name has another form, or is one of InnoDB's."""
    return [
        f"{name}: PostgreSQL {release} has no such option (value {value!r})"
        for name, value in options.items()
        if not NAME.fullmatch(name) or name.startswith("innodb_")
    ]


def option_text(options: dict[str, Any]) -> str:
    """Return the option file; every value is quoted, true and false become on and off."""
    return "".join(f"{name} = '{_text(value)}'\n" for name, value in options.items() if name not in INITDB_FLAGS)


def _text(value: Any) -> str:
    match value:
        case True:
            return "on"
        case False:
            return "off"
        case _:
            return str(value).replace("'", "''")
