"""What a server runs with is read back, whatever the way it writes a value."""

import pytest

from scripts.measure.servers import families
from scripts.measure.servers import options as servers_options
from scripts.measure.servers.families.family import ServerSetting
from scripts.measure.servers.server import ServerFailed

INNODB = {
    "innodb_buffer_pool_size": "134217728",
    "log_bin": "ON",
    "tx_isolation": "READ-COMMITTED",
    "autocommit": "ON",
    "sql_mode": "STRICT_TRANS_TABLES,NO_ZERO_DATE",
    "query_cache_type": "DEMAND",
    "character_set_server": "utf8mb3",
    "innodb_max_dirty_pages_pct": "75.000000",
    "thread_cache_size": "48",
    "innodb_flush_method": "O_DIRECT",
    "innodb_doublewrite": "ON",
}
POSTGRESQL = {
    "shared_buffers": ("16384", "8kB"),
    "checkpoint_timeout": ("1800", "s"),
    "synchronous_commit": ("off", None),
    "random_page_cost": ("1.1", None),
    "wal_segment_size": ("67108864", "B"),
    "wal_buffers": ("512", "8kB"),
    "wal_level": ("replica", None),
    "datestyle": ("ISO, MDY", None),
    "jit": ("off", None),
}
INNODB_FAMILY, POSTGRESQL_FAMILY = families.of("mariadb"), families.of("postgresql")
SAME = {
    INNODB_FAMILY: [
        ("innodb_buffer_pool_size", "128M"),
        ("innodb_buffer_pool_size", 134217728),
        ("log_bin", "binlog"),
        ("transaction_isolation", "read-committed"),
        ("sql_mode", "no_zero_date"),
        ("character_set_server", "utf8"),
        ("innodb_max_dirty_pages_pct", 75),
        ("innodb_flush_method", "O_DIRECT"),
        ("innodb_doublewrite", True),
        ("innodb_doublewrite", 1),
        ("loose_autocommit", True),
    ],
    POSTGRESQL_FAMILY: [
        ("shared_buffers", "128MB"),
        ("shared_buffers", 16384),
        ("shared_buffers", "131072kB"),
        ("DateStyle", "ISO, MDY"),
        ("checkpoint_timeout", "30min"),
        ("checkpoint_timeout", 1800),
        ("synchronous_commit", False),
        ("jit", 0),
        ("random_page_cost", 1.1),
        ("wal_segment_size", 64),
        ("wal_level", "replica"),
    ],
}
OTHER = {
    INNODB_FAMILY: [
        ("innodb_buffer_pool_size", "100M"),
        ("skip_log_bin", True),
        ("log_bin", False),
        ("sql_mode", ""),
        ("sql_mode", "ANSI"),
        ("innodb_doublewrite", False),
        ("thread_cache_size", 16),
        ("innodb_flush_method", "fsync"),
        ("transaction_isolation", "SERIALIZABLE"),
    ],
    POSTGRESQL_FAMILY: [
        ("shared_buffers", "128000kB"),
        ("checkpoint_timeout", "31min"),
        ("synchronous_commit", "local"),
        ("synchronous_commit", True),
        ("random_page_cost", 4),
        ("wal_segment_size", 16),
        ("wal_level", "logical"),
    ],
}
UNREAD = {
    INNODB_FAMILY: [("performance_schema_instrument", "%sync%=on"), ("query_cache_type", 2), ("thread_cache_size", -1)],
    POSTGRESQL_FAMILY: [("my.setting", 1), ("wal_buffers", -1)],
}
SETTINGS = {
    INNODB_FAMILY: {name: ServerSetting(text) for name, text in INNODB.items()},
    POSTGRESQL_FAMILY: {name: ServerSetting(*parts) for name, parts in POSTGRESQL.items()},
}
CASES = [
    pytest.param(family, name, value, answer, id=f"{family.NAME}-{name}-{value}")
    for table, answer in ((SAME, True), (OTHER, False), (UNREAD, None))
    for family, cases in table.items()
    for name, value in cases
]


@pytest.mark.parametrize(("family", "name", "value", "answer"), CASES)
def test_value_is_compared_as_the_server_writes_it(family, name, value, answer):
    assert family.option_taken(name, value, SETTINGS[family]) is answer


class Connection:
    def close(self):
        pass


class Family:
    """A family whose server changes sizes in silence; `two` is made of what is said as `one`."""

    @staticmethod
    def default_options(memory_mib):
        return {"pool": 1, "cache": 1}

    @staticmethod
    def options_of_release(install, options):
        return {"two" if name == "one" else name: value for name, value in options.items()}

    @staticmethod
    def settings(connection):
        return {"pool": ServerSetting("2"), "cache": ServerSetting("5"), "two": ServerSetting("2")}

    @staticmethod
    def option_taken(name, value, settings):
        return settings[name].text == str(value) if name in settings else None


class Server:
    family, command, log = Family, ["/opt/bin/database"], "server.log"

    @staticmethod
    def connect():
        return Connection()


def test_options_of_a_study_that_a_server_changed_are_refused_each_with_both_values():
    with pytest.raises(ServerFailed) as caught:
        servers_options.require_values(Server(), "install", {"pool": 3, "one": 1})
    told = "database did not take options.pool: 3, but it runs with '2'; options.two: 1, but it runs with '2'; write"
    assert str(caught.value).startswith(told)
    assert "log: server.log" in str(caught.value)


def test_defaults_that_no_study_gave_are_not_asked_for():
    assert servers_options.require_values(Server(), "install", {"pool": 2, "instrument": "x"}) == ["instrument"]
    assert servers_options.require_values(Server(), "install", {}) == []
