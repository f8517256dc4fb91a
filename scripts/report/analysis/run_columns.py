"""The columns of the tables made of the records of runs: runs.csv, series.csv, counters.csv, files.csv, operations.csv.

A column of runs.csv has the function that takes its value from a record.
"""

import math
import statistics
from collections.abc import Callable
from functools import partial

from scripts.lib.vocabulary import OPERATION_SHARES
from scripts.measure.engine.run_parts import Traffic
from scripts.measure.engine.run_record import Run
from scripts.measure.sql import times
from scripts.report.analysis.columns import (
    BYTES,
    BYTES_PER_SECOND,
    COUNT,
    LOG_RATIO,
    MICROSECONDS_PER_TX,
    MILLISECONDS,
    NUMBER,
    PER_SECOND,
    SECONDS,
    SHARE,
    TEXT,
    UNIX_TIME,
    Column,
    CsvTable,
)
from scripts.report.analysis.metrics import COUNTERS, EVERY, METRICS

# Counts of a disk's work: what they are, and their unit.
DISK = {
    "fsyncs": ("fsync calls", PER_SECOND),
    "synced_commits": ("commits that waited for a sync of the binary log", PER_SECOND),
    "pool_misses": ("pages read that were not in its pool", PER_SECOND),
    "written_bytes": ("bytes written", BYTES_PER_SECOND),
}
# What a server got of supplies that all servers of a machine share: what it is, and its unit.
SUPPLIES = {
    "huge_pages_mib": ("huge pages, MiB,", NUMBER),
    "aio_contexts": ("contexts of asynchronous I/O", COUNT),
    "io_urings": ("rings of io_uring", COUNT),
    "locked_mib": ("locked memory, MiB,", NUMBER),
}
PHASE_NAMES = (
    *("startup", "wait_lock", "rest", "clone", "drain_clone", "fsync", "start", "load", "fill", "connect", "warmup"),
    *("drain_warmup", "measure", "end", "stop", "remove", "drain"),
)


def block_name(name: str | None, workload: str, clients: int, repetition: int) -> str:
    """Return the name of a run's block; runs of imported logs have none, and are told apart by their repetition."""
    return name or f"{workload}/{clients}/{repetition}"


def _microseconds_per_transaction(run: Run, *seconds: float | None) -> float | None:
    """Return the sum of CPU seconds over the transactions of the window; None if any is missing or there are none."""
    count = run.window.transactions
    return None if None in seconds or not count else sum(seconds) / count * 1e6


def _kernel_s(run: Run) -> float | None:
    """Return the CPU seconds of the host in the window without those of sysbench."""
    host = (run.cpu.host_user_s, run.cpu.host_system_s, run.cpu.host_irq_s)
    client = (run.cpu.client_user_s, run.cpu.client_system_s)
    return None if None in (*host, *client) else sum(host) - sum(client)


def _steal_share(run: Run) -> float | None:
    steal_s, cpus, duration_s = run.cpu.host_steal_s, run.cpu.cpus, run.window.duration_s
    return steal_s / (cpus * duration_s) if steal_s is not None and cpus and duration_s else None


def _statements_s(run: Run, cache: str) -> float | None:
    return times.totals_s(run.timed_sql.executions or []).get(cache)


def _metric(name: str, unit: str, value: Callable[[Run], float | None]) -> Column:
    return Column(name, EVERY[name].meaning, unit, value)


def _per_transaction(name: str, value: Callable[[Run], tuple[float | None, ...]]) -> Column:
    meaning = f"{METRICS[name].meaning}; {METRICS[name].unit}"
    return Column(name, meaning, MICROSECONDS_PER_TX, lambda run: _microseconds_per_transaction(run, *value(run)))


