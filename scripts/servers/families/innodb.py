"""What MySQL and MariaDB have in common: one process, a `[mysqld]` option file, root without a password on a socket."""

import re
from pathlib import Path
from typing import Any

import pymysql

from scripts.host.process import run
from scripts.servers.families import innodb_report, innodb_waits

DRIVER = "mysql"
DATABASE = "sbtest"
STOP_SIGNAL = "SIGTERM"
COMPLAINT = re.compile(r"\[ERROR\](?: \[MY-\d+\] \[\w+\])? (.*)")
# Values out of bounds are changed, and MariaDB starts with options it no longer has (seen with 5.5, 5.6, 8.0, 10.11).
NOT_TAKEN = re.compile(r"\[Warning\] .*?(option '([\w-]+)': .* adjusted to .*|'([\w-]+)' was removed\..*)")
# What SHOW GLOBAL STATUS counts, and what we call it.
COUNTERS = {
    "Innodb_buffer_pool_pages_dirty": "dirty_pages",
    "Innodb_buffer_pool_pages_free": "free_pages",
    "Innodb_history_list_length": "history_list_length",
    "Innodb_os_log_written": "log_written_bytes",
    "Innodb_checkpoint_age": "checkpoint_age_bytes",
    "Innodb_buffer_pool_reads": "buffer_pool_misses",
    "Innodb_row_lock_waits": "row_lock_waits",
    "Innodb_data_fsyncs": "data_fsyncs",
    "Com_commit": "commits",
    "Questions": "questions",
}
# What MariaDB's report is silent on (10.11, seen); its size of the change buffer is no number of pages here either.
UNREPORTED = {
    "Handler_write": "rows_inserted",
    "Handler_update": "rows_updated",
    "Handler_delete": "rows_deleted",
    "Innodb_ibuf_merges": "change_buffer_merges",
    **{
        f"Innodb_ibuf_{how}_{what}": f"change_buffer_{how}_{what}"
        for how in ("merged", "discarded")
        for what in innodb_report.OPERATIONS
    },
}


def pool_size(memory_mib: int) -> str:
    """Return the default buffer pool: a fourth of memory, between 128 and 4096 MiB."""
    return f"{min(4096, max(128, memory_mib // 4))}M"


def option_text(options: dict[str, Any]) -> str:
    """Return the option file: one `[mysqld]` section; true and false become ON and OFF."""
    lines = [f"{name}={_text(value)}" for name, value in options.items()]
    return "\n".join(["[mysqld]", *lines, ""])


def _text(value: Any) -> str:
    match value:
        case True:
            return "ON"
        case False:
            return "OFF"
        case _:
            return str(value)


def cmake_command(source: Path, compiler: dict[str, str], optimise: str, rest: list[str]) -> list[str]:
    """Return a CMake call for the build tree it is run in; `optimise` are the compiler flags, `rest` is its end."""
    return [
        "cmake",
        "-G",
        "Ninja",
        "-S",
        str(source),
        "-B",
        ".",
        f"-DCMAKE_C_COMPILER={compiler['cc']}",
        f"-DCMAKE_CXX_COMPILER={compiler['cxx']}",
        *(f"-DCMAKE_{tool.upper()}={compiler[tool]}" for tool in ("ar", "ranlib", "nm")),
        "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
        f"-DCMAKE_C_FLAGS_RELWITHDEBINFO={optimise}",
        f"-DCMAKE_CXX_FLAGS_RELWITHDEBINFO={optimise}",
        *rest,
    ]


def base_command(program: Path, install: Path, data: Path, option_file: Path) -> list[str]:
    """Return the part of the command line that initialising and serving share."""
    return [
        str(program),
        f"--defaults-file={option_file}",
        f"--basedir={install}",
        f"--datadir={data}",
        f"--tmpdir={data}",
        f"--lc-messages-dir={install / 'share'}",
        f"--character-sets-dir={install / 'share' / 'charsets'}",
    ]


def socket_arguments(sockets: Path) -> list[str]:
    """Return the arguments that make a server listen on `sockets`/server.sock."""
    return [f"--socket={sockets / 'server.sock'}", f"--pid-file={sockets / 'server.pid'}"]


def bootstrap(command: list[str], statements: str, data: Path, log: Path, identity: dict) -> None:
    """Feed SQL to a server that reads it from standard input and ends. Raises CommandFailed with its last lines."""
    file = statement_file(statements, data)
    run(command, log, cwd=data, stdin=file, identity=identity)
    file.unlink()


def statement_file(statements: str, data: Path) -> Path:
    """Write SQL beside a data directory, readable to the server, and return its path."""
    file = data.parent / "bootstrap.sql"
    file.write_text(statements, encoding="utf-8")
    file.chmod(0o644)
    return file


def connect(sockets: Path) -> pymysql.Connection:
    """Connect as root; raises pymysql.Error while the server is not ready."""
    return pymysql.connect(unix_socket=str(sockets / "server.sock"), user="root", autocommit=True)


def before_stop(connection: pymysql.Connection, keep_data: bool) -> None:
    """Choose how the server will stop: all purged and flushed when the data is kept, else without flushing pages."""
    with connection.cursor() as cursor:
        cursor.execute(f"SET GLOBAL innodb_fast_shutdown={0 if keep_data else 2}")


def sysbench_flags(sockets: Path) -> list[str]:
    """Return sysbench's connection options."""
    return [
        f"--db-driver={DRIVER}",
        f"--mysql-socket={sockets / 'server.sock'}",
        "--mysql-user=root",
        f"--mysql-db={DATABASE}",
    ]


def variables(connection: pymysql.Connection) -> dict[str, str]:
    """Return every global variable as the server has it."""
    return pairs(connection, "SHOW GLOBAL VARIABLES")


def counters(connection: pymysql.Connection) -> dict[str, float]:
    """Return the counters worth comparing at both edges of a window; those the release lacks are left out.

    History list and checkpoint age are variables in some releases only; InnoDB's own report has them everywhere.
    """
    status = pairs(connection, "SHOW GLOBAL STATUS")
    unreported = {name: float(status[key]) for key, name in UNREPORTED.items() if key in status}
    told = innodb_report.numbers(innodb_report.report(connection))
    return {**unreported, **told, **{name: float(status[key]) for key, name in COUNTERS.items() if key in status}}


engine_report = innodb_report.report
WAITS = innodb_waits
FILE_KINDS = innodb_report.FILE_KINDS


def table_files(connection: pymysql.Connection) -> dict[str, str]:
    """Return nothing: files of tables have their names."""
    return {}


def pairs(connection: pymysql.Connection, statement: str) -> dict[str, str]:
    """Return the rows of a statement with two columns as a mapping."""
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return {str(name): str(value) for name, value in cursor.fetchall()}
