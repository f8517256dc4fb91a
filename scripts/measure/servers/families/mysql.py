"""MySQL 5.5 to 9 and Percona Server: compiled by CMake and Ninja, one multi-threaded process.

Compiled so far: 5.6.21, 5.7.43 and 8.0.43. The options of other releases are those of their own CMake files.
"""

import shutil
from collections.abc import Collection
from pathlib import Path

from scripts.build.sources.installed import Product, program_of
from scripts.build.sources.tree import release_of
from scripts.lib.host.process import output_of, run
from scripts.lib.recipe_models import CompileRecipe
from scripts.measure.servers.families import mysql_options
from scripts.measure.servers.families.family import RELEASE_FILE, ServerUser, bootstrap, statement_file
from scripts.measure.servers.families.innodb import InnoDB, cmake_command, install_server, with_shared_files
from scripts.measure.servers.families.mysql_options import Release
from scripts.measure.servers.families.option_rules import Options

SYSTEM_TABLES = ["mysql_system_tables.sql", "mysql_system_tables_data.sql"]
# Where a server keeps its own libraries and the data of its regular expressions.
PRIVATE = "lib/private"
PRIVATE_FOLDERS = [PRIVATE, "lib64/mysql/private", "lib/mysql/private"]
# CMake's names for a build tree's folders of programs and of shared libraries since 8.0.
PROGRAMS, LIBRARIES = "runtime_output_directory", "library_output_directory"

# Options and the first release that has them.
CMAKE_OPTIONS: list[tuple[Release, str]] = [
    ((5, 5), "WITH_UNIT_TESTS=OFF"),
    ((5, 5), "ENABLE_DTRACE=OFF"),
    ((5, 5), "WITH_EMBEDDED_SERVER=OFF"),
    ((5, 7, 12), "WITH_RAPID=OFF"),
    ((8, 0), "WITH_ROUTER=OFF"),
    ((8, 0), "WITH_NDBCLUSTER_STORAGE_ENGINE=OFF"),
    ((8, 0), "WITH_GROUP_REPLICATION=OFF"),
    ((8, 0), "WITH_PACKAGE_FLAGS=OFF"),
    ((8, 0), "USE_LD_GOLD=OFF"),
    ((8, 0), "USE_LD_LLD=OFF"),
    # The server finds libraries of the build tree beside itself, wherever the tree is copied to.
    ((8, 0), "CMAKE_BUILD_RPATH_USE_ORIGIN=ON"),
    ((8, 0, 13), "WITH_MYSQLX=OFF"),
    ((8, 0, 27), "WITH_AUTHENTICATION_CLIENT_PLUGINS=OFF"),
]
UNTIL_8 = {"ENABLE_DTRACE=OFF", "WITH_EMBEDDED_SERVER=OFF", "WITH_RAPID=OFF"}
BUNDLES_BOOST: Release = (8, 3)
# Sources older than their compiler's default language; before 8.0 they add -O3 -g unless an option prevents it.
STANDARDS: list[tuple[Release, str]] = [((5, 7), "gnu++98"), ((8, 0), "gnu++14")]
OLD_FLAGS = "-fno-strict-aliasing -fno-omit-frame-pointer -DDBUG_OFF"


# The server initialises a data directory itself since 5.7.6.
INITIALISES: Release = (5, 7, 6)
# Before it, CHECKSUM TABLE sums up the addresses of JSON values in memory, not the values (mysql_checksum_table).
CHECKSUMS_JSON: Release = (8, 0)
# Since this release the default is caching_sha2_password; NO_NATIVE_PASSWORD has nothing else.
OTHER_PASSWORDS: Release = (8, 0, 4)
# The first release that makes its redo log anew for another size; earlier ones do not start.
RESIZES_LOG: Release = (5, 6, 8)
OLD_LOG_FILE_SIZE = "5M"


