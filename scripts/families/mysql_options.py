"""Server options of MySQL by release: what was renamed is translated, what a release lacks is refused by name."""

import re
from typing import Any

Release = tuple[int, ...]

ALWAYS: Release = (0,)
NEVER: Release = (1000,)
# Options of studies and of our defaults that not every release has: (first release with it, first without it), from the
# reference manuals. Options that are not listed are the server's to accept or refuse.
LIFE: dict[str, tuple[Release, Release]] = {
    "query_cache_type": (ALWAYS, (8, 0, 3)),
    "query_cache_size": (ALWAYS, (8, 0, 3)),
    "innodb_buffer_pool_dump_at_shutdown": ((5, 6, 3), NEVER),
    "innodb_buffer_pool_load_at_startup": ((5, 6, 3), NEVER),
    "innodb_checksum_algorithm": ((5, 6, 3), NEVER),
    "innodb_undo_tablespaces": ((5, 6, 3), NEVER),
    "innodb_page_size": ((5, 6, 4), NEVER),
    "innodb_buffer_pool_instances": ((5, 5, 4), NEVER),
    "innodb_file_format": (ALWAYS, (8, 0, 0)),
    "innodb_large_prefix": (ALWAYS, (8, 0, 0)),
    "innodb_support_xa": (ALWAYS, (8, 0, 0)),
    "loose_mysqlx": ((8, 0, 11), NEVER),
    "gtid_mode": ((5, 6, 5), NEVER),
    "default_authentication_plugin": ((5, 6, 6), (8, 4, 0)),
    "authentication_policy": ((8, 0, 27), NEVER),
    "expire_logs_days": (ALWAYS, (8, 0, 1)),
    "binlog_expire_logs_seconds": ((8, 0, 1), NEVER),
    "innodb_log_file_size": (ALWAYS, (8, 0, 30)),
    "innodb_log_files_in_group": (ALWAYS, (8, 0, 30)),
    "innodb_redo_log_capacity": ((8, 0, 30), NEVER),
}
# As an option, unlike as a variable, these have had the second name in every release.
RENAMED = {"tx_isolation": "transaction_isolation", "tx_read_only": "transaction_read_only"}
OFF = (False, 0, "0", "OFF", "off")
LOG_FILES = 2
BINARY_LOG_BY_DEFAULT: Release = (8, 0, 1)
NATIVE_PASSWORD_ON_REQUEST: Release = (8, 4, 0)
NO_NATIVE_PASSWORD: Release = (9, 0, 0)
DAY_S = 86400
SIZE = re.compile(r"(\d+)([KMGT]?)", re.I)


def number(release: str) -> Release:
    """Return a release such as 8.0.36 as numbers that can be compared.

    Raises ValueError when it does not begin with three numbers.
    """
    if not (found := re.match(r"(\d+)\.(\d+)\.(\d+)", release)):
        raise ValueError(f"release {release!r}: expected three numbers such as 8.0.36")
    return tuple(int(part) for part in found.groups())


def named(options: dict[str, Any], release: str) -> dict[str, Any]:
    """Return `options` as a release names them.

    An option the release lacks is translated where it has another name for the same; left out when its value is off;
    else refused. Raises ValueError naming the option, its value and since or until when MySQL has it.
    """
    at = number(release)
    plain = {name.replace("-", "_"): value for name, value in options.items()}
    translated = _binary_log(_redo_log(_renamed(plain, at), at), at)
    for name, value in translated.items():
        since, until = LIFE.get(name, (ALWAYS, NEVER))
        if not since <= at < until and value not in OFF:
            when = f"came with {_text(since)}" if at < since else f"went with {_text(until)}"
            raise ValueError(f"options.{name}: MySQL {release} has no such option (value {value!r}); it {when}")
    kept = {name: value for name, value in translated.items() if _has(name, at)}
    if NATIVE_PASSWORD_ON_REQUEST <= at < NO_NATIVE_PASSWORD:
        return {"mysql_native_password": True, **kept}
    return kept


def _has(name: str, at: Release) -> bool:
    since, until = LIFE.get(name, (ALWAYS, NEVER))
    return since <= at < until


def _text(release: Release) -> str:
    return ".".join(map(str, release))


def _renamed(options: dict[str, Any], at: Release) -> dict[str, Any]:
    """Give options their name in this release; one that was written by that name itself wins."""
    changed = {name: _translated(name, value, at) for name, value in options.items()}
    kept = {name: pair for name, pair in changed.items() if pair[0] == name or pair[0] not in options}
    return dict(kept.values())


def _translated(name: str, value: Any, at: Release) -> tuple[str, Any]:
    match name:
        case "tx_isolation" | "tx_read_only":
            return RENAMED[name], value
        case "default_authentication_plugin" if at >= LIFE[name][1]:
            return "authentication_policy", f"{value},,"
        case "expire_logs_days" if at >= LIFE[name][1]:
            return "binlog_expire_logs_seconds", int(value) * DAY_S
    return name, value


def _redo_log(options: dict[str, Any], at: Release) -> dict[str, Any]:
    """State the size of the redo log as the release does: as a capacity, or as a number of files of one size."""
    files = {"innodb_log_file_size", "innodb_log_files_in_group"}
    rest = {name: value for name, value in options.items() if name not in {*files, "innodb_redo_log_capacity"}}
    capacity, size = options.get("innodb_redo_log_capacity"), options.get("innodb_log_file_size")
    count = int(options.get("innodb_log_files_in_group", LOG_FILES))
    if _has("innodb_redo_log_capacity", at):
        wanted = capacity if capacity is not None else size and in_bytes(size) * count
        return {**rest, **({"innodb_redo_log_capacity": wanted} if wanted else {})}
    wanted = size if capacity is None else in_bytes(capacity) // count
    told = {"innodb_log_files_in_group": count} if "innodb_log_files_in_group" in options else {}
    return {**rest, **({"innodb_log_file_size": wanted} if wanted else {}), **told}


def _binary_log(options: dict[str, Any], at: Release) -> dict[str, Any]:
    """Write the binary log's switch: releases before 8.0 have it off by default, later ones on."""
    match options.get("log_bin"):
        case None:
            return options
        case False | 0 | "OFF":
            rest = {name: value for name, value in options.items() if name != "log_bin"}
            return {"skip_log_bin": True, **rest} if at >= BINARY_LOG_BY_DEFAULT else rest
        case True | 1 | "ON":
            return {**options, "log_bin": "binlog"}
        case _:
            return options


def in_bytes(size: Any) -> int:
    """Return a size such as 512M in bytes. Raises ValueError naming it when it is none."""
    if not (found := SIZE.fullmatch(str(size))):
        raise ValueError(f"size {size!r}: expected a number of bytes, with K, M, G or T for a power of 1024")
    return int(found[1]) * 1024 ** " KMGT".index(found[2].upper() or " ")
