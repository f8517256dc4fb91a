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
