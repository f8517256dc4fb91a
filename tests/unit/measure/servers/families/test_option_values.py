"""No value of an option has a server run a command, load a foreign library, connect, or write outside of its data."""

import pytest
import yaml

from scripts.measure.servers import families
from tests.made.studies import CHECKOUT

LISTED = yaml.safe_load((CHECKOUT / "tests" / "data" / "server_options.yaml").read_text(encoding="utf-8"))
# Kind in the list -> values that an option of it cannot have, and values that it can have.
VALUES = {
    "command": (["touch /tmp/x", "true", True, 1, "cp %p /srv/%f"], ["", " "]),
    "library": (
        ["/tmp/x.so", "x", "../x", "$libdir/../x", '"/tmp/x"', "pg_stat_statements, /tmp/x", "x/auto_explain"],
        ["", "pg_stat_statements", "pg_stat_statements,auto_explain", "$libdir/pg_stat_statements.so"],
    ),
    "library_folder": (["/tmp", "$libdir:/tmp", "lib", "/tmp:$libdir"], ["", "$libdir"]),
    "connection": (["host=10.0.0.1", "ON", True, "10.0.0.1:33061"], ["", "off", False]),
    "path": (
        ["/tmp/x", "../x", "a/../../x", "~/x", "~root/x", "x:12M;/tmp/x:12M:autoextend", "a, /tmp/x", "d:t:o,/tmp/x"],
        ["", "x", "./x", "folder/x.log", "x..y", "x:12M:autoextend", True, False, 1],
    ),
    "input": ([], ["/etc/ssl/certs/x.pem", "server.key", ""]),
    "text": ([], ["/* any */ SET @a = 1", "%m [%p] /", "", "~"]),
    "plain": (
        ["/tmp/x", "../x", "~/x"],
        ["Europe/Berlin", "wait/synch/%=ON", "a->b", '"$user", public', "%d/%m"],
    ),
}
HELD = frozenset({"pg_stat_statements", "auto_explain"})


@pytest.mark.parametrize(("family", "kind"), [(family, kind) for family, kinds in LISTED.items() for kind in kinds])
def test_options_of_a_kind_have_the_values_of_that_kind_only(family, kind):
    server, names = families.of(family), LISTED[family][kind].split()
    assert names
    if kind == "owned":
        assert [name for name in names if not server.owned_option(name)] == []
        return
    refused, taken = VALUES[kind]
    assert [(name, value) for name in names for value in refused if not server.refused_value(name, value, HELD)] == []
    assert [(name, value) for name in names for value in taken if server.refused_value(name, value, HELD)] == []
    assert [name for name in names if server.owned_option(name)] == []


SPELLINGS = [
    ("mysql", "general-log-file", "/tmp/x"),
    ("mysql", "GENERAL_LOG_FILE", "/tmp/x"),
    ("mysql", "loose_general_log_file", "/tmp/x"),
    ("mysql", "loose_loose-general-log-fi", "/tmp/x"),
    ("mysql", "slow_query_log_f", "/tmp/x"),
    ("mysql", "maximum_log_bin", "/tmp/x"),
    ("mysql", "loose_group_replication_local_address", "10.0.0.1:1"),
    ("mariadb", "feedback_u", "http://10.0.0.1/"),
    ("mariadb", "innodb_data_file_path", "ibdata1:12M;/tmp/x:10M:autoextend"),
    ("mariadb", "server_audit_file_path", "/tmp/x"),
    ("mariadb", "enable_log_bin", "/tmp/x"),
    ("postgresql", "Archive_Command", "touch x"),
    ("postgresql", "shared-preload-libraries", "/tmp/x"),
    # Of no release that is listed: the name tells enough, or the value does.
    ("postgresql", "new_cleanup_command", "touch x"),
    ("postgresql", "other.preload_libraries", "/tmp/x"),
    ("postgresql", "pljava.vmoptions", "-agentpath:/tmp/x.so"),
    ("postgresql", "plperl.on_init", "system('touch x')"),
    ("postgresql", "other.folder", "/srv"),
    ("mysql", "new_archive", "/srv"),
    ("mariadb", "new_archive_cmd", "touch x"),
]


@pytest.mark.parametrize(("family", "name", "value"), SPELLINGS)
def test_value_is_refused_under_every_spelling_and_under_a_name_in_no_list(family, name, value):
    assert families.of(family).refused_value(name, value, HELD)


def test_beginning_of_a_harmless_name_frees_no_path():
    # What a server without init_connect makes of it is unknown.
    assert families.of("mysql").refused_value("init_c", "/tmp/x", None)
    assert families.of("mysql").refused_value("loose_init_connect", "SET @a = '/tmp/x'", None) == ""


@pytest.mark.parametrize("character", ["\n", "\r", "\0", "\x1b", "\x7f"])
@pytest.mark.parametrize("name", ["cluster_name", "ssl_ca_file", "work_mem", "archive_command"])
def test_value_of_two_lines_is_refused_in_every_kind(name, character):
    assert "control character" in families.of("postgresql").refused_value(name, f"1{character}x", None)


def test_message_names_what_leads_out_and_what_was_expected():
    postgresql, mysql = families.of("postgresql"), families.of("mysql")
    assert postgresql.refused_value("jit_provider", "evil", HELD) == (
        "names 'evil', which its installation does not hold: a server loads the libraries of its own installation only"
    )
    told = mysql.refused_value("innodb_data_file_path", "ibdata1:12M;/tmp/x:10M", None)
    assert told.startswith("names '/tmp/x' outside of the data directory, expected a name or a relative path")


def test_any_bare_name_of_a_library_is_taken_until_the_installation_is_known():
    postgresql = families.of("postgresql")
    assert postgresql.refused_value("shared_preload_libraries", "pg_cron", None) == ""
    assert postgresql.refused_value("shared_preload_libraries", "/tmp/pg_cron", None)


def test_libraries_of_an_installation_are_those_beside_its_server(tmp_path):
    family = families.of("postgresql")
    (tmp_path / "bin").mkdir()
    assert family.libraries(tmp_path / "bin" / "postgres") is None
    (tmp_path / "lib" / "plugins").mkdir(parents=True)
    for name in ("plpgsql.so", "pg_stat_statements.so", "plugins/inner.so", "libother.so.5"):
        (tmp_path / "lib" / name).touch()
    assert family.libraries(tmp_path / "bin" / "postgres") == {"plpgsql", "pg_stat_statements", "inner"}


@pytest.mark.parametrize(
    ("text", "in_postgresql", "in_mysql"),
    [
        ("plain", "'plain'", "plain"),
        ("it's", "'it''s'", '''"it's"'''),
        (r"\057tmp", r"'\\057tmp'", r"\\057tmp"),
        (r"end\'", r"""'end\\'''""", r'''"end\\'"'''),
        ('"/tmp/x"', """'"/tmp/x"'""", r'''"\"/tmp/x\""'''),
        ("a # b", "'a # b'", '"a # b"'),
        (" a ", "' a '", '" a "'),
        ("", "''", ""),
    ],
)
def test_option_file_holds_a_value_as_the_server_reads_it(text, in_postgresql, in_mysql):
    assert families.of("postgresql").option_text({"a": text}) == f"a = {in_postgresql}\n"
    assert families.of("mysql").option_text({"a": text}) == f"[mysqld]\na={in_mysql}\n"