class MySQL(InnoDB):
    """MySQL and what is compiled and started like it."""

    NAME = "mysql"
    SERVER = "bin/mysqld"
    PRODUCT = Product(
        programs=("mysqld",),
        answer=r"\bVer (\d[\d.]*\w*)",
        release_files=tuple(
            (file, r"MYSQL_VERSION_(?:MAJOR|MINOR|PATCH)=(\d+)") for file in ("MYSQL_VERSION", "VERSION")
        ),
    )
    START_COMMANDS = Path(__file__).with_suffix(".sh")
    CLIENT_COMMAND = "mysql --socket={sockets}/server.sock --user=root"
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
    # Estimated from MariaDB's.
    SOURCE_MIB, BUILD_MIB, INSTALL_MIB = 2500, 4000, 150
    EMPTY_MIB, LOGS_MIB, ROW_BYTES = 200, 1024, 250
    BASE_MIB = 400

    def configure_command(self, source: Path, compiler: dict[str, str], recipe: CompileRecipe) -> list[str]:
        """Return the CMake call, the same for every build of a server; it runs in the build tree.

        Raises ValueError if the sources state no release.
        """
        release = source_release(source)
        optimise = "-O2 -g -DNDEBUG" if recipe.debug_information else "-O2 -DNDEBUG"
        old = release < (8,)
        command = cmake_command(source, compiler, f"{optimise} {OLD_FLAGS}" if old else optimise, [])
        if standard := next((name for until, name in STANDARDS if release < until), None):
            command = [f"{part} -std={standard}" if "CXX_FLAGS" in part else part for part in command]
        options = [option for since, option in CMAKE_OPTIONS if release >= since and (old or option not in UNTIL_8)]
        if old:
            options.append("WITH_DEFAULT_COMPILER_OPTIONS=OFF")
        options.append(f"WITH_SSL={'bundled' if (source / 'extra' / 'yassl').is_dir() else 'system'}")
        if (source / "boost").is_dir() and release < BUNDLES_BOOST:
            options.append(f"WITH_BOOST={source / 'boost'}")
        return [*command, *(f"-D{option}" for option in options), *recipe.configure]

    def published_options(self, counters: Path, use: bool) -> list[str]:
        if not use:
            return ["-DFPROFILE_GENERATE=ON", f"-DFPROFILE_DIR={counters}"]
        silent = [f"-DCMAKE_{language}_FLAGS=-Wno-missing-profile" for language in ("C", "CXX")]
        return ["-DFPROFILE_USE=1", f"-DFPROFILE_DIR={counters}", *silent]

    def compile_commands(self, threads: int) -> list[list[str]]:
        return [["ninja", f"-j{threads}", "mysqld"]]

    def install(self, source: Path, build: Path, target: Path, log: Path) -> None:
        """Copy the server, its libraries, messages, character sets and system-table scripts into `target`.

        Raises ValueError naming the build tree if it has no server.
        """
        program = next(
            (path for path in (build / PROGRAMS / "mysqld", build / "sql" / "mysqld") if path.is_file()), None
        )
        if program is None:
            raise ValueError(f"{build}: no mysqld in {PROGRAMS} or sql (log: {log})")
        shares = [path for path in (source / "share", source / "sql" / "share") if (path / "charsets").is_dir()]
        messages = [*build.glob("share/*/errmsg.sys"), *build.glob("sql/share/*/errmsg.sys")]
        install_server(program, target / self.SERVER, shares[0] / "charsets", messages)
        for library in needed_libraries(program, build / LIBRARIES):
            (target / LIBRARIES).mkdir(exist_ok=True)
            shutil.copy2(library, target / LIBRARIES)
        for expressions in source.glob("extra/icu/**/icudt*l"):
            shutil.copytree(expressions, target / PRIVATE / expressions.name)
        release = source_release(source)
        if release < (5, 7):
            for script in SYSTEM_TABLES:
                shutil.copy2(source / "scripts" / script, target / "share")
        (target / RELEASE_FILE).write_text(".".join(map(str, release)) + "\n", encoding="utf-8")

    def layout(self, prefix: Path) -> dict[str, Path]:
        """Return path within an install tree -> where an installed or unpacked server has it.

        `prefix` is the server program or the prefix it was installed under. Raises ValueError if it is neither.
        """
        program, root = program_of(prefix, self.PRODUCT.programs)
        shares = [root / "share", *sorted((root / "share").glob("mysql*"), reverse=True)]
        files = with_shared_files(program, self.SERVER, shares)
        scripts = [files["share/charsets"].parent / script for script in SYSTEM_TABLES]
        files |= {f"share/{script.name}": script for script in scripts if script.is_file()}
        private = [root / folder for folder in PRIVATE_FOLDERS if (root / folder).is_dir()]
        return {**files, PRIVATE: private[0]} if private else files

    def default_options(self, memory_mib: int) -> Options:
        """Return the options every study starts from: durable, no network, no binary log, data cached if it fits."""
        # Releases without the X plugin have no option for it.
        switched_off = {"server_id": 1, "log_bin": False, "loose_mysqlx": False}
        return {**switched_off, **super().default_options(memory_mib), "query_cache_size": 0}

    def options_named(self, options: Options, release: str) -> Options:
        """Return options as a release names them. Raises ValueError naming each option that the release lacks."""
        return mysql_options.named(options, release)

    def options_of_release(self, install: Path, options: Options) -> Options:
        """Return options as the server in `install` names them, after those with which it can be stopped.

        Raises ValueError naming each that it lacks.
        """
        release = read_release(install)
        return {**mysql_options.options_to_be_stopped(release), **mysql_options.named(options, release)}

    def unknown_options(self, release: str, options: Options) -> list[str]:
        """Return one line `name: reason` per option that a release lacks or whose value cannot be read.

        A release that is not stated in full, such as 8.0, gives none.
        """
        return mysql_options.unknown_options(release, options)

    def initialise(
        self, install: Path, data: Path, option_file: Path, options: Options, log: Path, identity: ServerUser
    ) -> None:
        """Make a data directory in the way of the release, with root without a password and an empty database."""
        release = mysql_options.number(read_release(install))
        command = self.base_command(install, data, option_file)
        if release < INITIALISES:
            scripts = [(install / "share" / name).read_text(encoding="utf-8") for name in SYSTEM_TABLES]
            bootstrap([*command, "--bootstrap"], _first_statements(scripts), data, log, identity)
            return
        statements = [f"CREATE DATABASE {self.DATABASE};"]
        if OTHER_PASSWORDS <= release < mysql_options.NO_NATIVE_PASSWORD:
            # A sysbench that is linked with an old client library supports no other authentication.
            statements.append("ALTER USER root@localhost IDENTIFIED WITH mysql_native_password BY '';")
        file = statement_file("\n".join([*statements, ""]), data)
        run([*command, "--initialize-insecure", f"--init-file={file}"], log, cwd=data, identity=identity)
        file.unlink()

    def checksum_statement(self, table: str, types: Collection[str], release: str) -> str | None:
        """Return the statement whose answer holds the server's own checksum of a table; None if it has no sound one."""
        unsound = "json" in types and mysql_options.number(release) < CHECKSUMS_JSON
        return None if unsound else super().checksum_statement(table, types, release)

    def fit_data(self, install: Path, data: Path, options: Options) -> None:
        """Remove a redo log of another size than the options state from a cleanly stopped data directory."""
        release = read_release(install)
        if mysql_options.number(release) >= RESIZES_LOG:
            return
        named = mysql_options.named(options, release)
        size = mysql_options.in_bytes(named.get("innodb_log_file_size", OLD_LOG_FILE_SIZE))
        count = int(named.get("innodb_log_files_in_group", mysql_options.LOG_FILES))
        files = sorted(data.glob("ib_logfile*"))
        if [file.stat().st_size for file in files] != [size] * count:
            for file in files:
                file.unlink()

    def base_command(self, install: Path, data: Path, option_file: Path) -> list[str]:
        """Return the part of the command line that initialising and serving share."""
        # A distribution's server has a folder compiled in here that this machine may not have.
        return [*super().base_command(install, data, option_file), "--secure-file-priv="]


