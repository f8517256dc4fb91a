"""What the MySQL family composes for each release: configuring, initialising, options, and what is installed."""

import subprocess
from pathlib import Path

import pytest

from scripts.measure.servers.families import family, mysql, mysql_options
from scripts.measure.servers.families.family import RELEASE_FILE
from scripts.measure.servers.families.mysql import SYSTEM_TABLES
from tests.made.declared import compiled

MYSQL = mysql.MySQL()
COMPILER = {"cc": "/w/cc", "cxx": "/w/c++", "ar": "/b/gcc-ar", "ranlib": "/b/gcc-ranlib", "nm": "/b/gcc-nm"}
RELEASES = ["5.5.62", "5.6.51", "5.7.44", "8.0.11", "8.0.36", "8.4.3", "9.1.0"]
HOSTNAME_LINE = "REPLACE INTO tmp_user SELECT @current_hostname, 'root';"
PROJECT = """cmake_minimum_required(VERSION 3.16)
project(small C)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/runtime_output_directory)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/library_output_directory)
add_library(inner SHARED inner.c)
add_library(outer SHARED outer.c)
target_link_libraries(outer PRIVATE inner)
add_executable(mysqld mysqld.c)
target_link_libraries(mysqld PRIVATE outer)
"""


def sources(folder: Path, release: str) -> Path:
    """Make a source tree that names its release, with what `install` copies from it."""
    major, minor, patch = release.split(".")
    name = "MYSQL_VERSION" if release.startswith(("8", "9")) else "VERSION"
    text = f"MYSQL_VERSION_MAJOR={major}\nMYSQL_VERSION_MINOR={minor}\nMYSQL_VERSION_PATCH={patch}\n"
    share = folder / "share" if name == "MYSQL_VERSION" else folder / "sql" / "share"
    (share / "charsets").mkdir(parents=True)
    (folder / name).write_text(text + "MYSQL_VERSION_EXTRA=\n")
    (share / "charsets" / "Index.xml").write_text("<charsets/>")
    (folder / "scripts").mkdir()
    for script in SYSTEM_TABLES:
        (folder / "scripts" / script).write_text(f"-- {script}\n{HOSTNAME_LINE}\n")
    return folder


def installed(folder: Path, release: str) -> Path:
    """Make the part of an install tree that composing commands reads."""
    (folder / "share").mkdir(parents=True)
    (folder / RELEASE_FILE).write_text(f"{release}\n")
    for script in SYSTEM_TABLES:
        (folder / "share" / script).write_text(f"-- {script}\n{HOSTNAME_LINE}\n")
    return folder


def configured(folder: Path, release: str, **recipe) -> list[str]:
    return MYSQL.configure_command(sources(folder, release), COMPILER, compiled(**recipe))


@pytest.mark.parametrize("release", RELEASES)
def test_every_release_is_configured_with_the_same_flags_and_without_tests(tmp_path, release):
    command = configured(tmp_path, release)
    assert command[:7] == ["cmake", "-G", "Ninja", "-S", str(tmp_path), "-B", "."]
    assert "-DWITH_UNIT_TESTS=OFF" in command
    flags = [part.partition("=")[2] for part in command if "FLAGS_RELWITHDEBINFO" in part]
    assert len(flags) == 2
    assert all(text.startswith("-O2 -DNDEBUG") and " -g" not in text for text in flags)
    assert not [part for part in command if "FPROFILE" in part or "WITH_LTO" in part]


@pytest.mark.parametrize(
    ("release", "given", "absent"),
    [
        ("5.5.62", ["WITH_DEFAULT_COMPILER_OPTIONS=OFF", "WITH_EMBEDDED_SERVER=OFF"], ["WITH_RAPID=OFF"]),
        ("5.7.44", ["WITH_RAPID=OFF", "WITH_DEFAULT_COMPILER_OPTIONS=OFF"], ["WITH_MYSQLX=OFF", "WITH_ROUTER=OFF"]),
        ("8.0.11", ["WITH_ROUTER=OFF", "WITH_PACKAGE_FLAGS=OFF"], ["WITH_MYSQLX=OFF", "WITH_RAPID=OFF"]),
        ("8.0.36", ["WITH_MYSQLX=OFF", "WITH_AUTHENTICATION_CLIENT_PLUGINS=OFF"], ["ENABLE_DTRACE=OFF"]),
        ("8.4.3", ["WITH_MYSQLX=OFF", "USE_LD_LLD=OFF"], ["WITH_DEFAULT_COMPILER_OPTIONS=OFF"]),
        ("9.1.0", ["WITH_MYSQLX=OFF", "WITH_GROUP_REPLICATION=OFF"], ["WITH_DEFAULT_COMPILER_OPTIONS=OFF"]),
    ],
)
def test_a_release_gets_the_options_it_has(tmp_path, release, given, absent):
    command = configured(tmp_path, release)
    assert [option for option in given if f"-D{option}" not in command] == []
    assert [option for option in absent if f"-D{option}" in command] == []


