"""Server options of MySQL by release: what was renamed is translated, what a release lacks is refused by name."""

import re

from scripts.measure.servers.families.option_rules import Options, OptionValue, plain_names

Release = tuple[int, ...]

# Options of studies and of our defaults by the first release with them, and by the first without. Options that are not
# listed are the server's to accept or refuse. Releases since 5.7: the section "Server and Status Variables and Options
# Added, Deprecated, or Removed" of the reference manuals of 5.7, 8.0 and 8.4; 5.6 as such: `mysqld --verbose --help` of
# 5.5.34 and of 5.6.14, which like that of 8.0.33 agrees with every row.
ADDED: dict[Release, tuple[str, ...]] = {
    (5, 6): (
        *("innodb_buffer_pool_dump_at_shutdown", "innodb_buffer_pool_load_at_startup", "innodb_checksum_algorithm"),
        *("innodb_page_size", "innodb_undo_tablespaces", "gtid_mode", "default_authentication_plugin"),
        *("innodb_undo_logs", "metadata_locks_hash_instances", "transaction_read_only"),
    ),
    (8, 0, 1): ("binlog_expire_logs_seconds",),
    (8, 0, 2): ("internal_tmp_mem_storage_engine", "temptable_max_ram"),
    (8, 0, 11): ("loose_mysqlx",),
    (8, 0, 16): ("innodb_spin_wait_pause_multiplier",),
    (8, 0, 23): ("temptable_max_mmap",),
    (8, 0, 26): ("innodb_use_fdatasync",),
    (8, 0, 27): ("authentication_policy",),
    (8, 0, 30): ("innodb_redo_log_capacity",),
}
REMOVED: dict[Release, tuple[str, ...]] = {
    (5, 7, 2): ("thread_concurrency",),
    (5, 7, 4): ("innodb_additional_mem_pool_size", "innodb_use_sys_malloc"),
    (5, 7, 5): ("timed_mutexes",),
    (8, 0, 0): (
        *("innodb_checksums", "innodb_file_format", "innodb_file_format_check", "innodb_file_format_max"),
        *("innodb_large_prefix", "innodb_locks_unsafe_for_binlog", "innodb_support_xa", "sync_frm"),
    ),
    (8, 0, 2): ("innodb_undo_logs",),
    (8, 0, 3): (
        *("query_cache_limit", "query_cache_min_res_unit", "query_cache_size", "query_cache_type"),
        *("query_cache_wlock_invalidate", "log_warnings"),
    ),
    (8, 0, 13): ("metadata_locks_cache_size", "metadata_locks_hash_instances"),
    (8, 2, 0): ("expire_logs_days",),
    (8, 4, 0): ("default_authentication_plugin", "ssl", "skip_ssl"),
}
SINCE = {name: release for release, names in ADDED.items() for name in names}
UNTIL = {name: release for release, names in REMOVED.items() for name in names}
# As an option, unlike as a variable, the first has had the second name in every release, the other since it came.
RENAMED = {"tx_isolation": "transaction_isolation", "tx_read_only": "transaction_read_only"}
SIZES, NUMBERS = ("innodb_log_file_size", "innodb_redo_log_capacity"), ("innodb_log_files_in_group", "expire_logs_days")
# The server's own word for an option that it need not have.
LOOSE = "loose_"
OFF = (False, 0, "0", "OFF", "off")
LOG_FILES = 2
# "Setting The Binary Log Format" and "Native Pluggable Authentication" in the manual of 8.0, "What Is New" of 8.4.
BINARY_LOG_BY_DEFAULT: Release = (8, 0)
NATIVE_PASSWORD_ON_REQUEST: Release = (8, 4, 0)
NO_NATIVE_PASSWORD: Release = (9, 0, 0)
DAY_S = 86400
# Before, this one option of all is off when it is written as ON (seen with 5.5.34).
TABLES_IN_FILES: Release = (5, 6)
# Until this release a server closes a connection whose wait for the next statement was interrupted more often than
# net_retry_count says, 10 by default: a server that is stopped and goes on is interrupted (seen with 5.5.34).
WAITS_ON_WHEN_INTERRUPTED: Release = (5, 6)
MOST_RETRIES = 4294967295
FULL = re.compile(r"\d+\.\d+\.\d+")
SIZE = re.compile(r"(\d+)([KMGT]?)", re.I)


def number(release: str) -> Release:
    """Return a release such as 8.0.36 as numbers that can be compared.

    Raises ValueError when it does not begin with three numbers.
    """
    if not (numbers := re.match(r"(\d+)\.(\d+)\.(\d+)", release)):
        raise ValueError(f"release {release!r}: expected three numbers such as 8.0.36")
    return tuple(int(part) for part in numbers.groups())


def unknown_options(release: str, options: Options) -> list[str]:
    """Return one line `name: reason` per option that a release lacks or whose value cannot be read.

    A release that is not stated in full, such as 8.0, gives none. Options that the release has under another name, and
    options that it lacks but that are off, are no mistakes.
    """
    return _mistakes(plain_names(options), release) if FULL.match(release) else []


