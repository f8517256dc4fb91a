"""The measured quantities that are compared, with their units and the words a verdict may use."""

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from scripts.lib.resolved_study import ResolvedStudy
from scripts.lib.vocabulary import ABOVE, BELOW, SLOW, Verdict

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
    "flush_requested_pages": (
        "pages that the page cleaner last asked to flush, where innodb_monitor_enable has "
        "buffer_flush_n_to_flush_requested counted"
    ),
    "database_pages": "pages of the files of the database",
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
    "binlog_synced_commits": "commits that waited for a sync of the binary log: all of its commits by sync_binlog",
    "wal_syncs": "fsync calls of the write-ahead log",
    "data_written_bytes": "bytes that the storage engine wrote to its files; in MariaDB without its log",
    "buffers_written": "pages that PostgreSQL wrote to its files",
    "context_switches": "context switches, voluntary and not, of the server's threads alive then",
    "interrupts": "interrupts of all CPUs of the machine; in slices only those in the server's own",
    "doublewrite_waits": "waits for the mutex of the doublewrite buffer, where the performance schema times them",
    "doublewrite_wait_s": "time of these waits, seconds",
    "buffer_pool_misses": "reads of a page that was not in the buffer pool",
    "block_reads": "blocks read that were not in shared buffers",
    "block_hits": "blocks found in shared buffers",
    "row_lock_waits": "waits for a row lock",
    "deadlocks": "deadlocks",
    "purges": "times that purge was called, where innodb_monitor_enable has purge_invoked counted",
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
        names = [name for name in self.names if name in samples and samples[name].notna().any()]
        if not names:
            return pd.DataFrame(columns=["second", "value"])
        counted = samples[["second", *names]].dropna().sort_values("second")
        value = counted[names].sum(axis=1) / self.per
        if not set(names) <= LEVELS.keys():
            value = value.diff() / counted["second"].diff()
        return pd.DataFrame({"second": counted["second"], "value": value}).dropna()


PANELS = (
    Panel("Rows changed per second", CHANGES),
    Panel("History list, transactions", ("history_list_length",)),
    Panel("Checkpoint age, MiB", ("checkpoint_age_bytes",), MIB),
    Panel("Dirty pages", ("dirty_pages",)),
    Panel("Free buffers, pages", ("free_pages",)),
    Panel("Blocks read per second", ("block_reads",)),
    Panel("Change buffer merges per second", ("change_buffer_merges",)),
    Panel("Purges per second", ("purges",)),
    Panel("Pages asked to be flushed", ("flush_requested_pages",)),
    Panel("Waits for the doublewrite buffer per second", ("doublewrite_waits",)),
    Panel("Waiting for the doublewrite buffer, ms per second", ("doublewrite_wait_s",), 1e-3),
    Panel("Log written per second, MiB", ("log_written_bytes",), MIB),
    Panel("Fsync calls per second", ("data_fsyncs", "wal_syncs")),
    Panel("Context switches of the server per second", ("context_switches",)),
    Panel("Interrupts of the machine per second", ("interrupts",)),
)


@dataclass(frozen=True)
class Metric:
    """One column of tables/runs.csv that is compared as a ratio to the reference.

    `above` and `below` are the words for a ratio that lies above or below 1; `worse` is the one of the two that is bad.
    """

    name: str
    label: str
    unit: str
    above: str
    below: str
    worse: Verdict
    meaning: str

    @property
    def words(self) -> dict[Verdict, str]:
        """The words for the verdicts that there is a difference, whatever its size."""
        return dict.fromkeys(ABOVE, self.above) | dict.fromkeys(BELOW, self.below)

    def is_worse(self, verdict: str | None) -> bool:
        """Return whether a verdict says that something is worse than the reference."""
        return verdict in (ABOVE if self.worse is Verdict.ABOVE else BELOW)

    @property
    def heading(self) -> str:
        """The label with its unit."""
        return f"{self.label}, {self.unit}" if self.unit else self.label


def _lower_is_better(name: str, label: str, unit: str, meaning: str) -> Metric:
    return Metric(name, label, unit, "higher", "lower", Verdict.ABOVE, meaning)


