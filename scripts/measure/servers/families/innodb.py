"""What MySQL and MariaDB have in common: CMake, one process, a `[mysqld]` option file, root without a password."""

import contextlib
import hashlib
import re
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import ClassVar

import pymysql

from scripts.lib.host.process import run
from scripts.lib.wording import option_value
from scripts.measure.servers.endpoint import CONNECTED_WITHIN_S, Endpoint, private_file
from scripts.measure.servers.families import innodb_server_options
from scripts.measure.servers.families.connection import Connection, execute, rows, value
from scripts.measure.servers.families.family import CLIENT_USER, pool_mib
from scripts.measure.servers.families.innodb_status import InnoDBStatus
from scripts.measure.servers.families.option_rules import Options, by_name
from scripts.measure.servers.families.option_values import OptionKind
from scripts.measure.servers.families.server_supplies import SupplyDemand, asked_by_innodb

NATIVE = "mysql_native_password"
OPTION_READER = Path(__file__).with_name("innodb_options.c")
LOGGED_IN_WITHIN_S = 300
LOGGED = """
    SELECT argument FROM mysql.general_log
    WHERE command_type IN ('Query', 'Execute') AND thread_id <> CONNECTION_ID()
"""


class InnoDB(InnoDBStatus):
    """A server of MySQL's line."""

    DIALECT = "innodb"
    BUILD_PROGRAMS = (("cmake",), ("ninja", "ninja-build"), ("bison",), ("perl",))
    OWNED_OPTIONS: ClassVar[Mapping[str, str]] = by_name(innodb_server_options.OWNED_BY)
    OPTION_KINDS: ClassVar[Mapping[str, OptionKind]] = innodb_server_options.KINDS
    SYSBENCH_DRIVER = "mysql"
    PASSWORD_OPTION = "mysql-password"
    COMPLAINT = re.compile(r"\[ERROR\](?: \[MY-\d+\] \[\w+\])? (.*)")
    OPTION_REFUSED = re.compile(
        r"(?i)unknown (?:variable|option|suffix)|unrecogni[sz]ed option|error while setting value|ambiguous option|"
        r"option '.*' (?:requires|cannot|is ambiguous)|error while parsing|invalid value"
    )
    # Servers change values out of bounds, and MariaDB ignores removed options (seen with 5.5, 5.6, 8.0, 10.11).
    NOT_TAKEN = re.compile(r"\[Warning\] .*?(option '([\w-]+)': .* adjusted to .*|'([\w-]+)' was removed\..*)")
    # Nothing outlives a check, so nothing waits for a disk; small files are quick to make.
    CHECK_OPTIONS: ClassVar[Options] = {
        "innodb_buffer_pool_size": "128M",
        "innodb_log_file_size": "48M",
        "innodb_flush_log_at_trx_commit": 0,
        "innodb_lock_wait_timeout": 50,
    }
    POOL_OPTION = "innodb_buffer_pool_size"
    HUGE_PAGES_OPTION = "large_pages"
    CONNECTION_MIB = 0.5
    TABLE_FILES = 810

    def default_options(self, memory_mib: int) -> Options:
        """Return the options every study starts from: durable, no network, data cached if it fits."""
        return {
            "skip_networking": True,
            "innodb_buffer_pool_size": f"{pool_mib(memory_mib)}M",
            "innodb_log_file_size": "512M",
            "innodb_flush_log_at_trx_commit": 1,
            "innodb_buffer_pool_dump_at_shutdown": False,
            "innodb_buffer_pool_load_at_startup": False,
            "max_connections": 4096,
            "performance_schema": False,
            "query_cache_type": 0,
            "table_open_cache": 4096,
        }

    def bare_name(self, name: str) -> str:
        """Return an option's name in small letters, with `_`, without prefixes such as `loose_` and `skip_`."""
        return innodb_server_options.without_prefixes(super().bare_name(name))

    def supplies(self, options: Options) -> SupplyDemand:
        return asked_by_innodb(options)

    def means(self, name: str, pattern: str) -> bool:
        """Return whether a name is one of a pattern, with or without words such as `loose_`, or the beginning of one.

        The server takes the first letters of a name for the whole.
        """
        bare = self.bare_name(name)
        return innodb_server_options.shortened(bare, pattern) or fnmatchcase(bare, pattern)

    def option_text(self, options: Options) -> str:
        """Return the option file: one `[mysqld]` section; true and false become ON and OFF."""
        texts = {name: option_value(value, "ON", "OFF") for name, value in options.items()}
        lines = [f"{name}={innodb_server_options.file_value(text)}" for name, text in texts.items()]
        return "\n".join(["[mysqld]", *lines, ""])

    def server_command(self, install: Path, data: Path, option_file: Path, sockets: Path) -> list[str]:
        command = self.base_command(install, data, option_file)
        return [*command, f"--socket={sockets / 'server.sock'}", f"--pid-file={sockets / 'server.pid'}"]

    def base_command(self, install: Path, data: Path, option_file: Path) -> list[str]:
        """Return the part of the command line that initialising and serving share."""
        return [
            str(install / self.SERVER),
            f"--defaults-file={option_file}",
            f"--basedir={install}",
            f"--datadir={data}",
            f"--tmpdir={data}",
            f"--lc-messages-dir={install / 'share'}",
            f"--character-sets-dir={install / 'share' / 'charsets'}",
        ]

    def connect(self, sockets: Path) -> pymysql.Connection:
        """Connect as root; raises pymysql.Error while the server is not ready."""
        return pymysql.connect(unix_socket=str(sockets / "server.sock"), user="root", autocommit=True)

    def before_stop(self, connection: Connection, keep_data: bool) -> None:
        """Choose the kind of stop: all purged and flushed if the data is kept, else without flushing pages."""
        execute(connection, f"SET GLOBAL innodb_fast_shutdown={0 if keep_data else 2}")

    def before_slow_stop(self, connection: Connection) -> None:
        """Have the coming stop purge all, merge the change buffer, and write all pages."""
        execute(connection, "SET GLOBAL innodb_fast_shutdown=0")

    @contextlib.contextmanager
    def patient_logins(self, connection: Connection) -> Iterator[None]:
        """Raise connect_timeout while the body runs.

        By default a client has 10 s; of 12 288 that log in at once to three servers on two CPUs, some need longer.
        """
        limit_s = value(connection, "SELECT @@GLOBAL.connect_timeout")
        execute(connection, f"SET GLOBAL connect_timeout={max(limit_s, LOGGED_IN_WITHIN_S)}")
        yield
        execute(connection, f"SET GLOBAL connect_timeout={limit_s}")

    def sysbench_flags(self, sockets: Path) -> list[str]:
        return self.driver_flags(socket=sockets / "server.sock", user="root", db=self.DATABASE)

    def network_options(self, address: str, port: int) -> Options:
        """Return the server options that make it listen on one address; root connects by the socket only."""
        return {"skip_networking": False, "bind_address": address, "port": port, "skip_name_resolve": True}

    def admit_client(self, connection: Connection, password: str) -> None:
        """Make an account for a load generator; releases that take a hash of the password receive nothing else."""
        release = tuple(map(int, self.release_of(connection).split(".")[:2]))
        plugins = rows(connection, "SELECT plugin_name FROM information_schema.plugins WHERE plugin_status = 'ACTIVE'")
        proof = _identification(password, release, native=(NATIVE,) in plugins)
        execute(
            connection,
            f"CREATE USER '{CLIENT_USER}'@'%' IDENTIFIED {proof}",
            f"GRANT ALL PRIVILEGES ON {self.DATABASE}.* TO '{CLIENT_USER}'@'%'",
        )

    LOCALHOST_IS_SOCKET = True
    CIPHER_QUERY = "SHOW SESSION STATUS LIKE 'Ssl_cipher'"

    def reach(self, endpoint: Endpoint) -> pymysql.Connection:
        login, context = endpoint.access.login, endpoint.tls()
        return pymysql.connect(
            host=endpoint.address,
            port=endpoint.port,
            user=login.user,
            password=login.password,
            database=endpoint.database,
            autocommit=True,
            connect_timeout=CONNECTED_WITHIN_S,
            ssl=context,
            ssl_disabled=context is None,
        )

    def release_of(self, connection: Connection) -> str:
        return str(re.findall(r"^[\d.]*", value(connection, "SELECT VERSION()"))[0])

    def reached_environment(self, endpoint: Endpoint, folder: Path) -> dict[str, str]:
        """Return the environment by which the client library checks the server's certificate and name, or uses no TLS.

        It reads the group `sysbench` of an option file in a private folder, which OPTION_READER makes it do; a compiler
        is needed for that. MariaDB's library has ssl-verify-server-cert, MySQL's ssl-mode; each leaves the other's out.
        """
        if not (ca := endpoint.access.ca):
            return {}
        reader = folder / "options.so"
        if not reader.exists():
            run(["cc", "-shared", "-fPIC", "-O1", "-o", reader, OPTION_READER])
        lines = ["[sysbench]", f"ssl-ca={ca}", "ssl-verify-server-cert=1", "ssl-mode=VERIFY_IDENTITY", ""]
        private_file(folder / "my.cnf", "\n".join(lines))
        return {"LD_PRELOAD": str(reader), **dict.fromkeys(("MYSQL_HOME", "MARIADB_HOME"), str(folder))}

    def has_database(self, connection: Connection, database: str) -> bool:
        return bool(rows(connection, "SELECT 1 FROM information_schema.schemata WHERE schema_name = %s", database))

    def enter_statements(self, schema: str) -> list[str]:
        return [f"USE {schema}"]

    def benchmark_statements(self) -> list[str]:
        return self.enter_statements(self.DATABASE)

    def checksum_statement(self, table: str, types: Collection[str], release: str) -> str | None:
        return f"CHECKSUM TABLE {table}"

    def log_statements(self, connection: Connection) -> None:
        """Begin a general log, kept in its table."""
        execute(
            connection,
            "SET GLOBAL log_output = 'TABLE'",
            "TRUNCATE TABLE mysql.general_log",
            "SET GLOBAL general_log = ON",
        )

    def logged_statements(self, connection: Connection, log: str) -> list[str]:
        """End the general log, and return the statements of other connections since it began."""
        execute(connection, "SET GLOBAL general_log = OFF")
        return [_decoded(argument) for (argument,) in rows(connection, LOGGED)]