@pytest.mark.parametrize(("release", "wanted"), [("5.7.44", True), ("8.0.36", True), ("8.4.3", False)])
def test_boost_inside_the_sources_is_named_to_the_releases_that_ask_for_it(tmp_path, release, wanted):
    assert not [part for part in configured(tmp_path / "without", release) if "BOOST" in part]
    (tmp_path / "with" / "boost").mkdir(parents=True)
    command = configured(tmp_path / "with", release)
    assert (f"-DWITH_BOOST={tmp_path / 'with' / 'boost'}" in command) is wanted


def test_old_sources_are_compiled_in_their_language(tmp_path):
    standards = {
        release: [part.split("-std=")[1] for part in configured(tmp_path / release, release) if "-std=" in part]
        for release in ("5.6.51", "5.7.44", "8.0.36")
    }
    assert standards == {"5.6.51": ["gnu++98"], "5.7.44": ["gnu++14"], "8.0.36": []}


def test_own_configure_arguments_come_last_so_that_they_win(tmp_path):
    assert configured(tmp_path, "8.0.36", configure=["-DWITH_SSL=/opt/ssl"])[-1] == "-DWITH_SSL=/opt/ssl"


def test_sources_without_a_release_are_refused(tmp_path):
    with pytest.raises(ValueError, match="MYSQL_VERSION: missing or without a release"):
        MYSQL.configure_command(tmp_path, COMPILER, compiled())


@pytest.mark.parametrize("release", RELEASES)
def test_default_options_are_those_the_release_knows(tmp_path, release):
    options = MYSQL.options_of_release(installed(tmp_path, release), MYSQL.default_options(4096))
    new = release.startswith(("8", "9"))
    assert options["performance_schema"] is False
    assert options["skip_networking"] is True
    assert ("query_cache_type" in options) is not new
    assert (options.get("skip_log_bin"), options.get("loose_mysqlx")) == ((True, False) if new else (None, None))
    assert "log_bin" not in options
    assert ("innodb_buffer_pool_load_at_startup" in options) is (release != "5.5.62")
    redo = {"innodb_redo_log_capacity": 2**30} if release > "8.0.30" else {"innodb_log_file_size": "512M"}
    assert {name: value for name, value in options.items() if "_log_file" in name or "redo" in name} == redo
    assert ("mysql_native_password" in options) is (release == "8.4.3")


@pytest.mark.parametrize(
    ("release", "written", "meant"),
    [
        ("5.5.62", {"tx_isolation": "READ-COMMITTED"}, {"transaction_isolation": "READ-COMMITTED"}),
        ("9.1.0", {"tx_isolation": "READ-COMMITTED"}, {"transaction_isolation": "READ-COMMITTED"}),
        ("5.5.34", {"innodb_file_per_table": True}, {"innodb_file_per_table": 1}),
        ("5.5.34", {"innodb_file_per_table": "OFF"}, {"innodb_file_per_table": 0}),
        ("5.6.14", {"innodb_file_per_table": True}, {"innodb_file_per_table": True}),
        ("5.7.44", {"expire_logs_days": 2}, {"expire_logs_days": 2}),
        ("8.0.36", {"expire_logs_days": 2}, {"expire_logs_days": 2}),
        ("8.2.0", {"expire_logs_days": 2}, {"binlog_expire_logs_seconds": 172800}),
        ("8.2.0", {"binlog_expire_logs_seconds": 5, "expire_logs_days": 2}, {"binlog_expire_logs_seconds": 5}),
        ("8.0.36", {"default_authentication_plugin": "x"}, {"default_authentication_plugin": "x"}),
        ("9.1.0", {"default_authentication_plugin": "x"}, {"authentication_policy": "x,,"}),
        ("5.7.44", {"log_bin": True}, {"log_bin": "binlog"}),
        ("8.0.36", {"log_bin": "ON"}, {"log_bin": "binlog"}),
        ("8.0.36", {"log_bin": "mine"}, {"log_bin": "mine"}),
        ("8.0.36", {"innodb-page-size": 4096}, {"innodb_page_size": 4096}),
        ("8.0.36", {"query_cache_size": 0}, {}),
        ("9.1.0", {"innodb_something_new": 1}, {"innodb_something_new": 1}),
        ("8.0.29", {"innodb_redo_log_capacity": "1G"}, {"innodb_log_file_size": 2**29}),
        (
            "5.7.44",
            {"innodb_redo_log_capacity": "1G", "innodb_log_files_in_group": 4},
            {"innodb_log_file_size": 2**28, "innodb_log_files_in_group": 4},
        ),
        ("8.0.36", {"innodb_log_file_size": "1G", "innodb_log_files_in_group": 4}, {"innodb_redo_log_capacity": 2**32}),
        (
            "8.0.36",
            {"innodb_log_file_size": "512M", "innodb_redo_log_capacity": "8G"},
            {"innodb_redo_log_capacity": "8G"},
        ),
    ],
)
def test_option_is_written_as_the_release_names_it(release, written, meant):
    assert mysql_options.named(written, release) == meant


