"""MariaDB: compiled by CMake and Ninja, one multi-threaded process."""

import shutil
from pathlib import Path
from typing import Any

import pymysql

from scripts.process import run

SERVER = "bin/mariadbd"
PROFILE_SCOPE = "*"
DATA_OPTIONS = frozenset(
    {"innodb_page_size", "innodb_undo_tablespaces", "innodb_checksum_algorithm", "lower_case_table_names"}
)
SYSBENCH_DRIVER = "mysql"
DATABASE = "sbtest"
STOP_SIGNAL = "SIGTERM"

# Plugins a benchmark of InnoDB does not touch; each costs compile time or a library.
LEFT_OUT = [
    "MROONGA",
    "ROCKSDB",
    "SPIDER",
    "CONNECT",
    "SPHINX",
    "OQGRAPH",
    "COLUMNSTORE",
    "S3",
    "FEDERATED",
    "FEDERATEDX",
    "ARCHIVE",
    "EXAMPLE",
    "HANDLERSOCKET",
]
CMAKE_OPTIONS = [
    "WITH_WSREP=OFF",
    "WITH_MARIABACKUP=OFF",
    "WITHOUT_DYNAMIC_PLUGINS=1",
    "WITH_SSL=system",
    "WITH_PCRE=system",
    "WITH_UNIT_TESTS=OFF",
]
SYSTEM_TABLES = [
    "mysql_system_tables.sql",
    "mysql_performance_tables.sql",
    "mysql_system_tables_data.sql",
    "maria_add_gis_sp_bootstrap.sql",
    "mysql_sys_schema.sql",
]
COUNTERS = {
    "Innodb_buffer_pool_pages_dirty": "dirty_pages",
    "Innodb_history_list_length": "history_list_length",
    "Innodb_os_log_written": "log_written_bytes",
    "Innodb_checkpoint_age": "checkpoint_age_bytes",
    "Innodb_buffer_pool_reads": "buffer_pool_misses",
    "Innodb_row_lock_waits": "row_lock_waits",
    "Innodb_data_fsyncs": "data_fsyncs",
    "Com_commit": "commits",
    "Questions": "questions",
}


def configure_command(source: Path, compiler: dict[str, str], recipe: dict) -> list[str]:
    """Return the CMake call, the same for every build of a server; run it in the build tree."""
    optimise = "-O2 -g -DNDEBUG" if recipe.get("debug_information") else "-O2 -DNDEBUG"
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
        *(f"-DPLUGIN_{plugin}=NO" for plugin in LEFT_OUT),
        *(f"-D{option}" for option in CMAKE_OPTIONS),
        *recipe.get("configure", []),
    ]


def compile_commands(threads: int) -> list[list[str]]:
    """Return the commands that compile the server in the build tree with at most `threads` jobs."""
    return [["ninja", f"-j{threads}", "mariadbd"]]


def install(source: Path, build: Path, target: Path, log: Path) -> None:
    """Copy the server, its messages, character sets and system-table scripts into `target`."""
    (target / "bin").mkdir(parents=True)
    shutil.copy2(build / "sql" / "mariadbd", target / SERVER)
    shutil.copytree(source / "sql" / "share" / "charsets", target / "share" / "charsets")
    for messages in (build / "sql" / "share").glob("*/errmsg.sys"):
        (target / "share" / messages.parent.name).mkdir(parents=True, exist_ok=True)
        shutil.copy2(messages, target / "share" / messages.parent.name)
    for script in SYSTEM_TABLES:
        shutil.copy2(build / "scripts" / script, target / "share")


def default_options(memory_mib: int) -> dict[str, Any]:
    """Return the options every study starts from; durable, no network, everything cached if it fits.

    The buffer pool is a fourth of memory, between 128 and 4096 MiB.
    """
    return {
        "skip_networking": True,
        "innodb_buffer_pool_size": f"{min(4096, max(128, memory_mib // 4))}M",
        "innodb_log_file_size": "512M",
        "innodb_flush_log_at_trx_commit": 1,
        "innodb_buffer_pool_dump_at_shutdown": False,
        "innodb_buffer_pool_load_at_startup": False,
        "max_connections": 4096,
        "performance_schema": False,
        "query_cache_type": 0,
        "table_open_cache": 4096,
    }


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


def initialise(
    install: Path, data: Path, option_file: Path, options: dict[str, Any], log: Path, identity: dict
) -> None:
    """Make a data directory: the system tables, fed to the server's bootstrap mode; root without a password."""
    statements = data.parent / "bootstrap.sql"
    scripts = [(install / "share" / name).read_text(encoding="utf-8") for name in SYSTEM_TABLES]
    head = "CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n"
    statements.write_text(head + "\n".join(scripts) + f"\nCREATE DATABASE {DATABASE};\n", encoding="utf-8")
    statements.chmod(0o644)
    (data / "mysql").mkdir(exist_ok=True)
    (data / "mysql").rmdir()
    command = [*_common(install, data, option_file), "--bootstrap", "--silent-startup"]
    run(command, log, cwd=data, stdin=statements, identity=identity)
    statements.unlink()


def _common(install: Path, data: Path, option_file: Path) -> list[str]:
    return [
        str(install / SERVER),
        f"--defaults-file={option_file}",
        f"--basedir={install}",
        f"--datadir={data}",
        f"--tmpdir={data}",
        f"--lc-messages-dir={install / 'share'}",
        f"--character-sets-dir={install / 'share' / 'charsets'}",
    ]


def server_command(install: Path, data: Path, option_file: Path, sockets: Path) -> list[str]:
    """Return the server's command line; it listens on `sockets`/server.sock and nowhere else."""
    return [
        *_common(install, data, option_file),
        f"--socket={sockets / 'server.sock'}",
        f"--pid-file={sockets / 'server.pid'}",
    ]


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
        "--db-driver=mysql",
        f"--mysql-socket={sockets / 'server.sock'}",
        "--mysql-user=root",
        f"--mysql-db={DATABASE}",
    ]


def variables(connection: pymysql.Connection) -> dict[str, str]:
    """Return every global variable as the server has it."""
    return _pairs(connection, "SHOW GLOBAL VARIABLES")


def counters(connection: pymysql.Connection) -> dict[str, float]:
    """Return the counters worth comparing at both edges of a window; those the release lacks are left out."""
    status = _pairs(connection, "SHOW GLOBAL STATUS")
    return {name: float(status[key]) for key, name in COUNTERS.items() if key in status}


def _pairs(connection: pymysql.Connection, statement: str) -> dict[str, str]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return {str(name): str(value) for name, value in cursor.fetchall()}