def named(options: Options, release: str) -> Options:
    """Return `options` under the names of a release.

    An option that the release lacks is translated if it has another name there; left out if its value is off or its
    name begins with `loose_`; else refused: ValueError names each such option, its value and the first release with or
    without it.
    """
    at, plain = number(release), dict(plain_names(options))
    optional = [name for name in plain if name.startswith(LOOSE) and name not in SINCE]
    loose = {name.removeprefix(LOOSE): plain.pop(name) for name in optional}
    if wrong := _mistakes(plain, release):
        raise ValueError("\n".join(f"options.{line}" for line in wrong))
    accepted = {name: value for name, value in _in_words_of(plain, at).items() if _has(name, at)}
    accepted |= {LOOSE + name: value for name, value in _renamed(loose, at).items() if _has(name, at)}
    if NATIVE_PASSWORD_ON_REQUEST <= at < NO_NATIVE_PASSWORD:
        return {"mysql_native_password": True, **accepted}
    return accepted


def options_to_be_stopped(release: str) -> Options:
    """Return the options with which a server of a release keeps its connections when it is stopped and goes on."""
    return {"net_retry_count": MOST_RETRIES} if number(release) < WAITS_ON_WHEN_INTERRUPTED else {}


def _in_words_of(options: Options, at: Release) -> Options:
    return _binary_log(_redo_log(_renamed(options, at), at), at)


def _mistakes(options: Options, release: str) -> list[str]:
    """Return one line for each option of which the release can make nothing."""
    at, unread = number(release), []
    for name, read in [*((name, in_bytes) for name in SIZES), *((name, _whole) for name in NUMBERS)]:
        try:
            read(options.get(name, 1))
        except ValueError as error:
            unread.append(f"{name}: {error}")
    lacking = {} if unread else _in_words_of(options, at)
    return unread + [
        f"{name}: MySQL {release} has no such option (value {value!r}); it {_when(name, at)}"
        for name, value in lacking.items()
        if not _has(name, at) and value not in OFF
    ]


def _has(name: str, at: Release) -> bool:
    return SINCE.get(name, ()) <= at and (name not in UNTIL or at < UNTIL[name])


def _when(name: str, at: Release) -> str:
    return f"came with {_text(SINCE[name])}" if at < SINCE.get(name, ()) else f"went with {_text(UNTIL[name])}"


def _text(release: Release) -> str:
    return ".".join(map(str, release))


def _renamed(options: Options, at: Release) -> Options:
    """Give options their name in this release; one that was written by that name itself wins."""
    changed = {name: _translated(name, value, at) for name, value in options.items()}
    return dict(pair for name, pair in changed.items() if pair[0] == name or pair[0] not in options)


def _translated(name: str, value: OptionValue, at: Release) -> tuple[str, OptionValue]:
    match name:
        case "tx_isolation" | "tx_read_only":
            return RENAMED[name], value
        case "default_authentication_plugin" if at >= UNTIL[name]:
            return "authentication_policy", f"{value},,"
        case "expire_logs_days" if at >= UNTIL[name]:
            return "binlog_expire_logs_seconds", int(value) * DAY_S
        case "innodb_file_per_table" if at < TABLES_IN_FILES:
            return name, int(value not in OFF)
    return name, value


def _redo_log(options: Options, at: Release) -> Options:
    """State the size of the redo log as the release does: as a capacity, or as a number of files of one size."""
    files = {"innodb_log_file_size", "innodb_log_files_in_group"}
    rest = {name: value for name, value in options.items() if name not in {*files, "innodb_redo_log_capacity"}}
    capacity, size = options.get("innodb_redo_log_capacity"), options.get("innodb_log_file_size")
    count = int(options.get("innodb_log_files_in_group", LOG_FILES))
    if _has("innodb_redo_log_capacity", at):
        in_all = capacity if capacity is not None else size and in_bytes(size) * count
        return {**rest, **({"innodb_redo_log_capacity": in_all} if in_all else {})}
    of_one = size if capacity is None else in_bytes(capacity) // count
    files_in_group = {"innodb_log_files_in_group": count} if "innodb_log_files_in_group" in options else {}
    return {**rest, **({"innodb_log_file_size": of_one} if of_one else {}), **files_in_group}


def _binary_log(options: Options, at: Release) -> Options:
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


def in_bytes(size: OptionValue) -> int:
    """Return a size such as 512M in bytes. Raises ValueError naming it when it is none."""
    if not (parts := SIZE.fullmatch(str(size))):
        raise ValueError(f"size {size!r}: expected a number of bytes, with K, M, G or T for a power of 1024")
    power: int = 1024 ** " KMGT".index(parts[2].upper() or " ")
    return int(parts[1]) * power


def _whole(count: OptionValue) -> int:
    if not re.fullmatch(r"\d+", str(count)):
        raise ValueError(f"{count!r}: expected a whole number")
    return int(count)
