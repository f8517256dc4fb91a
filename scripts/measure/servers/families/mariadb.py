"""MariaDB: compiled by CMake and Ninja, one multi-threaded process."""

import re
import shutil
from pathlib import Path

from scripts.build.sources.installed import Product, program_of
from scripts.lib.recipe_models import CompileRecipe
from scripts.measure.servers.families.family import ServerUser, bootstrap
from scripts.measure.servers.families.innodb import InnoDB, cmake_command, install_server, with_shared_files
from scripts.measure.servers.families.option_rules import Options, plain_names

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
# Since 10.6.
SYS_SCHEMA = SYSTEM_TABLES[-1]
# Options of InnoDB that do nothing from a release on: 10.11 says so of those of 10.6 in its log, 11.4.5 of the last.
DOING_NOTHING_SINCE = {
    (10, 6): (
        *("adaptive_max_sleep_delay", "background_scrub_data_check_interval", "background_scrub_data_compressed"),
        *("background_scrub_data_interval", "background_scrub_data_uncompressed", "buffer_pool_instances"),
        *("commit_concurrency", "concurrency_tickets", "file_format", "large_prefix", "lock_schedule_algorithm"),
        *("log_checksums", "log_compressed_pages", "log_files_in_group", "log_optimize_ddl", "page_cleaners"),
        *("replication_delay", "rollback_segments", "scrub_log", "scrub_log_speed", "stats_sample_pages"),
        *("sync_array_size", "thread_concurrency", "thread_sleep_delay", "undo_logs"),
    ),
    (11, 0): ("change_buffering",),  # MDEV-29694
}


class MariaDB(InnoDB):
    """MariaDB 10 and 11."""

    NAME = "mariadb"
    SERVER = "bin/mariadbd"
    PRODUCT = Product(
        programs=("mariadbd", "mysqld"),
        answer=r"\bVer (\d[\d.]*\w*)-MariaDB",
        release_files=(("VERSION", r"MYSQL_VERSION_(?:MAJOR|MINOR|PATCH)=(\d+)"),),
    )
    START_COMMANDS = Path(__file__).with_suffix(".sh")
    CLIENT_COMMAND = "mariadb --socket={sockets}/server.sock --user=root"
    DATA_OPTIONS = frozenset(
        {"innodb_page_size", "innodb_undo_tablespaces", "innodb_checksum_algorithm", "lower_case_table_names"}
    )
    # Measured with 10.11: 400 000 rows made 197 MiB.
    SOURCE_MIB, BUILD_MIB, INSTALL_MIB = 750, 1500, 60
    EMPTY_MIB, LOGS_MIB, ROW_BYTES = 100, 512, 250
    BASE_MIB = 150

    def configure_command(self, source: Path, compiler: dict[str, str], recipe: CompileRecipe) -> list[str]:
        optimise = "-O2 -g -DNDEBUG" if recipe.debug_information else "-O2 -DNDEBUG"
        left_out = [f"-DPLUGIN_{plugin}=NO" for plugin in LEFT_OUT]
        chosen = [f"-D{option}" for option in CMAKE_OPTIONS]
        return cmake_command(source, compiler, optimise, [*left_out, *chosen, *recipe.configure])

    def compile_commands(self, threads: int) -> list[list[str]]:
        return [["ninja", f"-j{threads}", "mariadbd"]]

    def install(self, source: Path, build: Path, target: Path, log: Path) -> None:
        """Copy the server, its messages, character sets and system-table scripts into `target`."""
        shared = build / "sql" / "share"
        charsets = source / "sql" / "share" / "charsets"
        install_server(build / "sql" / "mariadbd", target / self.SERVER, charsets, shared.glob("*/errmsg.sys"))
        for name, script in system_tables(build / "scripts").items():
            shutil.copy2(script, target / "share" / name)

    def layout(self, prefix: Path) -> dict[str, Path]:
        """Return path within an install tree -> where an installed server has it.

        `prefix` is the server program or the prefix it was installed under. Raises ValueError if it is neither.
        """
        program, root = program_of(prefix, self.PRODUCT.programs)
        shares = [root / "share" / name for name in ("mysql", "mariadb", ".")]
        files = with_shared_files(program, self.SERVER, shares)
        scripts = system_tables(files["share/charsets"].parent)
        return {**files, **{f"share/{name}": script for name, script in scripts.items()}}

    def unknown_options(self, release: str, options: Options) -> list[str]:
        """Return one line `name: reason` per option that the server would accept and ignore.

        A release that is not stated with two numbers gives none. Source: the server's own warnings.
        """
        if not (numbers := re.match(r"(\d+)\.(\d+)", release)):
            return []
        gone = {
            f"innodb_{name}": f"{first[0]}.{first[1]}"
            for first, names in DOING_NOTHING_SINCE.items()
            if tuple(map(int, numbers.groups())) >= first
            for name in names
        }
        return [
            f"{name}: does nothing in MariaDB {release} (value {value!r}); it went with {gone[name]}. "
            f"`loose_{name}` is for servers that have it"
            for name, value in plain_names(options).items()
            if name in gone
        ]

    def initialise(
        self, install: Path, data: Path, option_file: Path, options: Options, log: Path, identity: ServerUser
    ) -> None:
        """Make a data directory: the system tables, fed to the server's bootstrap mode; root without a password."""
        scripts = [file.read_text(encoding="utf-8") for file in system_tables(install / "share").values()]
        head = "CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n"
        statements = head + "\n".join(scripts) + f"\nCREATE DATABASE {self.DATABASE};\n"
        command = [*self.base_command(install, data, option_file), "--bootstrap", "--silent-startup"]
        bootstrap(command, statements, data, log, identity)


def system_tables(folder: Path) -> dict[str, Path]:
    """Return name within an install tree -> script in `folder` that makes system tables, in the order they are run.

    Since 11.0 their names begin with mariadb. Raises ValueError naming folder and scripts that are not there.
    """
    places = {name: (folder / name, folder / name.replace("mysql_", "mariadb_")) for name in SYSTEM_TABLES}
    present = {name: [file for file in files if file.exists()] for name, files in places.items()}
    if lost := [name for name, files in present.items() if not files and name != SYS_SCHEMA]:
        raise ValueError(f"{folder}: has no {', '.join(lost)}")
    return {name: files[0] for name, files in present.items() if files}