def _first_statements(scripts: list[str]) -> str:
    """Return the statements that make the system tables, without accounts that hold this machine's name."""
    lines = [line for line in "\n".join(scripts).splitlines() if "@current_hostname" not in line]
    head = ["CREATE DATABASE mysql;", "USE mysql;"]
    return "\n".join([*head, *lines, f"CREATE DATABASE {InnoDB.DATABASE};", ""])


def source_release(source: Path) -> Release:
    """Return the release that sources state. Raises ValueError naming the file if they state none."""
    if not (release := release_of(source, MySQL.PRODUCT)):
        raise ValueError(f"{source}/MYSQL_VERSION: missing or without a release, expected the sources of MySQL")
    return mysql_options.number(release)


def needed_libraries(program: Path, folder: Path) -> list[Path]:
    """Return the shared libraries of a folder that a program needs, directly or through each other."""
    needed: list[Path] = []
    waiting = [program]
    while waiting:
        text = output_of(["readelf", "--dynamic", "--wide", waiting.pop()])
        names = [line.partition("[")[2].rstrip("]") for line in text.splitlines() if "(NEEDED)" in line]
        fresh = [folder / name for name in names if (folder / name).is_file() and folder / name not in needed]
        needed += fresh
        waiting += fresh
    return needed


def read_release(install: Path) -> str:
    """Return the release of an installed server. Raises ValueError naming the file if it is missing."""
    file = install / RELEASE_FILE
    if not file.is_file():
        raise ValueError(f"{file}: missing, expected the server's release; remove {install.parent} to make it again")
    return file.read_text(encoding="utf-8").strip()
