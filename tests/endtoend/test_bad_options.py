"""What the distribution's servers say of options they lack and of values they cannot read is what the user gets."""

import pytest

from scripts.measure.servers import options as servers_options
from scripts.measure.servers.server import ServerFailed, running
from tests.endtoend import installed

pytestmark = pytest.mark.real


@pytest.fixture(scope="module", params=installed.SERVERS)
def made(request):
    """A family's name and its installed server."""
    with installed.initialised("bad-options-", request.param) as ready:
        yield request.param, ready


def start(ready, options, log):
    """Start the server with these options on top of those it takes."""
    return running(ready.family, ready.install, ready.data, {**ready.options, **options}, ready.folder / log)


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
    name, ready = made
    for number, (wrong, told) in enumerate(WRONG[name]):
        with pytest.raises(ServerFailed, match=f"^.* {told}.*log: {ready.folder}/{number}.log"):
            with start(ready, wrong, f"{number}.log"):
                pytest.fail(f"{wrong} was taken")


# What the server changes without a word in its log: option, value, and what it makes of it.
CHANGED = {
    "mariadb": ("max_heap_table_size", "16385", "16384"),
    "postgresql": ("work_mem", "100.4kB", "100 kB"),
}


def test_value_that_a_server_changes_in_silence_is_refused_and_what_it_takes_is_not(made):
    name, ready = made
    option, value, becomes = CHANGED[name]
    given = installed.SMALL[name]
    with start(ready, {option: value}, "changed.log") as server:
        assert servers_options.require_values(server, ready.install, given) == []
        with pytest.raises(
            ServerFailed, match=f"did not take options.{option}: '{value}', but it runs with '{becomes}'"
        ):
            servers_options.require_values(server, ready.install, {**given, option: value})
        server.stop(keep_data=False)


def test_servers_take_the_options_every_study_starts_from(made):
    with start(made[1], {}, "good.log") as server:
        server.stop(keep_data=False)