def _time(name: str, label: str, meaning: str) -> Metric:
    return Metric(name, label, "s", "slower", "faster", Verdict.ABOVE, meaning)


def _by_name(*metrics: Metric) -> dict[str, Metric]:
    return {metric.name: metric for metric in metrics}


TPS = Metric("tps", "Transactions per second", "", "faster", "slower", Verdict.BELOW,
             "transactions between the first and the last per-second report of sysbench, over the time between "
             "them")  # fmt: skip
FROM_HISTOGRAM = "percentile of latency, from sysbench's histogram"
OF_SERVER = "CPU time of the server's processes in the window, divided by its transactions"
METRICS = _by_name(
    TPS,
    _lower_is_better("p50_ms", "Median latency", "ms", f"50th {FROM_HISTOGRAM}"),
    _lower_is_better("p95_ms", "p95 latency", "ms", f"95th {FROM_HISTOGRAM}"),
    _lower_is_better("p99_ms", "p99 latency", "ms", f"99th {FROM_HISTOGRAM}"),
    _lower_is_better("cpu_us_per_tx", "Server CPU per transaction", "µs", f"user and system {OF_SERVER}"),
    _lower_is_better("cpu_user_us_per_tx", "User CPU per transaction", "µs", f"user {OF_SERVER}"),
    _lower_is_better("cpu_system_us_per_tx", "System CPU per transaction", "µs", f"system {OF_SERVER}"),
    _lower_is_better(
        "host_cpu_us_per_tx",
        "Host CPU per transaction, without the client",
        "µs",
        "user, system and interrupt CPU time of the whole host minus sysbench's, divided by the transactions; "
        "holds the kernel's work for the server",
    ),
)
COLD_TIME = _time("cold_s", "Cold time of the statements", "seconds of timed SQL in the first pass after the server's "
                  "start, over the statements that every variant was sent")  # fmt: skip
WARM_TIME = _time("warm_s", "Warm time of the statements", "the same in the passes after the first, their mean")
# Of a run of timed SQL, which has none of the others.
SCRIPT = _by_name(COLD_TIME, WARM_TIME)
SLOW_STOP = _time("slow_stop_s", "Time of the slow stop", "seconds from the request to stop until the server has "
                  "finished what it put off, written all pages, and ended")  # fmt: skip
# Compared in reports of imported logs alone: measured studies count transactions, and have percentiles of every run.
OF_LOGS = _by_name(
    Metric("qps", "Queries per second", "", "faster", "slower", Verdict.BELOW,
           "queries in the window, over its length; one statement of a transaction is a query"),
    _lower_is_better("latency_mean_ms", "Mean latency", "ms", "mean latency, milliseconds"),
)  # fmt: skip
MEASURED = METRICS | SCRIPT | _by_name(SLOW_STOP)
EVERY = MEASURED | OF_LOGS


def of_study(study: ResolvedStudy) -> list[str]:
    """Return the names of what a study measures: of sysbench's loads, of timed SQL, or of both.

    The time of a slow stop belongs to sysbench's loads.
    Of imported logs, those that some log holds.
    """
    if in_logs := study.imported.metrics:
        return list(in_logs)
    kinds = {bool(load.sql) for load in study.workloads.values()}
    of_sysbench = [*METRICS, *([SLOW_STOP.name] if study.stop == SLOW else ())]
    return [*(of_sysbench if kinds != {True} else ()), *(SCRIPT if True in kinds else ())]


def latency_of(study: ResolvedStudy) -> Metric:
    """Return the latency that a study shows beside throughput: of imported logs the percentile that most have."""
    return METRICS[study.imported.latency]


def leading_of(study: ResolvedStudy, names: Iterable[str]) -> Metric:
    """Return the metric that the answer of a study begins with: of logs with a target rate the latency."""
    imported, present = study.imported, set(names)
    rated = imported.rates and imported.rates == imported.measured
    return latency_of(study) if rated and latency_of(study).name in present else leading(present)


def leading(names: Iterable[str]) -> Metric:
    """Return the metric that an answer begins with: transactions per second, of timed SQL alone the cold time."""
    present = set(names)
    return COLD_TIME if COLD_TIME.name in present and TPS.name not in present else TPS
