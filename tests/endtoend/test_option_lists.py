"""Every option with text as its value, of the servers at hand, was judged; servers read values exactly as written."""

import subprocess
from pathlib import Path

import pytest

from scripts.measure.servers import families
from scripts.measure.servers.server import ServerFailed, running
from tests.endtoend import installed, installed_mariadb, installed_postgresql, option_lists

pytestmark = pytest.mark.real

# Where Debian's packages of plugins put them; the server's own package has none.
PLUGINS = Path("/usr/lib/mysql/plugin")


@pytest.fixture(scope="module")
def postgresql():
    with installed.initialised("option-lists-", "postgresql") as ready:
        yield ready


@pytest.fixture
def mariadbd():
    if lost := installed_mariadb.missing():
        pytest.skip(lost)
    return installed_mariadb.SERVER


def test_every_option_of_mariadb_with_text_is_listed(mariadbd):
    names = option_lists.of_help(mariadbd, plugins=PLUGINS)
    assert len(names) > 150
    assert sorted(names - option_lists.listed("mariadb")) == []


def test_every_setting_of_postgresql_with_text_is_listed(postgresql):
    libraries = set(postgresql.family.libraries(postgresql.install / postgresql.family.SERVER))
    assert {"plpgsql", "pg_stat_statements"} <= libraries
    with running(
        postgresql.family, postgresql.install, postgresql.data, postgresql.options, postgresql.folder / "a.log"
    ) as server:
        names = option_lists.of_settings(server, libraries)
        server.stop(keep_data=True)
    assert len(names) > 60
    assert "plpgsql.extra_errors" in names
    assert sorted(names - option_lists.listed("postgresql")) == []


TEXTS = ["a'b", 'a"b', '"a"', "'a'", "a#b", "# a", r"a\nb", r"\057tmp", "a\\", " a", "a ", '"a', '\\"', r"\s", "", "é"]


def test_mariadb_reads_values_as_they_are_written(mariadbd, tmp_path):
    options = {f"a{number}": text for number, text in enumerate(TEXTS)}
    file = tmp_path / "server.cnf"
    file.write_text(families.of("mariadb").option_text(options), encoding="utf-8")
    command = [mariadbd, f"--defaults-file={file}", "--print-defaults"]
    said = subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout
    assert said.splitlines()[-1].strip() == " ".join(f"--{name}={text}" for name, text in options.items())


@pytest.mark.parametrize("text", TEXTS)
def test_postgresql_reads_values_as_they_are_written(tmp_path, text):
    if lost := installed_postgresql.missing():
        pytest.skip(lost)
    file = tmp_path / "server.cnf"
    file.write_text(families.of("postgresql").option_text({"a.b": text}), encoding="utf-8")
    program = installed_postgresql.HOME / "bin" / "postgres"
    command = [program, "-C", "a.b", "-D", tmp_path, f"--config-file={file}"]
    assert subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout == f"{text}\n"


def test_server_is_not_started_with_a_library_that_it_does_not_hold(postgresql):
    family, log = postgresql.family, postgresql.folder / "b.log"
    options = {**postgresql.options, "shared_preload_libraries": "pg_stat_statements, no_such"}
    with pytest.raises(ServerFailed, match=r"is not started: options\.shared_preload_libraries: .* names 'no_such'"):
        with running(family, postgresql.install, postgresql.data, options, log):
            pytest.fail("it was started")
    assert not log.exists()


def test_server_loads_a_library_of_its_own(postgresql):
    options = {**postgresql.options, "shared_preload_libraries": "pg_stat_statements", "pg_stat_statements.max": 500}
    with running(
        postgresql.family, postgresql.install, postgresql.data, options, postgresql.folder / "c.log"
    ) as server:
        connection = server.connect()
        assert postgresql.family.variables(connection)["pg_stat_statements.max"] == "500"
        connection.close()
        server.stop(keep_data=True)