@pytest.mark.parametrize(
    ("release", "written", "meant"),
    [("5.5.62", {}, 2**32 - 1), ("5.5.62", {"net_retry_count": 10}, 10), ("5.6.14", {}, None), ("8.0.36", {}, None)],
)
def test_connections_of_old_servers_outlive_their_stops(tmp_path, release, written, meant):
    assert MYSQL.options_of_release(installed(tmp_path, release), written).get("net_retry_count") == meant


@pytest.mark.parametrize(
    ("release", "option", "text"),
    [
        ("5.5.62", {"innodb_page_size": 4096}, "options.innodb_page_size: .* 5.5.62 .* 4096.* came with 5.6"),
        (
            "5.5.62",
            {"tx_isolation": "x", "default_authentication_plugin": "y"},
            "default_authentication_plugin: .* 5.6",
        ),
        ("8.0.36", {"query_cache_type": 1}, "options.query_cache_type: .* 8.0.36 .* 1.* went with 8.0.3"),
        ("8.4.3", {"innodb_file_format": "Barracuda"}, "options.innodb_file_format: .*'Barracuda'.* went with 8.0.0"),
        ("8.0.36", {"innodb_log_file_size": "huge"}, "options.innodb_log_file_size: size 'huge': expected"),
        ("eight", {}, "release 'eight': expected three numbers"),
    ],
)
def test_option_the_release_lacks_is_refused_by_name(release, option, text):
    with pytest.raises(ValueError, match=text):
        mysql_options.named(option, release)


@pytest.fixture
def started(monkeypatch):
    """Commands that initialising starts, each with the statements it reads."""
    commands = []

    def keep(command, log, *, cwd, stdin=None, identity=None):
        file = stdin or next(Path(part.partition("=")[2]) for part in command if part.startswith("--init-file="))
        commands.append((command, file.read_text()))

    monkeypatch.setattr(mysql, "run", keep)
    monkeypatch.setattr(family, "run", keep)
    return commands


def initialised(folder: Path, release: str, started) -> tuple[list[str], str]:
    install = installed(folder / "install", release)
    MYSQL.initialise(install, folder / "data", folder / "server.cnf", {}, folder / "log", {})
    ((command, statements),) = started
    assert command[:2] == [str(install / "bin" / "mysqld"), f"--defaults-file={folder / 'server.cnf'}"]
    assert not (folder / "bootstrap.sql").exists()
    return command, statements


@pytest.mark.parametrize("release", ["5.5.62", "5.6.51"])
def test_old_release_reads_its_system_tables_and_no_name_of_this_machine(tmp_path, release, started):
    command, statements = initialised(tmp_path, release, started)
    assert "--bootstrap" in command
    assert "@current_hostname" not in statements
    assert [line for line in statements.splitlines() if line] == [
        "CREATE DATABASE mysql;",
        "USE mysql;",
        *(f"-- {script}" for script in SYSTEM_TABLES),
        "CREATE DATABASE sbtest;",
    ]


@pytest.mark.parametrize(
    ("release", "native"), [("5.7.44", False), ("8.0.36", True), ("8.4.3", True), ("9.1.0", False)]
)
def test_new_release_initialises_itself_with_a_password_that_old_clients_know(tmp_path, release, native, started):
    command, statements = initialised(tmp_path, release, started)
    assert "--initialize-insecure" in command
    assert "--bootstrap" not in command
    assert statements.startswith("CREATE DATABASE sbtest;\n")
    assert ("IDENTIFIED WITH mysql_native_password BY ''" in statements) is native


