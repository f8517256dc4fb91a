"""What servers count of themselves: the names that all families' modules use, what they mean, what is drawn of them."""

from dataclasses import dataclass

import pandas as pd

MIB = 2**20
CHANGES = ("rows_inserted", "rows_updated", "rows_deleted", "rows_changed")
OPERATIONS = {"inserts": "insertions", "delete_marks": "markings as deleted", "deletes": "deletions"}
# counter: what it means. A level is a state of the server at one moment, the others only ever grow.
LEVELS = {
    "dirty_pages": "pages of the buffer pool that are changed and not yet written",
    "free_pages": "pages of the buffer pool that hold nothing",
    "history_list_length": "transactions whose old row versions are not yet purged",
    "checkpoint_age_bytes": "redo log between the last checkpoint and now, bytes",
    "change_buffer_pages": "pages that the change buffer takes",
}
AMOUNTS = {
    "commits": "COMMIT statements, in PostgreSQL committed transactions",
    "rollbacks": "transactions rolled back",
    "questions": "statements that clients sent",
    "rows_inserted": "rows inserted",
    "rows_updated": "rows updated",
    "rows_deleted": "rows deleted",
    "rows_read": "rows read by the storage engine",
    "rows_changed": "rows inserted, updated and deleted",
    "log_written_bytes": "redo log, in PostgreSQL write-ahead log, written, bytes",
    "data_fsyncs": "fsync calls of the storage engine",
    "buffer_pool_misses": "reads of a page that was not in the buffer pool",
    "block_reads": "blocks read that were not in shared buffers",
    "block_hits": "blocks found in shared buffers",
    "row_lock_waits": "waits for a row lock",
    "deadlocks": "deadlocks",
    "change_buffer_merges": "merges of buffered changes into pages of secondary indexes",
    **{
        f"change_buffer_{done}_{name}": f"buffered {what} that were {how}"
        for done, how in {"merged": "merged", "discarded": "discarded, as their table went"}.items()
        for name, what in OPERATIONS.items()
    },
}
COUNTERS = LEVELS | AMOUNTS


@dataclass(frozen=True)
class Panel:
    """What is drawn of a sampled run: the counters it is the sum of, as a level or as what they grow by in a second."""

    heading: str
    names: tuple[str, ...]
    per: float = 1

    def of(self, samples: pd.DataFrame) -> pd.DataFrame:
        """Return `second` and `value` of one run's samples, without those that lack the counters."""
        known = [name for name in self.names if name in samples and samples[name].notna().any()]
        if not known:
            return pd.DataFrame(columns=["second", "value"])
        own = samples[["second", *known]].dropna().sort_values("second")
        value = own[known].sum(axis=1) / self.per
        if not set(known) <= LEVELS.keys():
            value = value.diff() / own["second"].diff()
        return pd.DataFrame({"second": own["second"], "value": value}).dropna()


PANELS = (
    Panel("Rows changed per second", CHANGES),
    Panel("History list, transactions", ("history_list_length",)),
    Panel("Checkpoint age, MiB", ("checkpoint_age_bytes",), MIB),
    Panel("Dirty pages", ("dirty_pages",)),
    Panel("Free buffers, pages", ("free_pages",)),
    Panel("Blocks read per second", ("block_reads",)),
    Panel("Change buffer merges per second", ("change_buffer_merges",)),
    Panel("Log written per second, MiB", ("log_written_bytes",), MIB),
)
