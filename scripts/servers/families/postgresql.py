"""PostgreSQL: compiled by autoconf and make, one process a connection."""

import shutil
from pathlib import Path
from typing import Any

import pg8000.dbapi

from scripts.host.process import run
from scripts.servers.families import (
    plain,
    postgresql_counters,
    postgresql_log,
    postgresql_network,
    postgresql_options,
    postgresql_values,
    postgresql_waits,
)
from scripts.servers.families.postgresql_network import PORT, port_of
from scripts.sources import installed

SERVER = "bin/postgres"
# The client library's own check fails under -fprofile-generate, so only what the server consists of or loads is meant.
PROFILE_SCOPE = "src/backend/* src/timezone/* src/pl/* *_srv.o"
DATA_OPTIONS = frozenset({"wal_segment_size", "data_checksums"})
SYSBENCH_DRIVER = "pgsql"
FORKS = True
NETWORK = postgresql_network
VALUES = postgresql_values
DATABASE = postgresql_network.DATABASE
USER = "sbtest"
STOP_SIGNAL = "SIGINT"
COMPLAINT, NOT_TAKEN = postgresql_options.COMPLAINT, postgresql_options.NOT_TAKEN
WAITS = postgresql_waits
FILE_KINDS = postgresql_options.FILE_KINDS
PREFIX = "/usr/local/pgsql"

CONFIGURE_OPTIONS = ["--without-readline", "--without-icu", "--disable-nls"]
PARTS = [
    "src/backend",
    "src/timezone",
    "src/include",
    "src/interfaces/libpq",
    "src/bin/initdb",
    "src/pl/plpgsql/src",
    "src/backend/snowball",
    "src/backend/utils/mb/conversion_procs",
    "src/backend/replication/libpqwalreceiver",
]


def configure_command(source: Path, compiler: dict[str, str], recipe: dict) -> list[str]:
    """Return the configure call, the same for every build of a server; run it in the build tree."""
    return [
        str(source / "configure"),
        f"--prefix={PREFIX}",
        *CONFIGURE_OPTIONS,
        *(["--enable-debug"] if recipe.get("debug_information") else []),
        *(f"{tool.upper()}={compiler[tool]}" for tool in ("cc", "cxx", "ar", "ranlib", "nm")),
        *recipe.get("configure", []),
    ]


def compile_commands(threads: int) -> list[list[str]]:
    """Return the commands that compile the server and what starts it, with at most `threads` jobs."""
    headers = ["make", "-C", "src/backend", "generated-headers"]
    return [headers, *(["make", f"-j{threads}", "-C", part, "all"] for part in PARTS if part != "src/include")]


def install(source: Path, build: Path, target: Path, log: Path) -> None:
    """Install the compiled parts into `target`; PostgreSQL finds its files relative to its programs."""
    staging = target.parent / "staging"
    for part in PARTS:
        run(["make", "-C", part, "install", f"DESTDIR={staging}"], log, cwd=build)
    shutil.rmtree(staging / PREFIX.lstrip("/") / "include", ignore_errors=True)
    (staging / PREFIX.lstrip("/")).rename(target)
    shutil.rmtree(staging)


def default_options(memory_mib: int) -> dict[str, Any]:
    """Return the options every study starts from; durable, no network, everything cached if it fits.

    Shared buffers are a fourth of memory, between 128 and 4096 MiB.
    """
    return {
        "listen_addresses": "",
        "port": PORT,
        "shared_buffers": f"{min(4096, max(128, memory_mib // 4))}MB",
        "max_connections": 1100,
        "max_wal_size": "4GB",
        "checkpoint_timeout": "30min",
        "autovacuum": False,
        "jit": False,
        "fsync": True,
        "synchronous_commit": True,
    }


option_text = postgresql_options.option_text
published_options = plain.published_options
options_named = plain.options_named
options_of_release = plain.options_of_release
fit_data = plain.fit_data
log_statements, logged_statements = postgresql_log.log_statements, postgresql_log.logged_statements
unknown_options = postgresql_options.unknown_options


def initialise(
    install: Path, data: Path, option_file: Path, options: dict[str, Any], log: Path, identity: dict
) -> None:
    """Make a cluster with the C locale, local trust and one database."""
    flags = [flag.format(options[name]) for name, flag in postgresql_options.INITDB_FLAGS.items() if options.get(name)]
    command = [
        str(install / "bin" / "initdb"),
        f"--pgdata={data}",
        f"--username={USER}",
        "--auth=trust",
        "--locale=C",
        "--encoding=UTF8",
        *flags,
    ]
    run(command, log, cwd=data, identity=identity)
    statement = data.parent / "bootstrap.sql"
    statement.write_text(f"CREATE DATABASE {DATABASE};\n", encoding="utf-8")
    statement.chmod(0o644)
    alone = [str(install / SERVER), "--single", "-D", str(data), "postgres"]
    run(alone, log, cwd=data, stdin=statement, identity=identity)
    statement.unlink()


def server_command(install: Path, data: Path, option_file: Path, sockets: Path) -> list[str]:
    """Return the server's command line; it listens on a socket in `sockets`, and where options say."""
    return [
        str(install / SERVER),
        "-D",
        str(data),
        f"--config-file={option_file}",
        f"--hba-file={data / 'pg_hba.conf'}",
        f"--ident-file={data / 'pg_ident.conf'}",
        f"--unix-socket-directories={sockets}",
    ]


def connect(sockets: Path) -> pg8000.dbapi.Connection:
    """Connect to the benchmark's database; raises pg8000's errors while the server is not ready."""
    socket = f"{sockets}/.s.PGSQL.{port_of(sockets)}"
    connection = pg8000.dbapi.connect(
        USER, database=DATABASE, unix_sock=socket, application_name=postgresql_waits.OWN_NAME
    )
    connection.autocommit = True
    return connection


def before_stop(connection: pg8000.dbapi.Connection, keep_data: bool) -> None:
    """Freeze and checkpoint data that is kept, so that no run inherits the loader's vacuum work."""
    if keep_data:
        for statement in ("VACUUM (FREEZE, ANALYZE)", "CHECKPOINT"):
            connection.cursor().execute(statement)


def sysbench_flags(sockets: Path) -> list[str]:
    """Return sysbench's connection options."""
    return [
        "--db-driver=pgsql",
        f"--pgsql-host={sockets}",
        f"--pgsql-port={port_of(sockets)}",
        f"--pgsql-user={USER}",
        f"--pgsql-db={DATABASE}",
    ]


variables = postgresql_counters.variables
counters = postgresql_counters.counters
engine_report = postgresql_counters.engine_report
table_files = postgresql_counters.table_files


def layout(prefix: Path) -> dict[str, Path]:
    """Return the names of an install tree and where an installed server has them; it finds its other files itself.

    `prefix` is the server program or what it was installed under. Raises ValueError when it is neither.
    """
    program, root = installed.program_of(prefix, ["postgres"])
    folders = {name: root / name for name in ("lib", "share") if (root / name).is_dir()}
    return {SERVER: program, **installed.beside_program(program, "initdb"), **folders}
