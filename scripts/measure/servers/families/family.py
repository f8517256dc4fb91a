"""The interface of a database product: everything that the workflow does differently from product to product.

A new family is a subclass of `Family` in a module of this package, its entry in `FAMILIES` of the package, and entries
in the catalog. Nothing else in the workflow asks which product it works with.
"""

import contextlib
import copy
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from scripts.build.sources.installed import Product
from scripts.lib.host.process import OtherUser, run
from scripts.lib.recipe_models import CompileRecipe
from scripts.measure.servers.endpoint import Endpoint
from scripts.measure.servers.families.connection import Connection
from scripts.measure.servers.families.option_rules import OptionRules, Options, OptionValue
from scripts.measure.servers.families.server_supplies import SupplyDemand

# The release of an installed server, in a file of its install tree.
RELEASE_FILE = "release.txt"
# Popen's arguments `user`, `group` and `extra_groups`; empty for the user who runs the workflow.
ServerUser = OtherUser
# The account of a load generator on another host.
CLIENT_USER = "pgobench"
# Spellings of true and false that option files accept, besides YAML's own.
ON, OFF = frozenset({"on", "1", "yes", "true"}), frozenset({"off", "0", "no", "false"})


@dataclass(frozen=True)
class ServerSetting:
    """A setting of a running server: its text, and the unit that a bare number in it has."""

    text: str
    unit: str | None = None