def _traffic(side: str, of: Callable[[Run], Traffic]) -> list[Column]:
    where = f"as the {side}'s host counted them; with a client host"
    return [
        Column(f"{side}_rx_packets_per_s", f"packets received in the window, a second, {where}", PER_SECOND,
               lambda run: of(run).rx_packets_per_s),
        Column(f"{side}_tx_packets_per_s", f"packets sent in the window, a second, {where}", PER_SECOND,
               lambda run: of(run).tx_packets_per_s),
        Column(f"{side}_rx_bytes_per_s", f"bytes received in the window, a second, {where}", BYTES_PER_SECOND,
               lambda run: of(run).rx_bytes_per_s),
        Column(f"{side}_tx_bytes_per_s", f"bytes sent in the window, a second, {where}", BYTES_PER_SECOND,
               lambda run: of(run).tx_bytes_per_s),
    ]  # fmt: skip


def _fsync(key: str, what: str, value: Callable[[Run], float | None]) -> Column:
    meaning = f"time of an fsync after 4 KiB were overwritten there: {what}, milliseconds"
    return Column(f"fsync_{key}_ms", meaning, MILLISECONDS, value)


def _sliced(name: str, meaning: str, unit: str) -> Column:
    return Column(name, meaning, unit, lambda run: getattr(run.sliced, name))


def _supply(name: str, run: Run) -> float | None:
    return getattr(run.supplies, name)


def _asked_of_disk(name: str, run: Run) -> float | None:
    return (run.sliced.disk_per_s or {}).get(name)


