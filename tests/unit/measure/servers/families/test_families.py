"""What the families compose: commands, option files, connections."""

from pathlib import Path

import pytest

from scripts.measure.servers import families
from scripts.measure.servers.families import Family
from tests.made.declared import compiled

COMPILER = {"cc": "/w/cc", "cxx": "/w/c++", "ar": "/b/gcc-ar", "ranlib": "/b/gcc-ranlib", "nm": "/b/gcc-nm"}
NAMES = sorted(families.FAMILIES)


@pytest.fixture(params=NAMES)
def family(request):
    return families.of(request.param)


@pytest.fixture
def source(tmp_path):
    """A source tree that names a release, as MySQL's configuring asks for one."""
    (tmp_path / "MYSQL_VERSION").write_text("MYSQL_VERSION_MAJOR=8\nMYSQL_VERSION_MINOR=0\nMYSQL_VERSION_PATCH=36\n")
    return tmp_path


def test_unknown_family_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="'mysqll' is unknown, expected one of mariadb, mysql, postgresql"):
        families.of("mysqll")


def test_configure_command_knows_nothing_of_the_build(family, source):
    plain = family.configure_command(source, COMPILER, compiled())
    optimised = family.configure_command(
        source,
        COMPILER,
        compiled(build="pgo", stage="optimised", profile={"training": "mixed", "digest": "0"}, flags=["-O3"]),
    )
    assert plain == optimised
    assert not [argument for argument in plain if "profile" in argument or "flto" in argument]


def test_configure_command_names_wrapper_and_tools_that_understand_lto(family, source):
    command = " ".join(family.configure_command(source, COMPILER, compiled()))
    assert all(tool in command for tool in COMPILER.values())


def test_debug_information_is_left_out_unless_asked_for(family, source):
    def text(recipe):
        return " ".join(family.configure_command(source, COMPILER, compiled(**recipe)))

    assert text({}) != text({"debug_information": True})
    assert " -g " not in f"{text({})} "
    assert "--enable-debug" not in text({})


def test_compile_commands_use_the_threads_they_are_given(family):
    commands = [command for command in family.compile_commands(3) if any(part.startswith("-j") for part in command)]
    assert commands
    assert all("-j3" in command for command in commands)


def test_libraries_that_options_name_are_compiled_after_the_server():
    commands = families.of("postgresql").library_commands(["auto_explain", "pg_stat_statements"])
    assert [command[-2:] for command in commands] == [
        ["contrib/auto_explain", "all"],
        ["contrib/pg_stat_statements", "all"],
    ]


def test_libraries_that_were_compiled_are_installed_with_the_server(tmp_path, monkeypatch):
    installed = []

    def run(command, log, cwd):
        installed.append(command[2])
        (tmp_path / "staging" / "usr" / "local" / "pgsql").mkdir(parents=True, exist_ok=True)

    monkeypatch.setattr("scripts.measure.servers.families.postgresql.run", run)
    for name in ("pg_stat_statements", "isn"):
        (tmp_path / "build" / "contrib" / name).mkdir(parents=True)
    (tmp_path / "build" / "contrib" / "pg_stat_statements" / "pg_stat_statements.so").touch()
    family = families.of("postgresql")
    family.install(tmp_path / "source", tmp_path / "build", tmp_path / "install", tmp_path / "log")
    assert (installed[0], installed[-1]) == ("src/backend", "contrib/pg_stat_statements")
    assert "contrib/isn" not in installed
    assert (tmp_path / "install").is_dir()


@pytest.mark.parametrize(("memory_mib", "pool_mib"), [(256, 128), (4096, 1024), (262144, 4096)])
def test_default_pool_is_a_fourth_of_memory_within_bounds(family, memory_mib, pool_mib):
    options = family.default_options(memory_mib)
    pool = options.get("innodb_buffer_pool_size") or options["shared_buffers"]
    assert pool.rstrip("MB") == str(pool_mib)


def test_server_listens_on_no_network(family):
    text = family.option_text(family.default_options(1024))
    assert "skip_networking=ON" in text or "listen_addresses = ''" in text


def test_truth_values_are_written_as_the_server_reads_them():
    assert families.of("mariadb").option_text({"a": True, "b": False, "c": 5}) == "[mysqld]\na=ON\nb=OFF\nc=5\n"
    assert families.of("postgresql").option_text({"a": True, "b": False}) == "a = 'on'\nb = 'off'\n"


def test_socket_is_in_the_folder_given_and_sysbench_is_told(family):
    sockets = Path("/tmp/short")
    command = family.server_command(Path("/install"), Path("/data"), Path("/o.cnf"), sockets)
    flags = family.sysbench_flags(sockets)
    assert command[0] == f"/install/{family.SERVER}"
    assert any("/tmp/short" in part for part in command)
    assert any("/tmp/short" in part for part in flags)
    assert f"--db-driver={family.SYSBENCH_DRIVER}" in flags


def test_options_that_only_initdb_knows_stay_out_of_the_option_file():
    assert families.of("postgresql").option_text({"data_checksums": True}) == ""


OWNED = {
    "mysql": (
        "skip_networking skip-networking loose_skip_networking networking skip_networkin bind_address "
        "bind_addr port admin_port mysqlx loose_mysqlx skip_mysqlx mysqlx_bind_address datadir datad "
        "socket pid_file user init_file plugin_load plugin_load_add plugin_dir early_plugin_load "
        "innodb_data_home_dir skip_grant_tables basedir log_error LOG-ERROR innodb_data_h innodb_doublewrite_d skip_g"
    ),
    "mariadb": (
        "skip_networking extra_port wsrep_provider wsrep_notify_cmd loose_datadir plugin_load init_fil tmpdir "
        "autoset_tmpdir"
    ),
    "postgresql": (
        "listen_addresses port unix_socket_directories unix_socket_permissions data_directory hba_file "
        "ident_file external_pid_file config_file include include_dir logging_collector"
    ),
}
FREE = {
    "mysql": (
        "innodb_doublewrite "
        "innodb_buffer_pool_size skip_name_resolve skip_log_bin log_bin log innodb port_open_timeout "
        "user_stat_table lc_messages init_connect log_error_verbosity skip_ssl character_set_server "
        "tmp_table_size transaction_isolation default_authentication_plugin innodb_undo_tablespaces "
        "innodb_data_file_path performance_schema secure_auth max_connections innodb_temp_data_file_path"
    ),
    "mariadb": ("innodb_page_size aria_log_file_size thread_handling extra_max_connections plugin_maturity"),
    "postgresql": ("shared_buffers wal_segment_size superuser_reserved_connections log_statement jit"),
}


@pytest.mark.parametrize(
    ("name", "option"), [(name, option) for name, all_of in OWNED.items() for option in all_of.split()]
)
def test_options_that_the_workflow_sets_are_owned_in_every_spelling(name, option):
    assert families.of(name).owned_option(option)


@pytest.mark.parametrize(
    ("name", "option"), [(name, option) for name, all_of in FREE.items() for option in all_of.split()]
)
def test_other_options_are_free(name, option):
    assert families.of(name).owned_option(option) == ""


def test_options_that_a_client_host_needs_and_our_defaults_against_networks_are_owned(family):
    defaults = family.default_options(1024)
    needed = family.network_options("10.0.0.1", 1)
    assert all(family.owned_option(name) for name in needed.keys() & defaults.keys())


def test_every_family_has_every_part_of_the_interface(family):
    assert [name for name in Family.__annotations__ if not hasattr(family, name)] == []
