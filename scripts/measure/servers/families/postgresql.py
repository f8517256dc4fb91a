"""PostgreSQL: compiled by autoconf and make, one process per connection."""

import base64
import hashlib
import hmac
import re
import secrets
import shutil
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import ClassVar

import pg8000.dbapi

from scripts.build.sources.installed import Product, beside_program, program_of
from scripts.lib.host.process import run
from scripts.lib.recipe_models import CompileRecipe
from scripts.lib.wording import option_value
from scripts.measure.servers.endpoint import Endpoint
from scripts.measure.servers.families import postgresql_options
from scripts.measure.servers.families.connection import Connection, execute, rows, value
from scripts.measure.servers.families.family import CLIENT_USER, ServerUser, bootstrap, pool_mib
from scripts.measure.servers.families.option_rules import Options, by_name
from scripts.measure.servers.families.option_values import OptionKind
from scripts.measure.servers.families.postgresql_status import OWN_NAME, PostgreSQLStatus
from scripts.measure.servers.families.server_supplies import SupplyDemand, asked_by_postgresql

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

# The superuser.
USER = "sbtest"
PORT = 5432
ITERATIONS = 4096
READ_WITHIN_S = 30
CLEAN_UP = Path(__file__).with_name("postgresql_memory.sh")
CLEAN_UP_UNREADY = Path(__file__).with_name("postgresql_unready.sh")
CONTROL_FILE = re.compile(r"/dev/shm/PostgreSQL\.\d+$", re.MULTILINE)
# The line of postmaster.pid with the key and the number of the System V segment, from 0.
SEGMENT_LINE = 6
INITDB_FLAGS = {"data_checksums": "--data-checksums", "wal_segment_size": "--wal-segsize={}"}
OPTION_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?")
# A statement's further lines begin with a tab.
LOGGED_STATEMENT = re.compile(r"LOG:  (?:statement|execute [^:]*): (.*(?:\n\t.*)*)")


