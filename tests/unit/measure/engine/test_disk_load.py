"""Which loads count as bound by a disk, by made counters."""

import pytest

from scripts.measure.engine import disk_load
from scripts.measure.engine.disk_load import MIB, WarmUp
from scripts.measure.servers import families

QUIET = {"fsyncs": 100.0, "pool_misses": 100.0, "written_bytes": 64.0 * MIB}


@pytest.mark.parametrize(
    ("more", "code", "text"),
    [
        ({"fsyncs": 100.1}, "fsyncs", "bound by a disk: over 100 fsyncs per second"),
        ({"pool_misses": 101}, "pool_misses", "bound by a disk: over 100 pool misses per second"),
        ({"written_bytes": 65 * MIB}, "written_bytes", "bound by a disk: over 64 MiB written per second"),
        ({"fsyncs": 300, "pool_misses": 400}, "pool_misses", "bound by a disk: over 100 pool misses per second"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_load_beyond_a_limit_is_bound_by_what_is_furthest_beyond(more, code, text):
    found = disk_load.bound({**QUIET, **more})
    assert (found.code, found.text) == (code, text)


def test_load_at_the_limits_is_not_bound_and_what_is_not_counted_is_not_judged():
    assert disk_load.bound(QUIET) is None
    assert disk_load.bound({}) is None
    assert disk_load.bound({"fsyncs": 1000}).code == "fsyncs"


def test_counts_are_those_of_the_later_half_of_warm_up_per_second_of_open_time():
    counts = iter([{"fsyncs": 900.0, "pool_misses": 50.0}, {"fsyncs": 1100.0, "pool_misses": 49.0, "other": 1.0}])
    watch = WarmUp(lambda: next(counts), slices=4)
    for milliseconds in (500, 500, 400, 600):
        watch.after_slice(milliseconds * 10**6)
    assert watch.per_s == {"fsyncs": 200.0, "pool_misses": 0.0}


def test_warm_up_of_two_slices_has_a_half_and_one_that_broke_off_has_no_counts():
    counts = iter([{"fsyncs": 1.0}, {"fsyncs": 51.0}])
    watch = WarmUp(lambda: next(counts), slices=2)
    watch.after_slice(5 * 10**8)
    assert watch.per_s == {}
    watch.after_slice(5 * 10**8)
    assert watch.per_s == {"fsyncs": 100.0}


def test_counts_that_come_late_are_those_of_the_whole_warm_up_read_after_one_more_slice():
    counts = iter([{"fsyncs": 0.0}, {"fsyncs": 300.0}])
    watch = WarmUp(lambda: next(counts), slices=2, late=True)
    watch.begin()
    for milliseconds in (500, 1000):
        watch.after_slice(milliseconds * 10**6)
        assert watch.per_s == {}
    watch.after_slice(10**8)
    assert watch.per_s == {"fsyncs": 200.0}


def test_innodb_counts_flushes_of_its_log_pages_read_and_bytes_of_files_and_log():
    counters = {"data_fsyncs": 7.0, "buffer_pool_misses": 5.0, "data_written_bytes": 100.0, "log_written_bytes": 10.0}
    for name in ("mariadb", "mysql"):
        family = families.of(name)
        assert family.disk_counts(counters) == {"fsyncs": 7, "pool_misses": 5, "written_bytes": 110}
        assert family.disk_counts({"data_fsyncs": 7.0}) == {"fsyncs": 7}
        assert family.disk_counts({"binlog_synced_commits": 9.0}) == {"synced_commits": 9}


def test_postgresql_counts_no_page_as_read_that_was_added_to_a_table():
    family = families.of("postgresql")
    before = {"block_reads": 1000.0, "database_pages": 500.0, "log_written_bytes": 0.0}
    after = {"block_reads": 1900.0, "database_pages": 1300.0, "log_written_bytes": 8192.0}
    found = disk_load.per_second(family.disk_counts(before), family.disk_counts(after), 2.0)
    assert found == {"pool_misses": 50.0}
    assert family.disk_counts({"block_reads": 5.0, "log_written_bytes": 0.0}) == {}
    more = {"wal_syncs": 200.0, "buffers_written": 3.0}
    found = family.disk_counts({**after, **more})
    assert (found["fsyncs"], found["written_bytes"]) == (200.0, 4 * 8192)