class Family(OptionRules, ABC):
    """A database product, in all its releases.

    Paths are absolute. `options` are server options as a study names them, laid over `default_options`. `connection`
    is an open connection of the product's Python driver. Methods are documented here; a
    subclass says what is special to it.
    """

    # Schema or database that holds the tables of every workload.
    DATABASE = "sbtest"

    # The name in the catalog's `family`.
    NAME: ClassVar[str]
    # The server program within the install tree.
    SERVER: ClassVar[str]
    # How a source tree and a server program are recognised, and how they state their release.
    PRODUCT: ClassVar[Product]
    # One bash file with the functions `initialise` and `start` of a package; None: no package can be made.
    START_COMMANDS: ClassVar[Path | None] = None
    # A client of the product as a README names it; {sockets} is the folder of the socket.
    CLIENT_COMMAND: ClassVar[str] = ""

    # Programs that compiling needs besides a compiler, each with its alternative names.
    BUILD_PROGRAMS: ClassVar[tuple[tuple[str, ...], ...]] = ()
    # Shell patterns of object files, relative to the build tree, that belong to the server.
    PROFILE_SCOPE: ClassVar[str] = "*"
    # Matches a flag that no recipe gives and that the product's own build system never gives to all its units or links.
    FOREIGN_FLAGS: ClassVar[re.Pattern[str]] = re.compile(
        r"-(?:O(?!2$).*|g(?!nu).*|m(?:arch|tune|cpu|fpmath|avx|sse|fma|no-)\S*|pg|pipe|flto.*|fprofile.*|fsanitize.*|fno-plt"
        r"|fplt|ffast-math|funsafe-\S+|funroll-\S+|ftree-\S+|fno-inline\S*|fstack-protector-\S+|fcf-protection\S*"
        r"|fstack-clash-protection|f(?:debug|file|macro|ffile)-prefix-map=\S+|specs.*"
        r"|Wl,-O\d|Wl,--sort-common|Wl,--hash-style=\S+|Wl,-z,pack-relative-relocs|Wl,--disable-new-dtags)"
    )

    # Server options that shape a data directory, so that they belong to a dataset.
    DATA_OPTIONS: ClassVar[frozenset[str]] = frozenset()
    # The driver of sysbench, and the name of its option that holds the password of a load generator elsewhere.
    SYSBENCH_DRIVER: ClassVar[str]
    PASSWORD_OPTION: ClassVar[str]
    # Whether the server has one process per connection, instead of one thread.
    FORKS: ClassVar[bool] = False
    # Whether the client library fails, instead of waiting, when the socket's queue of connections is full.
    CONNECTING_FAILS: ClassVar[bool] = False
    # The signal that asks the server to stop.
    STOP_SIGNAL: ClassVar[str] = "SIGTERM"
    # Matches a line of the server's log that states why the server ends; a group holds the reason.
    COMPLAINT: ClassVar[re.Pattern[str]]
    # Matches such a reason that names an option the server does not know, or whose value it refuses.
    OPTION_REFUSED: ClassVar[re.Pattern[str]] = re.compile(r"(?!)")
    # Matches a line of the log about an option whose value was replaced: the first group is the text, another the name.
    NOT_TAKEN: ClassVar[re.Pattern[str]] = re.compile(r"(?!)")
    # Patterns of paths in a data directory and the kind of such files, tried in order. A `table` needs a group of that
    # name, or a group `stem` that is a key of `table_files`.
    FILE_KINDS: ClassVar[tuple[tuple[re.Pattern[str], str], ...]] = ()

    # Options under which the server counts waits.
    WAIT_OPTIONS: ClassVar[Options] = {}
    # Whether `read_waits` returns the waits of one moment (samples), instead of totals since the server's start.
    WAITS_SAMPLED: ClassVar[bool] = False
    # Seconds after which a session's next transaction reports what it did; 0: counters are always up to date.
    REPORTED_WITHIN_S: ClassVar[float] = 0.0
    # Events in which a connection waits for its client.
    CLIENT_WAITS: ClassVar[tuple[str, ...]] = ()

    # The folder of workloads/check with the statements of the family, and the options under which they are sent.
    DIALECT: ClassVar[str]
    CHECK_OPTIONS: ClassVar[Options] = {}

    # Estimates of the plan. MiB: an unpacked source with its archive; a build tree; an install tree; an empty data
    # directory; the longest logs of a data directory.
    SOURCE_MIB: ClassVar[float]
    BUILD_MIB: ClassVar[float]
    INSTALL_MIB: ClassVar[float]
    EMPTY_MIB: ClassVar[float]
    LOGS_MIB: ClassVar[float]
    # Bytes of a sysbench row with its index.
    ROW_BYTES: ClassVar[float]
    # The option that sizes the buffer pool, and the bytes of that option's bare unit.
    POOL_OPTION: ClassVar[str]
    POOL_UNIT_BYTES: ClassVar[int] = 1
    # The option that asks for huge pages.
    HUGE_PAGES_OPTION: ClassVar[str]
    # MiB of a server without its pool, and of each connection.
    BASE_MIB: ClassVar[float]
    CONNECTION_MIB: ClassVar[float]
    # Open files that the server keeps for tables before it grants connections; 0: connections come first.
    TABLE_FILES: ClassVar[int] = 0

    # Building

    @abstractmethod
    def configure_command(self, source: Path, compiler: dict[str, str], recipe: CompileRecipe) -> list[str]:
        """Return the configure command, the same for every build of a server; it runs in the build tree."""

    def is_foreign(self, flag: str) -> bool:
        """Return whether a flag that all units or all links have, and that no recipe gave, came from somewhere else."""
        return bool(self.FOREIGN_FLAGS.fullmatch(flag))

    def published_options(self, counters: Path, use: bool) -> list[str]:
        """Return the configure options of the published recipe: write counters, or `use` those in a folder.

        The default is none: the configure step has no options for profiles, so the compiler is given flags.
        """
        return []

    @abstractmethod
    def compile_commands(self, threads: int) -> list[list[str]]:
        """Return the commands that compile the server in the build tree with at most `threads` jobs."""

    def library_commands(self, names: Collection[str]) -> list[list[str]]:
        """Return the commands that compile some of `ADDED_LIBRARIES` in the build tree, after the server."""
        return []

    @abstractmethod
    def install(self, source: Path, build: Path, target: Path, log: Path) -> None:
        """Install the compiled server and the files that it needs to run into `target`."""

    @abstractmethod
    def layout(self, prefix: Path) -> dict[str, Path]:
        """Return path within an install tree -> where a ready-made server has that file or folder.

        `prefix` is the server program or the prefix it was installed under. Raises ValueError if it is neither.
        """

    # Options

    @abstractmethod
    def default_options(self, memory_mib: int) -> Options:
        """Return the options every study starts from, on a machine with so much memory."""

    @abstractmethod
    def supplies(self, options: Options) -> SupplyDemand:
        """Return what a server with these options asks of supplies that a whole machine shares."""

    def options_named(self, options: Options, release: str) -> Options:
        """Return options under the names that a release such as 10.11.18 has; the default: as they are written."""
        return options

    def options_of_release(self, install: Path, options: Options) -> Options:
        """Return options under the names that the server in `install` has; the default: as they are written."""
        return options

    def unknown_options(self, release: str, options: Options) -> list[str]:
        """Return one line `name: reason` per option that a release is known to lack.

        The default is none: no list of options by release is kept, and the server refuses unknown options itself.
        """
        return []

    @abstractmethod
    def option_text(self, options: Options) -> str:
        """Return the content of the option file."""

    # Data directory and process

    @abstractmethod
    def initialise(
        self, install: Path, data: Path, option_file: Path, options: Options, log: Path, identity: ServerUser
    ) -> None:
        """Make a data directory with an empty database `DATABASE`. Raises CommandFailed with the last lines."""

    def fit_data(self, install: Path, data: Path, options: Options) -> None:
        """Change a cleanly stopped data directory so that the server starts on it; the default: leave it as it is."""

    @abstractmethod
    def server_command(self, install: Path, data: Path, option_file: Path, sockets: Path) -> list[str]:
        """Return the server's command line; the server listens on a socket in `sockets`."""

    def clean_up_command(self, pid: int, data: Path) -> list[str]:
        """Return the command that removes what the server leaves outside of its folders when it is killed.

        `pid` is the process of the running server; the list is empty when it leaves nothing, or has ended.
        """
        return []

    def clean_up_unready_command(self, data: Path, option_file: Path) -> list[str]:
        """Return the same for a server killed before it is ready; `option_file` was written before its start."""
        return []

    @abstractmethod
    def connect(self, sockets: Path) -> Connection:
        """Connect to the server; raises the driver's errors while the server is not ready."""

    def before_stop(self, connection: Connection, keep_data: bool) -> None:
        """Prepare the server's stop; `keep_data`: the data directory is used again. The default: nothing."""

    def before_slow_stop(self, connection: Connection) -> None:
        """Have the coming stop finish all work that the server put off. The default: nothing, a stop always does."""

    # Load generators

    @contextlib.contextmanager
    def patient_logins(self, connection: Connection) -> Iterator[None]:
        """Let a client take minutes to log in while the body runs. The default: the server's own limit stays."""
        yield

    @abstractmethod
    def sysbench_flags(self, sockets: Path) -> list[str]:
        """Return sysbench's connection options for the socket in `sockets`."""

    @abstractmethod
    def network_options(self, address: str, port: int) -> Options:
        """Return the server options that make it listen on one address."""

    @abstractmethod
    def admit_client(self, connection: Connection, password: str) -> None:
        """Make an account for a load generator on another host."""

    def network_sysbench_flags(self, address: str, port: int) -> list[str]:
        """Return sysbench's connection options for another host, without the password."""
        return self.driver_flags(host=address, port=port, user=CLIENT_USER, db=self.DATABASE)

    def driver_flags(self, **options: str | int | Path | None) -> list[str]:
        """Return sysbench's options for its driver, each by its name without the driver's."""
        driver = self.SYSBENCH_DRIVER
        return [f"--db-driver={driver}", *(f"--{driver}-{name}={value}" for name, value in options.items())]

    # Servers that already run

    def in_database(self, database: str) -> "Family":
        """Return the family with another database than `DATABASE` for the tables of workloads."""
        family = copy.copy(self)
        family.DATABASE = database
        return family

    @abstractmethod
    def reach(self, endpoint: Endpoint) -> Connection:
        """Connect to a server over the network, in the endpoint's database; raises the driver's errors."""

    @abstractmethod
    def release_of(self, connection: Connection) -> str:
        """Return the release that a server states, such as 10.11.18."""

    def reached_flags(self, endpoint: Endpoint) -> list[str]:
        """Return sysbench's connection options for a server that already runs, without user and password."""
        return self.driver_flags(host=endpoint.address, port=endpoint.port, db=endpoint.database)

    @abstractmethod
    def reached_environment(self, endpoint: Endpoint, folder: Path) -> dict[str, str]:
        """Return the environment by which sysbench's driver uses TLS; its files are written to a private folder."""

    def login_text(self, endpoint: Endpoint) -> str:
        """Return the content of sysbench's --config-file: user and password."""
        login, driver = endpoint.access.login, self.SYSBENCH_DRIVER
        return f"{driver}-user={login.user}\n{self.PASSWORD_OPTION}={login.password}\n"

    # Whether the client library connects to a local socket when the host is `localhost`.
    LOCALHOST_IS_SOCKET: ClassVar[bool] = False
    # A query without rows, or with an empty cipher, for a connection without TLS.
    CIPHER_QUERY: ClassVar[str]

    @abstractmethod
    def has_database(self, connection: Connection, database: str) -> bool:
        """Return whether a server has a database of this name."""

    def drop_statement(self, database: str) -> str:
        """Return the statement that drops a database."""
        return f"DROP DATABASE {database}"

    # Own statements

    def enter_statements(self, schema: str) -> list[str]:
        """Return the statements after which a new connection is in a schema; the default is none."""
        return []

    def benchmark_statements(self) -> list[str]:
        """Return the statements after which a new connection is in `DATABASE`; none if `connect` enters it."""
        return []

    def checksum_statement(self, table: str, types: Collection[str], release: str) -> str | None:
        """Return the statement whose answer holds the server's own checksum of a table; None without such a one.

        `types` are those of its columns, in small letters.
        """
        return None

    @abstractmethod
    def log_statements(self, connection: Connection) -> None:
        """Make the server log the statements of other connections."""

    @abstractmethod
    def logged_statements(self, connection: Connection, log: str) -> list[str]:
        """Stop that, and return the logged statements; `log` is the text that the server's log gained meanwhile."""

    # Status

    @abstractmethod
    def variables(self, connection: Connection) -> dict[str, str]:
        """Return every setting with the server's value."""

    def settings(self, connection: Connection) -> dict[str, ServerSetting]:
        """Return every setting in the form that `option_taken` compares; the default: that of `variables`."""
        return {name: ServerSetting(text) for name, text in self.variables(connection).items()}

    @abstractmethod
    def option_taken(self, name: str, value: OptionValue, settings: Mapping[str, ServerSetting]) -> bool | None:
        """Return whether the server has the value of an option; None if there is nothing to compare it with."""

    @abstractmethod
    def counters(self, connection: Connection) -> dict[str, float]:
        """Return the counters that are compared at both edges of a window; those that the release lacks are missing."""

    def disk_counts(self, counters: Mapping[str, float]) -> dict[str, float]:
        """Return what a server asked of a disk up to a moment, from its `counters` then.

        Only differences mean something. The names are fsyncs, pool_misses (pages read since they were not in the pool),
        written_bytes and synced_commits (commits that waited for a sync of the binary log, which may not be among
        fsyncs); what the release does not count is missing. The default: nothing is counted.
        """
        return {}

    def pool(self, connection: Connection) -> tuple[int | None, int | None]:
        """Return (bytes of the buffer pool, bytes of it in use), each None if the server does not report it."""
        return None, None

    def read_bytes(self, connection: Connection) -> int | None:
        """Return the bytes of the database read into the pool so far; None if the server does not report them at once.

        Only differences mean something.
        """
        return None

    def reading_statements(self, connection: Connection) -> list[str]:
        """Return the statements that read all tables and indexes of `DATABASE` into the pool; the default is none."""
        return []

    def engine_report(self, connection: Connection) -> str:
        """Return the storage engine's own report; the default: an empty text, there is none."""
        return ""

    def table_files(self, connection: Connection) -> dict[str, str]:
        """Return path below the data directory -> table; the default: empty, files are named like their tables."""
        return {}

    def read_waits(self, connection: Connection) -> dict[tuple[str, str], tuple[float, float]]:
        """Return (connections or background, event) -> count and seconds of waits; the default: none are known."""
        return {}


def bootstrap(command: list[str], statements: str, data: Path, log: Path, identity: ServerUser) -> None:
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


def pool_mib(memory_mib: int) -> int:
    """Return the size of a buffer pool that every study starts from: a fourth of memory, from 128 to 4096 MiB."""
    return min(4096, max(128, memory_mib // 4))
