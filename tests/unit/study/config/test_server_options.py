"""Options that reach out of a data directory are refused by the plan, by their values; the others stay."""

import pytest

from scripts.study.config.declared_servers import ServerDeclaration
from scripts.study.config.loading import load
from scripts.study.config.server_options import ServerOptions
from scripts.study.config.yaml_lines import ConfigError
from tests.made.studies import CHECKOUT, config

POSTGRESQL = {"server": "postgresql-15", "build": "baseline"}
MARIADB = {"server": "mariadb-10.11", "build": "baseline"}
MYSQL = {"server": "mysql-8.0.33-binary", "build": "prebuilt"}


def told(arm, **options):
    """Return the lines about a study of one server with these options; none if it is accepted."""
    variants = {"plain": arm, "changed": {**arm, "options": options}}
    try:
        load(config(variants=variants, reference="plain"), CHECKOUT, "small.yaml")
    except ConfigError as error:
        return str(error).splitlines()[1:]
    return []


@pytest.mark.parametrize(
    ("arm", "options"),
    [
        (POSTGRESQL, {"shared_preload_libraries": "pg_stat_statements", "pg_stat_statements.max": 5000}),
        (POSTGRESQL, {"archive_mode": True, "archive_command": "", "archive_library": "basic_archive"}),
        (POSTGRESQL, {"timezone": "Europe/Berlin", "log_line_prefix": "%m /%a ", "temp_tablespaces": ""}),
        (POSTGRESQL, {"ssl_cert_file": "/etc/ssl/certs/own.pem"}),
        (MARIADB, {"log_bin": "binlog", "sync_binlog": 1}),
        (MARIADB, {"general_log": True, "general_log_file": "general.log", "init_connect": "SET @a = '/x'"}),
        (MYSQL, {"log_bin": "mysql-bin", "relay_log": "relay", "innodb_data_file_path": "ibdata1:12M:autoextend"}),
        (MYSQL, {"slow_query_log": True, "slow_query_log_file": "./slow.log"}),
    ],
)
def test_values_that_stay_in_the_data_directory_are_planned(arm, options):
    assert told(arm, **options) == []


@pytest.mark.parametrize(
    ("arm", "name", "value"),
    [
        (POSTGRESQL, "restore_command", "cp /srv/%f %p"),
        (POSTGRESQL, "ssl_passphrase_command", "/bin/echo x"),
        (POSTGRESQL, "archive_command", True),
        (POSTGRESQL, "archive_library", "/tmp/x"),
        (POSTGRESQL, "session_preload_libraries", "x"),
        (POSTGRESQL, "jit_provider", "../../../tmp/x"),
        (MARIADB, "log_bin", "/var/tmp/binlog"),
        (MARIADB, "innodb_temp_data_file_path", "../ibtmp1:12M"),
        (MYSQL, "general_log_file", "~/general.log"),
        (MYSQL, "loose_keyring_file_data", "/tmp/keys"),
        (MYSQL, "innodb_redo_log_archive_dirs", "a:/tmp/a"),
    ],
)
def test_values_that_leave_it_are_refused_once_by_key_and_value(arm, name, value):
    (line,) = told(arm, **{name: value})
    assert f"variants.changed.options.{name}: {value!r} " in line


def entry(*sources):
    keys = {"family": "postgresql", "product": "PostgreSQL", "version": "15", "sources": list(sources)}
    return ServerOptions(ServerDeclaration.model_validate(keys), has_client=False)


def test_libraries_of_an_installed_server_are_read_from_its_installation(tmp_path):
    for name in ("bin/postgres", "lib/plpgsql.so", "lib/pg_cron.so"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    own = entry({"installed": str(tmp_path)})
    assert own.libraries() == {"plpgsql", "pg_cron"}
    assert list(own.mistakes(("options",), {"shared_preload_libraries": "pg_cron"})) == []
    (mistake,) = own.mistakes(("options",), {"shared_preload_libraries": "pg_stat_statements"})
    assert mistake.path == ("options", "shared_preload_libraries")
    assert "names 'pg_stat_statements', which its installation does not hold" in mistake.text


def test_libraries_of_an_archive_of_programs_are_known_to_the_first_job_only():
    assert entry({"maven": "a:b:jar:c:1"}).libraries() is None
    assert entry({"installed": "/nowhere"}).libraries() is None
    assert "pg_stat_statements" in entry({"debian": "postgresql-15"}).libraries()
