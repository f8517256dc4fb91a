"""What InnoDB's own report says is read from it, and what a release does not say is missing."""

import pymysql
import pytest

from scripts.measure.servers.families import innodb_status
from scripts.measure.servers.families.innodb_status import numbers

# As 8.0.33 writes it, shortened.
WHOLE = """
TRANSACTIONS
Trx id counter 1825
History list length 6
-------------------------------------
INSERT BUFFER AND ADAPTIVE HASH INDEX
-------------------------------------
Ibuf: size 12, free list len 40, seg size 53, 240 merges
merged operations:
 insert 1000, delete mark 20, delete 3
discarded operations:
 insert 1, delete mark 0, delete 2
Hash table size 34679, node heap has 0 buffer(s)
LOG
Log sequence number          19999999
Log flushed up to            19999999
Last checkpoint at           19999990
ROW OPERATIONS
Number of rows inserted 100000, updated 20, deleted 10, read 7
0.00 inserts/s, 0.00 updates/s, 0.00 deletes/s, 0.00 reads/s
Number of system rows inserted 8, updated 331, deleted 8, read 4759
"""
TOLD = {
    "history_list_length": 6,
    "change_buffer_pages": 12,
    "change_buffer_merges": 240,
    "change_buffer_merged_inserts": 1000,
    "change_buffer_merged_delete_marks": 20,
    "change_buffer_merged_deletes": 3,
    "change_buffer_discarded_inserts": 1,
    "change_buffer_discarded_delete_marks": 0,
    "change_buffer_discarded_deletes": 2,
    "rows_inserted": 100000,
    "rows_updated": 20,
    "rows_deleted": 10,
    "rows_read": 7,
    "checkpoint_age_bytes": 9,
}


def test_every_number_is_read_and_system_rows_are_not_taken_for_the_users():
    assert numbers(WHOLE) == TOLD


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "Log sequence number 1600\nLast checkpoint at  1000\nHistory list length 2042\n",
            {"history_list_length": 2042, "checkpoint_age_bytes": 600},
        ),
        ("Log sequence number 1600\n", {}),
        ("Ibuf: size 1, seg size 2, 0 merges\n", {"change_buffer_pages": 1, "change_buffer_merges": 0}),
        ("nothing of it", {}),
    ],
    ids=["old spacing", "no checkpoint", "no operations", "nothing"],
)
def test_what_a_report_lacks_is_missing(text, told):
    assert numbers(text) == told


class Asked:
    """A connection that answers every statement with these rows, or with an error; it stands in for a server."""

    def __init__(self, rows=(), error=None):
        self.rows, self.error = [tuple(row.values()) for row in rows], error
        self.description = [(name, None) for name in rows[0]] if rows else None

    def cursor(self):
        return self

    def close(self):
        """Do nothing."""

    def execute(self, statement):
        if self.error:
            raise pymysql.err.OperationalError(self.error, "no")

    def fetchall(self):
        return self.rows


@pytest.mark.parametrize(
    "switch",
    [({"STATUS": "enabled"}, {"STATUS": "disabled"}), ({"ENABLED": 1}, {"ENABLED": 0})],
    ids=["MySQL", "MariaDB"],
)
def test_only_enabled_monitors_are_counters(switch):
    on, off = switch
    rows = [
        {"NAME": "purge_invoked", "COUNT": 7, **on},
        {"NAME": "buffer_flush_n_to_flush_requested", "COUNT": 0, **off},
    ]
    assert innodb_status._monitored(Asked(rows)) == {"purges": 7.0}


@pytest.mark.parametrize("code", [innodb_status.MAY_NOT, innodb_status.UNKNOWN_TABLE])
def test_server_without_monitors_has_no_such_counters(code):
    assert innodb_status._monitored(Asked(error=code)) == {}


@pytest.mark.parametrize("read", [innodb_status._monitored, innodb_status._doublewrite])
def test_other_errors_of_monitors_are_raised(read):
    with pytest.raises(pymysql.err.OperationalError):
        read(Asked(error=1045))


@pytest.mark.parametrize(("every", "waited"), [(1, 3000.0), (1000, 3.0), (0, 0.0)])
def test_of_so_many_commits_one_waits_for_a_sync_of_the_binary_log(every, waited):
    found = innodb_status._synced_commits(Asked([{"sync_binlog": every}]), {"Binlog_cache_use": "3000"})
    assert found == {"binlog_synced_commits": waited}
    assert innodb_status._synced_commits(Asked([{"sync_binlog": every}]), {}) == {}


def test_waits_for_the_doublewrite_buffer_are_known_only_where_they_are_timed():
    timed = Asked([{"waits": 7, "wait_s": 0.25}])
    assert innodb_status._doublewrite(timed) == {"doublewrite_waits": 7.0, "doublewrite_wait_s": 0.25}
    assert innodb_status._doublewrite(Asked([{"waits": None, "wait_s": None}])) == {}
    assert innodb_status._doublewrite(Asked(error=innodb_status.NO_SCHEMA[0])) == {}