def cmake_command(source: Path, compiler: dict[str, str], optimise: str, rest: list[str]) -> list[str]:
    """Return a CMake call for the build tree it runs in; `optimise` are the compiler flags, `rest` is its end."""
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


def install_server(program: Path, server: Path, charsets: Path, messages: Iterable[Path]) -> None:
    """Copy a server program to `server`, in the folder bin of an install tree, and into share what it reads."""
    server.parent.mkdir(parents=True)
    shutil.copy2(program, server)
    share = server.parent.parent / "share"
    shutil.copytree(charsets, share / "charsets")
    for file in messages:
        (share / file.parent.name).mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, share / file.parent.name)


def with_shared_files(program: Path, server_file: str, shares: list[Path]) -> dict[str, Path]:
    """Return path within an install tree -> where a ready-made server has it: the program and its shared files.

    `shares` are the folders that may hold its messages and character sets.
    Raises ValueError naming the program and what was looked for if no folder holds both.
    """
    for share in shares:
        messages = sorted(file.parent for file in share.glob("*/errmsg.sys"))
        if messages and (share / "charsets").exists():
            return {server_file: program, **{f"share/{path.name}": path for path in [share / "charsets", *messages]}}
    raise ValueError(
        f"{program}: none of {', '.join(map(str, shares)) or '(no folder)'} holds its charsets, */errmsg.sys"
    )


def password_hash(password: str) -> str:
    """Return the hash that mysql_native_password stores: SHA-1 twice (manual of 8.0, chapter 6.4.1.1)."""
    return "*" + hashlib.sha1(hashlib.sha1(password.encode()).digest()).hexdigest().upper()


def _identification(password: str, release: tuple[int, ...], native: bool) -> str:
    """Return the text behind IDENTIFIED; releases before 5.7 ignore a plugin's hash (tried with 5.6.14)."""
    if not native:
        return f"BY '{password}'"
    hashed = password_hash(password)
    return f"BY PASSWORD '{hashed}'" if release < (5, 7) else f"WITH {NATIVE} AS '{hashed}'"


def _decoded(text: str | bytes) -> str:
    return text.decode(errors="replace") if isinstance(text, bytes) else text
