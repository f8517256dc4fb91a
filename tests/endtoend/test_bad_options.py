"""What the distribution's servers say of options they lack and of values they cannot read is what the user gets."""

import tempfile
from pathlib import Path

import pytest

from scripts import families, load_dataset, options_taken, snapshot, workplace
from scripts.server import ServerFailed, running
from tests.endtoend import installed_mariadb, installed_postgresql

pytestmark = pytest.mark.real
SERVERS = {"mariadb": installed_mariadb, "postgresql": installed_postgresql}
SMALL = {
    "mariadb": {"innodb_buffer_pool_size": "64M", "innodb_log_file_size": "16M"},
    "postgresql": {"shared_buffers": "64MB", "max_connections": 20},
}


@pytest.fixture(scope="module", params=SERVERS)
def made(request):
    """A family, its installed server, options it takes, and an empty data directory."""
    installed = SERVERS[request.param]
    if why := installed.missing():
        pytest.skip(why)
    with tempfile.TemporaryDirectory(prefix="bad-options-", dir="/var/tmp") as name, snapshot.workspace(None) as folder:
        Path(name).chmod(0o755)
        family = families.of(request.param)
        install = workplace.installed(installed.lay_out(Path(name) / "build"))
        options = load_dataset.server_options(family, {"options": SMALL[request.param]})
        data = load_dataset.initialise(family, install, folder, options, Path(name) / "init.log")
        yield request.param, family, install, options, data, Path(name)


WRONG = {
    "mariadb": [
        ({"innodb_bufer_pool_size": "64M"}, "did not start: .* unknown variable 'innodb_bufer_pool_size=64M'"),
        (
            {"innodb_flush_method": "never"},
            "did not start: .* Error while setting value 'never' to 'innodb-flush-method'",
        ),
        (
            {"innodb_flush_log_at_trx_commit": 7},
            "did not take options.innodb_flush_log_at_trx_commit: 7, .* adjusted to",
        ),
    ],
    "postgresql": [
        ({"shared_bufers": "64MB"}, 'did not start: .* unrecognized configuration parameter "shared_bufers"'),
        ({"shared_buffers": "lots"}, 'did not start: .* invalid value for parameter "shared_buffers": "lots"'),
        ({"wal_level": "all"}, 'did not start: .* invalid value for parameter "wal_level": "all"'),
    ],
}


def test_real_server_is_refused_by_option(made):
    name, family, install, options, data, folder = made
    for number, (wrong, told) in enumerate(WRONG[name]):
        log = folder / f"{number}.log"
        with pytest.raises(ServerFailed, match=f"^.* {told}.*log: {log}"):
            with running(family, install, data, {**options, **wrong}, log):
                pytest.fail(f"{wrong} was taken")


# What the server changes without a word in its log: option, value, and what it makes of it.
CHANGED = {
    "mariadb": ("max_heap_table_size", "16385", "16384"),
    "postgresql": ("work_mem", "100.4kB", "100 kB"),
}


def test_value_that_a_server_changes_in_silence_is_refused_and_what_it_takes_is_not(made):
    name, family, install, options, data, folder = made
    option, value, becomes = CHANGED[name]
    with running(family, install, data, {**options, option: value}, folder / "changed.log") as server:
        assert options_taken.demand(server, install, SMALL[name] if option not in SMALL[name] else {}) == {}
        with pytest.raises(
            ServerFailed, match=f"did not take options.{option}: '{value}', but it runs with '{becomes}'"
        ):
            options_taken.demand(server, install, {**SMALL[name], option: value})
        server.stop(keep_data=False)


def test_servers_take_the_options_every_study_starts_from(made):
    _, family, install, options, data, folder = made
    with running(family, install, data, options, folder / "good.log") as server:
        server.stop(keep_data=False)
