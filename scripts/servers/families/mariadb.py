"""MariaDB: compiled by CMake and Ninja, one multi-threaded process."""

import shutil
from pathlib import Path
from typing import Any

from scripts.servers.families import innodb, innodb_log, innodb_network, innodb_values, plain
from scripts.sources import installed

SERVER = "bin/mariadbd"
PROFILE_SCOPE = "*"
DATA_OPTIONS = frozenset(
    {"innodb_page_size", "innodb_undo_tablespaces", "innodb_checksum_algorithm", "lower_case_table_names"}
)
SYSBENCH_DRIVER = innodb.DRIVER
FORKS = False
NETWORK = innodb_network
VALUES = innodb_values
STOP_SIGNAL = innodb.STOP_SIGNAL
COMPLAINT, NOT_TAKEN = innodb.COMPLAINT, innodb.NOT_TAKEN

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


def configure_command(source: Path, compiler: dict[str, str], recipe: dict) -> list[str]:
    """Return the CMake call, the same for every build of a server; run it in the build tree."""
    optimise = "-O2 -g -DNDEBUG" if recipe.get("debug_information") else "-O2 -DNDEBUG"
    left_out = [f"-DPLUGIN_{plugin}=NO" for plugin in LEFT_OUT]
    wanted = [f"-D{option}" for option in CMAKE_OPTIONS]
    return innodb.cmake_command(source, compiler, optimise, [*left_out, *wanted, *recipe.get("configure", [])])


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
        "innodb_buffer_pool_size": innodb.pool_size(memory_mib),
        "innodb_log_file_size": "512M",
        "innodb_flush_log_at_trx_commit": 1,
        "innodb_buffer_pool_dump_at_shutdown": False,
        "innodb_buffer_pool_load_at_startup": False,
        "max_connections": 4096,
        "performance_schema": False,
        "query_cache_type": 0,
        "table_open_cache": 4096,
    }


published_options = plain.published_options
options_named = plain.options_named
options_of_release = plain.options_of_release
unknown_options = plain.unknown_options
fit_data = plain.fit_data


def initialise(
    install: Path, data: Path, option_file: Path, options: dict[str, Any], log: Path, identity: dict
) -> None:
    """Make a data directory: the system tables, fed to the server's bootstrap mode; root without a password."""
    scripts = [(install / "share" / name).read_text(encoding="utf-8") for name in SYSTEM_TABLES]
    head = "CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n"
    statements = head + "\n".join(scripts) + f"\nCREATE DATABASE {innodb.DATABASE};\n"
    command = [*innodb.base_command(install / SERVER, install, data, option_file), "--bootstrap", "--silent-startup"]
    innodb.bootstrap(command, statements, data, log, identity)


def server_command(install: Path, data: Path, option_file: Path, sockets: Path) -> list[str]:
    """Return the server's command line; it listens on `sockets`/server.sock and nowhere else."""
    command = innodb.base_command(install / SERVER, install, data, option_file)
    return [*command, *innodb.socket_arguments(sockets)]


option_text = innodb.option_text
connect = innodb.connect
before_stop = innodb.before_stop
sysbench_flags = innodb.sysbench_flags
variables = innodb.variables
counters = innodb.counters
log_statements = innodb_log.log_statements
logged_statements = innodb_log.logged_statements
engine_report = innodb.engine_report
WAITS = innodb.WAITS
FILE_KINDS = innodb.FILE_KINDS
table_files = innodb.table_files


def layout(prefix: Path) -> dict[str, Path]:
    """Return the names of an install tree and where an installed server has them.

    `prefix` is the server program or what it was installed under. Raises ValueError when it is neither.
    """
    program, root = installed.program_of(prefix, ["mariadbd"])
    shares = [root / "share" / name for name in ("mysql", "mariadb", ".")]
    return installed.with_shared_files(program, SERVER, shares, SYSTEM_TABLES)