class PostgreSQL(PostgreSQLStatus):
    """PostgreSQL 10 and newer."""

    NAME = "postgresql"
    SERVER = "bin/postgres"
    PRODUCT = Product(
        programs=("postgres",),
        answer=r"\(PostgreSQL\) (\d[\d.]*\w*)",
        release_files=(("configure", r"^PACKAGE_VERSION='([\w.]+)'"),),
    )
    START_COMMANDS = Path(__file__).with_suffix(".sh")
    CLIENT_COMMAND = "psql --host={sockets} postgres"
    BUILD_PROGRAMS = (("make",), ("bison",), ("flex",), ("perl",))
    # The client library's own check fails under -fprofile-generate: only the server and what it loads are compiled so.
    PROFILE_SCOPE = "src/backend/* src/timezone/* src/pl/* *_srv.o"
    # Its configure adds few flags, so that every other one that all its units have came from somewhere else.
    FOREIGN_FLAGS = re.compile(
        r"(?!-O2$|-std=|-pthread$|-f(?:no-strict-aliasing|wrapv|excess-precision=standard|PIC|visibility=hidden)$"
        r"|-D_(?:GNU_SOURCE|REENTRANT|THREAD_SAFE|POSIX_PTHREAD_SEMANTICS)$|-[ILB]|-Wl,(?:--as-needed|-E|-rpath,.*)$).*"
    )
    DATA_OPTIONS = frozenset({"wal_segment_size", "data_checksums"})
    OWNED_OPTIONS: ClassVar[Mapping[str, str]] = by_name(postgresql_options.OWNED_BY)
    OPTION_KINDS: ClassVar[Mapping[str, OptionKind]] = postgresql_options.KINDS
    BUILT_LIBRARIES, ADDED_LIBRARIES = postgresql_options.BUILT, postgresql_options.CONTRIB
    SYSBENCH_DRIVER = "pgsql"
    PASSWORD_OPTION = "pgsql-password"
    FORKS = True
    CONNECTING_FAILS = True
    STOP_SIGNAL = "SIGINT"
    # Only a LOG line has the name of a wrong option; a connection that came too early does not end the server.
    COMPLAINT = re.compile(
        r"(?:FATAL|PANIC):  (?!the database system is starting up)(.*)|LOG:  (.*\bparameter\b.*|syntax error.*)"
    )
    OPTION_REFUSED = re.compile(r"\bparameter \"|syntax error in file")
    DIALECT = "postgresql"
    # Nothing outlives a check, so nothing waits for a disk; deadlocks are found quickly.
    CHECK_OPTIONS: ClassVar[Options] = {
        "shared_buffers": "128MB",
        "max_connections": 40,
        "fsync": False,
        "synchronous_commit": False,
        "deadlock_timeout": "20ms",
    }
    # Measured with 15: 200 000 rows made 152 MiB.
    SOURCE_MIB, BUILD_MIB, INSTALL_MIB = 210, 300, 20
    EMPTY_MIB, LOGS_MIB, ROW_BYTES = 100, 4096, 260
    POOL_OPTION = "shared_buffers"
    HUGE_PAGES_OPTION = "huge_pages"
    POOL_UNIT_BYTES = 8192
    BASE_MIB, CONNECTION_MIB = 50, 5

    def supplies(self, options: Options) -> SupplyDemand:
        return asked_by_postgresql(options)

    def configure_command(self, source: Path, compiler: dict[str, str], recipe: CompileRecipe) -> list[str]:
        return [
            str(source / "configure"),
            f"--prefix={PREFIX}",
            *CONFIGURE_OPTIONS,
            *(["--enable-debug"] if recipe.debug_information else []),
            *(f"{tool.upper()}={compiler[tool]}" for tool in ("cc", "cxx", "ar", "ranlib", "nm")),
            *recipe.configure,
        ]

    def compile_commands(self, threads: int) -> list[list[str]]:
        headers = ["make", "-C", "src/backend", "generated-headers"]
        return [headers, *(["make", f"-j{threads}", "-C", part, "all"] for part in PARTS if part != "src/include")]

    def library_commands(self, names: Collection[str]) -> list[list[str]]:
        return [["make", "-C", f"contrib/{name}", "all"] for name in names]

    def install(self, source: Path, build: Path, target: Path, log: Path) -> None:
        """Install the compiled parts into `target`; PostgreSQL finds its files relative to its programs."""
        staging = target.parent / "staging"
        added = sorted(f"contrib/{file.parent.name}" for file in build.glob("contrib/*/*.so"))
        for part in [*PARTS, *added]:
            run(["make", "-C", part, "install", f"DESTDIR={staging}"], log, cwd=build)
        shutil.rmtree(staging / PREFIX.lstrip("/") / "include", ignore_errors=True)
        (staging / PREFIX.lstrip("/")).rename(target)
        shutil.rmtree(staging)

    def layout(self, prefix: Path) -> dict[str, Path]:
        """Return path within an install tree -> where an installed server has it; it finds its other files itself.

        `prefix` is the server program or the prefix it was installed under. Raises ValueError if it is neither.
        """
        program, root = program_of(prefix, self.PRODUCT.programs)
        folders = {name: root / name for name in ("lib", "share") if (root / name).is_dir()}
        return {self.SERVER: program, **beside_program(program, "initdb"), **folders}

    def default_options(self, memory_mib: int) -> Options:
        """Return the options every study starts from: durable, no network, data cached if it fits."""
        return {
            "listen_addresses": "",
            "port": PORT,
            "shared_buffers": f"{pool_mib(memory_mib)}MB",
            "max_connections": 1100,
            "max_wal_size": "4GB",
            "checkpoint_timeout": "30min",
            "autovacuum": False,
            "jit": False,
            "fsync": True,
            "synchronous_commit": True,
        }

    def unknown_options(self, release: str, options: Options) -> list[str]:
        """Return one line `name: reason` per option that no release has: a name of another form, or one of InnoDB's."""
        return [
            f"{name}: PostgreSQL {release} has no such option (value {value!r})"
            for name, value in options.items()
            if not OPTION_NAME.fullmatch(name) or name.startswith("innodb_")
        ]

    def option_text(self, options: Options) -> str:
        """Return the option file: every value is quoted, true and false become on and off."""
        written = {name: postgresql_options.file_value(option_value(value)) for name, value in options.items()}
        return "".join(f"{name} = {text}\n" for name, text in written.items() if name not in INITDB_FLAGS)

    def libraries(self, program: Path) -> frozenset[str] | None:
        return postgresql_options.libraries_beside(program)

    def initialise(
        self, install: Path, data: Path, option_file: Path, options: Options, log: Path, identity: ServerUser
    ) -> None:
        """Make a cluster with the C locale, local trust and one database."""
        flags = [flag.format(options[name]) for name, flag in INITDB_FLAGS.items() if options.get(name)]
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
        alone = [str(install / self.SERVER), "--single", "-D", str(data), "postgres"]
        bootstrap(alone, f"CREATE DATABASE {self.DATABASE};\n", data, log, identity)

    def server_command(self, install: Path, data: Path, option_file: Path, sockets: Path) -> list[str]:
        return [
            str(install / self.SERVER),
            "-D",
            str(data),
            f"--config-file={option_file}",
            f"--hba-file={data / 'pg_hba.conf'}",
            f"--ident-file={data / 'pg_ident.conf'}",
            f"--unix-socket-directories={sockets}",
        ]

    def clean_up_command(self, pid: int, data: Path) -> list[str]:
        """Return the command that removes its shared memory, which a killed server leaves in /dev/shm."""
        try:
            controls = CONTROL_FILE.findall(Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace"))
            lines = (data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        except OSError:
            return []  # it has ended
        segment = lines[SEGMENT_LINE].split()[-1:] if len(lines) > SEGMENT_LINE else []
        return ["sh", str(CLEAN_UP), *(segment or ["-1"]), *controls[:1]]

    def clean_up_unready_command(self, data: Path, option_file: Path) -> list[str]:
        """Return the command that removes its shared memory where it was killed before it was ready."""
        return ["sh", str(CLEAN_UP_UNREADY), str(data), str(option_file)]

    def connect(self, sockets: Path) -> pg8000.dbapi.Connection:
        """Connect to the benchmark's database; raises pg8000's errors while the server is not ready."""
        socket = f"{sockets}/.s.PGSQL.{port_of(sockets)}"
        connection = pg8000.dbapi.connect(USER, database=self.DATABASE, unix_sock=socket, application_name=OWN_NAME)
        connection.autocommit = True
        return connection

    def before_stop(self, connection: Connection, keep_data: bool) -> None:
        """Freeze and checkpoint data that is kept, so that no run inherits the loader's vacuum work."""
        if keep_data:
            execute(connection, "VACUUM (FREEZE, ANALYZE)", "CHECKPOINT")

    def sysbench_flags(self, sockets: Path) -> list[str]:
        return self.driver_flags(host=sockets, port=port_of(sockets), user=USER, db=self.DATABASE)

    def network_options(self, address: str, port: int) -> Options:
        return {"listen_addresses": address, "port": port}

    def admit_client(self, connection: Connection, password: str) -> None:
        """Make a role for a load generator, which owns nothing; the server receives a hash of the password.

        Raises TimeoutError if the server has not read its rules again after 30 s.
        """
        execute(
            connection,
            f"CREATE ROLE {CLIENT_USER} LOGIN PASSWORD '{password_verifier(password)}'",
            f"GRANT ALL ON DATABASE {self.DATABASE} TO {CLIENT_USER}",
            f"GRANT ALL ON SCHEMA public TO {CLIENT_USER}",
            f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {CLIENT_USER}",
            f"GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {CLIENT_USER}",
        )
        with Path(value(connection, "SHOW hba_file")).open("a", encoding="utf-8") as rules:
            rules.write(f"host {self.DATABASE} {CLIENT_USER} all scram-sha-256\n")
        before, deadline_s = value(connection, "SELECT pg_conf_load_time()"), time.monotonic() + READ_WITHIN_S
        execute(connection, "SELECT pg_reload_conf()")
        while value(connection, "SELECT pg_conf_load_time()") == before:
            if time.monotonic() > deadline_s:
                raise TimeoutError(f"the server has not read pg_hba.conf again within {READ_WITHIN_S} s")
            time.sleep(0.02)

    CIPHER_QUERY = "SELECT version, cipher FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl"

    def reach(self, endpoint: Endpoint) -> pg8000.dbapi.Connection:
        login = endpoint.access.login
        connection = pg8000.dbapi.connect(
            login.user,
            password=login.password,
            host=endpoint.address,
            port=endpoint.port,
            database=endpoint.database or "postgres",
            application_name=OWN_NAME,
            timeout=None,
            ssl_context=endpoint.tls() or False,
        )
        connection.autocommit = True
        return connection

    def release_of(self, connection: Connection) -> str:
        return str(value(connection, "SHOW server_version")).split()[0]

    def reached_environment(self, endpoint: Endpoint, folder: Path) -> dict[str, str]:
        """Return the environment by which libpq checks the server's certificate and name, or uses no TLS."""
        ca = endpoint.access.ca
        return {"PGSSLMODE": "verify-full", "PGSSLROOTCERT": str(ca)} if ca else {"PGSSLMODE": "disable"}

    def has_database(self, connection: Connection, database: str) -> bool:
        return bool(rows(connection, "SELECT 1 FROM pg_database WHERE datname = %s", database))

    def drop_statement(self, database: str) -> str:
        """Return the statement that drops a database, and ends what is left of its connections (from 13 on)."""
        return f"DROP DATABASE {database} WITH (FORCE)"

    def enter_statements(self, schema: str) -> list[str]:
        return [f"SET search_path TO {schema}"]

    def log_statements(self, connection: Connection) -> None:
        """Make the server log the statements of connections that are opened from now on."""
        execute(connection, "ALTER ROLE ALL SET log_statement = 'all'")

    def logged_statements(self, connection: Connection, log: str) -> list[str]:
        """Stop that, and return the statements in `log`, a piece of the server's log."""
        execute(connection, "ALTER ROLE ALL RESET log_statement")
        return [text.replace("\n\t", "\n") for text in LOGGED_STATEMENT.findall(log)]


def port_of(sockets: Path) -> int:
    """Return the number in the socket's name, which is also the network port; 5432 while there is no socket."""
    numbers = [int(path.suffix[1:]) for path in sockets.glob(".s.PGSQL.*") if path.suffix[1:].isdecimal()]
    return numbers[0] if numbers else PORT


def password_verifier(password: str) -> str:
    """Return the form in which PostgreSQL stores a password (RFC 5803, with the keys of RFC 5802)."""
    salt = secrets.token_bytes(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, ITERATIONS)
    client, server = (hmac.digest(salted, name, "sha256") for name in (b"Client Key", b"Server Key"))
    text = [base64.b64encode(part).decode() for part in (salt, hashlib.sha256(client).digest(), server)]
    return f"SCRAM-SHA-256${ITERATIONS}:{text[0]}${text[1]}:{text[2]}"