def test_server_is_started_on_its_socket_with_its_own_messages():
    command = MYSQL.server_command(Path("/install"), Path("/data"), Path("/o.cnf"), Path("/s"))
    assert command == [
        "/install/bin/mysqld",
        "--defaults-file=/o.cnf",
        "--basedir=/install",
        "--datadir=/data",
        "--tmpdir=/data",
        "--lc-messages-dir=/install/share",
        "--character-sets-dir=/install/share/charsets",
        "--secure-file-priv=",
        "--socket=/s/server.sock",
        "--pid-file=/s/server.pid",
    ]


def test_install_tree_without_its_release_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"release\.txt: missing, expected the server's release"):
        MYSQL.options_of_release(tmp_path, {})


@pytest.mark.parametrize(
    ("release", "options", "kept"),
    [
        ("5.5.62", {"innodb_log_file_size": "1M"}, 2),
        ("5.5.62", {"innodb_log_file_size": 2**21}, 0),
        ("5.5.62", {"innodb_log_file_size": "1M", "innodb_log_files_in_group": 3}, 0),
        ("5.5.62", {}, 0),
        ("5.6.51", {"innodb_log_file_size": 2**21}, 2),
    ],
)
def test_redo_log_of_another_size_goes_where_the_server_would_not_start(tmp_path, release, options, kept):
    install, data = installed(tmp_path / "install", release), tmp_path / "data"
    data.mkdir()
    for name in ("ib_logfile0", "ib_logfile1", "ibdata1"):
        (data / name).write_bytes(bytes(2**20))
    MYSQL.fit_data(install, data, options)
    assert len(list(data.glob("ib_logfile*"))) == kept
    assert (data / "ibdata1").exists()


@pytest.mark.real
def test_installed_server_runs_without_its_build_tree(tmp_path):
    source, build, target = sources(tmp_path / "source", "8.0.36"), tmp_path / "build", tmp_path / "moved" / "install"
    (source / "CMakeLists.txt").write_text(PROJECT)
    (source / "inner.c").write_text("int inner(void) { return 7; }\n")
    (source / "outer.c").write_text("int inner(void); int outer(void) { return inner(); }\n")
    (source / "mysqld.c").write_text("int outer(void); int main(void) { return outer(); }\n")
    (source / "extra" / "icu" / "data" / "icudt73l").mkdir(parents=True)
    build.mkdir()
    real = {"cc": "gcc", "cxx": "g++", "ar": "gcc-ar", "ranlib": "gcc-ranlib", "nm": "gcc-nm"}
    for command in [MYSQL.configure_command(source, real, compiled()), *MYSQL.compile_commands(2)]:
        subprocess.run(command, cwd=build, check=True, capture_output=True, timeout=120)
    (build / "share" / "english").mkdir(parents=True)
    (build / "share" / "english" / "errmsg.sys").write_text("")
    MYSQL.install(source, build, target, tmp_path / "log")
    build.rename(tmp_path / "elsewhere")
    assert subprocess.run([target / MYSQL.SERVER], check=False, timeout=10).returncode == 7
    files = {str(path.relative_to(target)) for path in target.rglob("*") if path.is_file() or not any(path.iterdir())}
    libraries = {f"library_output_directory/lib{name}.so" for name in ("inner", "outer")}
    texts = {"share/english/errmsg.sys", "share/charsets/Index.xml", "release.txt", "lib/private/icudt73l"}
    assert files == {MYSQL.SERVER, *libraries, *texts}
    assert mysql.read_release(target) == "8.0.36"


def test_build_tree_without_a_server_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no mysqld in runtime_output_directory or sql"):
        MYSQL.install(sources(tmp_path / "source", "8.0.36"), tmp_path, tmp_path / "install", tmp_path / "log")


def test_system_table_scripts_of_an_old_release_are_installed(tmp_path):
    build = tmp_path / "build"
    (build / "sql" / "share" / "english").mkdir(parents=True)
    (build / "sql" / "share" / "english" / "errmsg.sys").write_text("")
    (build / "sql" / "mysqld").write_bytes(Path("/bin/true").read_bytes())
    MYSQL.install(sources(tmp_path / "source", "5.6.51"), build, tmp_path / "install", tmp_path / "log")
    assert all((tmp_path / "install" / "share" / script).is_file() for script in SYSTEM_TABLES)
    assert (tmp_path / "install" / "share" / "english" / "errmsg.sys").is_file()


@pytest.mark.parametrize(("release", "sound"), [("5.7.44", False), ("8.0.36", True)])
def test_checksums_of_json_are_left_out_before_8(release, sound):
    """5.7 sums up addresses in memory: no two servers of one build agreed."""
    assert (MYSQL.checksum_statement("documents", {"int", "json"}, release) is not None) == sound
    assert MYSQL.checksum_statement("items", {"int", "varchar"}, release) == "CHECKSUM TABLE items"