def _in_half(half: int, run: Run) -> int | None:
    """Return the transactions of the positions of one half of a slice; None by turns."""
    counts = run.sliced.positions
    return sum(counts[half * len(counts) // 2 : (half + 1) * len(counts) // 2]) if counts else None


def _queries_per_s(run: Run) -> float | None:
    queries, duration_s = run.window.queries, run.window.duration_s
    return queries / duration_s if queries is not None and duration_s else None


def _interval_cv(run: Run) -> float | None:
    """Return the standard deviation of TPS between a run's slices, or seconds by turns, over their mean."""
    tps = run.series.tps or []
    mean = statistics.fmean(tps) if len(tps) > 1 else 0.0
    return statistics.stdev(tps) / mean if mean > 0 else None


def _rise(run: Run) -> float | None:
    """Return log of TPS in the second half of a run's slices, or seconds by turns, over the first; None without one."""
    tps = run.series.tps
    halves = [sum(tps[: len(tps) // 2]), sum(tps[-(len(tps) // 2) :])] if tps and len(tps) > 1 else [0.0]
    return math.log(halves[1] / halves[0]) if min(halves) > 0 else None


def _phase(name: str) -> Column:
    return Column(
        f"phase_{name}_s", f"length of the phase {name}, seconds", SECONDS, lambda run: run.phases_s.get(name)
    )


VARIANT = Column("variant", "arm of the experiment; aa is the reference a second time", TEXT, lambda run: run.variant)
WORKLOAD = Column("workload", "name of the load", TEXT, lambda run: run.workload)
CLIENTS = Column("clients", "concurrent connections", COUNT, lambda run: run.clients)
REPETITION = Column("repetition", "number of the repetition, from 1", COUNT, lambda run: run.repetition)
BLOCK = Column("block", "the runs measured together, with a reference of their own", TEXT,
               lambda run: block_name(run.block, run.workload, run.clients, run.repetition))  # fmt: skip
RUN_COLUMNS = (VARIANT, WORKLOAD, CLIENTS, REPETITION, BLOCK)
RUNS = CsvTable(
    "runs",
    "a run",
    (
        Column("study", "name of the study", TEXT, lambda run: run.study),
        *RUN_COLUMNS,
        Column("position", "place in the block's drawn order, from 1", COUNT, lambda run: run.position),
        Column("run_number", "place in the whole planned order, from 1", COUNT, lambda run: run.run_number),
        Column("outcome", "ok, failed (the server failed), or missing (planned, no file)", TEXT,
               lambda run: run.outcome),
        Column("reason", "why the run failed", TEXT, lambda run: run.reason),
        Column(
            "failure",
            "option: the server refuses an option; value: it runs with another value of one; not_started: it ends "
            "before it is ready; empty for other failures",
            TEXT,
            lambda run: run.failure.kind if run.comes_again else None,
        ),
        Column("cause", "what the server said of such a failure", TEXT,
               lambda run: run.failure.cause if run.comes_again else None),
        Column("server", "server that was measured", TEXT, lambda run: run.server.name),
        Column("family", "mysql, mariadb or postgresql", TEXT, lambda run: run.server.family),
        Column("release", "release of the server", TEXT, lambda run: run.server.release),
        Column("build", "way it was compiled", TEXT, lambda run: run.server.build),
        Column("build_id", "GNU build id of the server's program", TEXT, lambda run: run.server.build_id),
        Column("server_sha256", "SHA-256 of the server's program", TEXT, lambda run: run.server.sha256),
        Column("sysbench_version", "version of sysbench", TEXT, lambda run: run.sysbench.version),
        Column("sysbench_sha256", "SHA-256 of the sysbench program", TEXT, lambda run: run.sysbench.sha256),
        Column("machine_id", "identity of the host", TEXT, lambda run: run.host.machine_id),
        Column("boot_id", "identity of the boot of the host", TEXT, lambda run: run.host.boot_id),
        Column("virtualisation", "kind of virtual machine the host is, empty for none", TEXT,
               lambda run: run.host.virtualisation),
        Column("started_at", "start of the run's process, seconds since 1970", UNIX_TIME,
               lambda run: run.times.started_at),
        Column("window_started_at", "start of the measured window, seconds since 1970", UNIX_TIME,
               lambda run: run.times.window_started_at),
        Column("window_ended_at", "end of the measured window, seconds since 1970", UNIX_TIME,
               lambda run: run.times.window_ended_at),
        Column("ended_at", "end of the run, seconds since 1970", UNIX_TIME, lambda run: run.times.ended_at),
        Column("duration_s", "length of the measured window, seconds", SECONDS, lambda run: run.window.duration_s),
        Column("transactions", "transactions in the window", COUNT, lambda run: run.window.transactions),
        _metric("tps", PER_SECOND, lambda run: run.window.tps),
        _metric("qps", PER_SECOND, _queries_per_s),
        _metric("latency_mean_ms", MILLISECONDS, lambda run: run.window.latency_mean_ms),
        _metric("p50_ms", MILLISECONDS, lambda run: run.window.p50_ms),
        _metric("p95_ms", MILLISECONDS, lambda run: run.window.p95_ms),
        _metric("p99_ms", MILLISECONDS, lambda run: run.window.p99_ms),
        Column("errors", "errors sysbench ignored, in the window", COUNT, lambda run: run.window.errors),
        Column("reconnects", "reconnects in the window", COUNT, lambda run: run.window.reconnects),
        Column("counted_by", "whose counts of transactions and latency: gate or sysbench", TEXT,
               lambda run: run.counts_of),
        Column("cpus", "CPUs of the host", COUNT, lambda run: run.cpu.cpus),
        Column("server_user_s", "user CPU time of the server in the window, seconds", SECONDS,
               lambda run: run.cpu.server_user_s),
        Column("server_system_s", "system CPU time of the server in the window, seconds", SECONDS,
               lambda run: run.cpu.server_system_s),
        Column("client_user_s", "user CPU time of the client in the window, seconds", SECONDS,
               lambda run: run.cpu.client_user_s),
        Column("client_system_s", "system CPU time of the client in the window, seconds", SECONDS,
               lambda run: run.cpu.client_system_s),
        Column("host_user_s", "user CPU time of the host in the window, seconds", SECONDS,
               lambda run: run.cpu.host_user_s),
        Column("host_system_s", "system CPU time of the host in the window, seconds", SECONDS,
               lambda run: run.cpu.host_system_s),
        Column("host_irq_s", "irq CPU time of the host in the window, seconds", SECONDS,
               lambda run: run.cpu.host_irq_s),
        Column("host_steal_s", "steal CPU time of the host in the window, seconds", SECONDS,
               lambda run: run.cpu.host_steal_s),
        Column("host_iowait_s", "iowait CPU time of the host in the window, seconds", SECONDS,
               lambda run: run.cpu.host_iowait_s),
        Column("host_idle_s", "idle CPU time of the host in the window, seconds", SECONDS,
               lambda run: run.cpu.host_idle_s),
        Column("pressure_cpu_s", "time something waited for cpu (PSI), seconds", SECONDS,
               lambda run: run.pressure.cpu_some_s),
        Column("pressure_io_s", "time something waited for io (PSI), seconds", SECONDS,
               lambda run: run.pressure.io_some_s),
        Column("pressure_memory_s", "time something waited for memory (PSI), seconds", SECONDS,
               lambda run: run.pressure.memory_some_s),
        Column("read_bytes", "bytes the server read from storage in the window", BYTES,
               lambda run: run.io.read_bytes),
        Column("write_bytes", "bytes the server wrote to storage in the window", BYTES,
               lambda run: run.io.write_bytes),
        Column("context_switches", "context switches of the server in the window", COUNT,
               lambda run: run.io.context_switches),
        *(Column(name, f"{what} of the server when it was up; empty where unknown", unit,
                 partial(_supply, name)) for name, (what, unit) in SUPPLIES.items()),
        Column("file_system", "type of the file system with the data directory", TEXT,
               lambda run: run.medium.file_system),
        _fsync("min", "shortest", lambda run: run.fsync_ms.min),
        _fsync("p50", "median", lambda run: run.fsync_ms.p50),
        _fsync("p95", "95th percentile", lambda run: run.fsync_ms.p95),
        _fsync("max", "longest", lambda run: run.fsync_ms.max),
        *_traffic("server", lambda run: run.client_host.network.server),
        *_traffic("client", lambda run: run.client_host.network.client),
        *map(_phase, PHASE_NAMES),
        _per_transaction("cpu_us_per_tx", lambda run: (run.cpu.server_user_s, run.cpu.server_system_s)),
        _per_transaction("cpu_user_us_per_tx", lambda run: (run.cpu.server_user_s,)),
        _per_transaction("cpu_system_us_per_tx", lambda run: (run.cpu.server_system_s,)),
        _per_transaction("host_cpu_us_per_tx", lambda run: (_kernel_s(run),)),
        Column("n_server_cpus", "CPUs the server could run on", COUNT, lambda run: run.n_server_cpus),
        Column("n_client_cpus", "CPUs sysbench could run on", COUNT, lambda run: run.n_client_cpus),
        Column("n_shared_cpus", "CPUs both could run on", COUNT, lambda run: run.n_shared_cpus),
        Column("generator_cpu_s", "CPU time of sysbench in the window on the host it ran on, seconds", SECONDS,
               lambda run: run.generator_cpu_s),
        Column("generator_boot_id", "identity of the boot of the host that sysbench ran on", TEXT,
               lambda run: run.generator_boot_id),
        _metric("slow_stop_s", SECONDS, lambda run: run.slow_stop_s),
        _metric("cold_s", SECONDS, lambda run: _statements_s(run, times.COLD)),
        _metric("warm_s", SECONDS, lambda run: _statements_s(run, times.WARM)),
        Column("steal_share", "share of all CPU time of the window that the hypervisor gave to others", SHARE,
               _steal_share),
        _sliced("method", "slices, statements: beside the other runs of its block; turns, empty: one after the other",
                TEXT),
        _sliced("why", "why the run was measured by turns; empty in slices and where it is not recorded", TEXT),
        _sliced("turned_by", f"{' or '.join(DISK)}, for which a block planned in slices went by turns", TEXT),
        *(Column(f"disk_{name}_per_s", f"{what} per second of the block's reference while it warmed up, by its own "
                 "counters; empty where it was not counted", unit, partial(_asked_of_disk, name))
          for name, (what, unit) in DISK.items()),
        _sliced("rounds", "slices of the run, or statements sent to it; empty by turns", COUNT),
        _sliced("slice_s", "length of a slice, seconds", SECONDS),
        _sliced("open_s", "time in which the run's clients were let through, seconds", SECONDS),
        _sliced("tps_log_sd", "standard error of log TPS that the run's slices alone account for; empty by turns",
                LOG_RATIO),
        _sliced("tps_trimmed", "10 % trimmed mean over the slices of transactions per second", PER_SECOND),
        _sliced("waiting_cpu_s", "CPU time of the server while it was stopped, seconds; must be 0", SECONDS),
        *(Column(f"{half}_transactions", f"transactions completed in the {which} half of the run's slices", COUNT,
                 partial(_in_half, place))
          for place, (half, which) in enumerate((("early", "first"), ("late", "second")))),
        Column("interval_cv", "standard deviation over mean of TPS of the run's slices, or of its seconds by turns",
               SHARE, _interval_cv),
        Column("rise", "log of TPS in the second half of the run's slices, or of its seconds by turns, over the first",
               LOG_RATIO, _rise),
        Column("pool_bytes", "size of the server's buffer pool, bytes", BYTES, lambda run: run.pool.pool_bytes),
        Column("table_bytes", "size of the files of all tables before the warm-up, bytes", BYTES,
               lambda run: run.pool.table_bytes),
        Column("pool_used_bytes", "bytes of the pool that held data before the warm-up; empty where unknown", BYTES,
               lambda run: run.pool.used_bytes),
        Column("fill_s", "time in which tables were read into the pool, seconds; empty where they were not", SECONDS,
               lambda run: run.pool.fill_s),
        Column("warnings", "number of warnings of the run", COUNT, lambda run: len(run.warnings)),
        Column("warning_codes", "codes of the warnings, separated by ;", TEXT,
               lambda run: ";".join(str(warning.code) for warning in run.warnings)),
        Column("file", "the run's JSON", TEXT, lambda run: str(run.path)),
        Column("log", "the log that was imported, below the folder of the logs", TEXT,
               lambda run: run.imported["file"] if run.imported else None),
    ),
)  # fmt: skip

SERIES = CsvTable(
    "series",
    "a second of a run",
    (
        *RUN_COLUMNS,
        Column("second", "seconds since sysbench began the measuring call", COUNT, lambda run: run.series.second),
        Column("tps", "transactions in that second", PER_SECOND, lambda run: run.series.tps),
        Column("qps", "statements in that second", PER_SECOND, lambda run: run.series.qps),
        Column("p95_ms", "95th percentile of latency in that second, milliseconds", MILLISECONDS,
               lambda run: run.series.p95_ms),
        Column("errors_per_s", "errors in that second", PER_SECOND, lambda run: run.series.errors_per_s),
    ),
)  # fmt: skip

COUNTER_SERIES = CsvTable(
    "counters",
    "a reading of the server's counters, in runs of a study with `series`",
    (
        *RUN_COLUMNS,
        Column("second", "seconds since sysbench began the measuring call, on the clock of series.csv", SECONDS),
        *(Column(name, what, BYTES if name.endswith("_bytes") else COUNT) for name, what in COUNTERS.items()),
    ),
)

EDGES = {"before": "before the warm-up", "after": "after the measuring call, the server still running"}
FILES = CsvTable(
    "files",
    "a part of a run's data directory",
    (
        *RUN_COLUMNS,
        Column(
            "part",
            "a table with its indexes, as database.table or schema.table, a partition, as database.table#partition, or "
            "all files of the kind",
            TEXT,
        ),
        Column("kind", "table, system, catalog, redo, undo, doublewrite, temporary, binary_log or other", TEXT),
        *(
            Column(f"{edge}_{kind}_bytes", f"{kind} size of these files {when}, bytes", BYTES)
            for kind in ("apparent", "allocated")
            for edge, when in EDGES.items()
        ),
    ),
)

OPERATIONS = CsvTable(
    "operations",
    "an operation of a run, for scripts that name their operations",
    (
        *RUN_COLUMNS,
        Column("operation", "its name in the load's script", TEXT),
        Column("calls", "calls in the whole measuring call of sysbench, its first and last second included", COUNT),
        Column("mean_ms", "mean latency, milliseconds", MILLISECONDS),
        *(
            Column(name, f"{name[1:3]}th percentile of latency, milliseconds; buckets are 5 % wide", MILLISECONDS)
            for name in OPERATION_SHARES
        ),
        Column("max_ms", "longest latency, milliseconds", MILLISECONDS),
    ),
)
