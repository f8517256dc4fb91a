"""MySQL 5.5 to 9 and Percona Server: compiled by CMake and Ninja, one multi-threaded process."""

from pathlib import Path
from typing import Any

from scripts.host.process import run
from scripts.servers.families import innodb, innodb_log, innodb_network, innodb_values, mysql_build, mysql_options
from scripts.sources import installed

SERVER = mysql_build.SERVER
PROFILE_SCOPE = "*"
DATA_OPTIONS = frozenset(
    {
        "innodb_page_size",
        "innodb_undo_tablespaces",
        "innodb_file_per_table",
        "innodb_data_file_path",
        "innodb_checksum_algorithm",
        "innodb_default_row_format",
        "innodb_file_format",
        "lower_case_table_names",
        "character_set_server",
        "collation_server",
        "default_storage_engine",
    }
)
SYSBENCH_DRIVER = innodb.DRIVER
FORKS = False
NETWORK = innodb_network
VALUES = innodb_values
STOP_SIGNAL = innodb.STOP_SIGNAL
COMPLAINT, NOT_TAKEN = innodb.COMPLAINT, innodb.NOT_TAKEN

# The server initialises a data directory itself since 5.7.6.
INITIALISES: mysql_options.Release = (5, 7, 6)
# The first of these has caching_sha2_password as its default, the second has nothing else.
OTHER_PASSWORDS: mysql_options.Release = (8, 0, 4)
# The first release that makes its redo log anew when another size is asked for; before, it does not start.
RESIZES_LOG: mysql_options.Release = (5, 6, 8)
OLD_LOG_FILE_SIZE = "5M"

configure_command = mysql_build.configure_command
published_options = mysql_build.published_options
compile_commands = mysql_build.compile_commands
install = mysql_build.install
options_named = mysql_options.named
unknown_options = mysql_options.unknown_options


def default_options(memory_mib: int) -> dict[str, Any]:
    """Return the options every study starts from; durable, no network, no binary log, everything cached if it fits.

    The buffer pool is a fourth of memory, between 128 and 4096 MiB. The X plugin has an option only where it is there.
    """
    return {
        "skip_networking": True,
        "server_id": 1,
        "log_bin": False,
        "loose_mysqlx": False,
        "innodb_buffer_pool_size": innodb.pool_size(memory_mib),
        "innodb_log_file_size": "512M",
        "innodb_flush_log_at_trx_commit": 1,
        "innodb_buffer_pool_dump_at_shutdown": False,
        "innodb_buffer_pool_load_at_startup": False,
        "max_connections": 4096,
        "performance_schema": False,
        "query_cache_type": 0,
        "query_cache_size": 0,
        "table_open_cache": 4096,
    }


def options_of_release(install: Path, options: dict[str, Any]) -> dict[str, Any]:
    """Return options as the server in `install` names them. Raises ValueError naming one its release does not have."""
    return mysql_options.named(options, mysql_build.read_release(install))


def initialise(
    install: Path, data: Path, option_file: Path, options: dict[str, Any], log: Path, identity: dict
) -> None:
    """Make a data directory as the release does, with root without a password and an empty database."""
    release = mysql_options.number(mysql_build.read_release(install))
    command = _command(install, data, option_file)
    if release < INITIALISES:
        scripts = [(install / "share" / name).read_text(encoding="utf-8") for name in mysql_build.SYSTEM_TABLES]
        innodb.bootstrap([*command, "--bootstrap"], _first_statements(scripts), data, log, identity)
        return
    statements = [f"CREATE DATABASE {innodb.DATABASE};"]
    if OTHER_PASSWORDS <= release < mysql_options.NO_NATIVE_PASSWORD:
        # A sysbench linked with an old client library knows no other way of proving an empty password.
        statements.append("ALTER USER root@localhost IDENTIFIED WITH mysql_native_password BY '';")
    file = innodb.statement_file("\n".join([*statements, ""]), data)
    run([*command, "--initialize-insecure", f"--init-file={file}"], log, cwd=data, identity=identity)
    file.unlink()


def _first_statements(scripts: list[str]) -> str:
    """Return what makes the system tables, without the accounts that hold this machine's name."""
    lines = [line for line in "\n".join(scripts).splitlines() if "@current_hostname" not in line]
    head = ["CREATE DATABASE mysql;", "USE mysql;"]
    return "\n".join([*head, *lines, f"CREATE DATABASE {innodb.DATABASE};", ""])


def fit_data(install: Path, data: Path, options: dict[str, Any]) -> None:
    """Make a cleanly stopped data directory one that the server starts on: a redo log of another size goes."""
    release = mysql_build.read_release(install)
    if mysql_options.number(release) >= RESIZES_LOG:
        return
    wanted = mysql_options.named(options, release)
    size = mysql_options.in_bytes(wanted.get("innodb_log_file_size", OLD_LOG_FILE_SIZE))
    count = int(wanted.get("innodb_log_files_in_group", mysql_options.LOG_FILES))
    files = sorted(data.glob("ib_logfile*"))
    if [file.stat().st_size for file in files] != [size] * count:
        for file in files:
            file.unlink()


def _command(install: Path, data: Path, option_file: Path) -> list[str]:
    # A distribution's server has a folder compiled in here that this machine may not have.
    return [*innodb.base_command(install / SERVER, install, data, option_file), "--secure-file-priv="]


def server_command(install: Path, data: Path, option_file: Path, sockets: Path) -> list[str]:
    """Return the server's command line; it listens on `sockets`/server.sock and nowhere else."""
    return [*_command(install, data, option_file), *innodb.socket_arguments(sockets)]


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
    """Return the names of an install tree and where an installed or unpacked server has them.

    `prefix` is the server program or what it was installed under. Raises ValueError when it is neither.
    """
    program, root = installed.program_of(prefix, ["mysqld"])
    shares = [root / "share", *sorted((root / "share").glob("mysql*"), reverse=True)]
    found = installed.with_shared_files(program, SERVER, shares, [])
    scripts = [found["share/charsets"].parent / script for script in mysql_build.SYSTEM_TABLES]
    found |= {f"share/{script.name}": script for script in scripts if script.is_file()}
    private = [root / folder for folder in mysql_build.PRIVATE_FOLDERS if (root / folder).is_dir()]
    return {**found, mysql_build.PRIVATE: private[0]} if private else found
