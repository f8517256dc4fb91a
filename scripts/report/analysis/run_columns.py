"""The columns of the tables made of the records of runs: runs.csv, series.csv, counters.csv, files.csv, operations.csv.

A column of runs.csv has the function that takes its value from a record.
"""

import math
import statistics
import typing
from collections.abc import Callable
from functools import partial
from operator import attrgetter

from scripts.lib.vocabulary import COLD, OPERATION_SHARES, WARM
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


def block_name(name: str | None, workload: str | None, clients: int | None, repetition: int | None) -> str:
    """Return the name of a run's block; runs of imported logs have none, and are told apart by their repetition."""
    return name or f"{workload}/{clients}/{repetition}"


def _total(*seconds: float | None) -> float | None:
    """Return the sum; None if any is missing."""
    present = [second for second in seconds if second is not None]
    return sum(present) if len(present) == len(seconds) else None


def _kernel_s(run: Run) -> float | None:
    """Return the CPU seconds of the host in the window without those of sysbench."""
    host = _total(run.cpu.host_user_s, run.cpu.host_system_s, run.cpu.host_irq_s)
    client = _total(run.cpu.client_user_s, run.cpu.client_system_s)
    return None if host is None or client is None else host - client


def _steal_share(run: Run) -> float | None:
    steal_s, cpus, duration_s = run.cpu.host_steal_s, run.cpu.cpus, run.window.duration_s
    return steal_s / (cpus * duration_s) if steal_s is not None and cpus and duration_s else None


def _statements_s(run: Run, cache: str) -> float | None:
    return times.totals_s(run.timed_sql.executions or []).get(cache)


SUFFIXES = {"_bytes_per_s": BYTES_PER_SECOND, "_per_s": PER_SECOND, "_s": SECONDS, "_ms": MILLISECONDS,
            "_bytes": BYTES}  # fmt: skip
KINDS = {str: TEXT, int: COUNT, float: NUMBER}


def _of(path: str, meaning: str, unit: str = "", name: str = "") -> Column:
    """Return the column of a field of a run's record, `cpu.server_user_s`, under its last name or another.

    Its unit is what the field's name ends with, else that of its type: text, count or number.
    """
    field = path.rpartition(".")[2]
    of_name = next((unit for end, unit in SUFFIXES.items() if field.endswith(end)), "")
    return Column(name or field, meaning, unit or of_name or KINDS[_type_of(path)], attrgetter(path))


def _type_of(path: str) -> type:
    """Return the type of a field of a run's record or of a part of it, without None."""
    kind: type = Run
    for field in path.split("."):
        hint = typing.get_type_hints(kind).get(field) or typing.get_type_hints(getattr(kind, field).fget)["return"]
        kind = next(option for option in (*typing.get_args(hint), hint) if option is not type(None))
    return kind


def _metric(path: str, unit: str = "") -> Column:
    """Return the column of a field of a run's record that is a metric."""
    return _of(path, EVERY[path.rpartition(".")[2]].meaning, unit)


def _computed_metric(name: str, unit: str, value: Callable[[Run], float | None]) -> Column:
    return Column(name, EVERY[name].meaning, unit, value)


def _per_transaction(name: str, seconds_of: Callable[[Run], float | None]) -> Column:
    """Return the column of CPU seconds over the transactions of the window, empty if either is missing."""

    def value(run: Run) -> float | None:
        seconds, count = seconds_of(run), run.window.transactions
        return None if seconds is None or not count else seconds / count * 1e6

    return Column(name, f"{METRICS[name].meaning}; {METRICS[name].unit}", MICROSECONDS_PER_TX, value)


def _traffic(side: str) -> list[Column]:
    where = f"in the window, a second, as the {side}'s host counted them; with a client host"
    return [
        _of(f"client_host.network.{side}.{way}_{what}_per_s", f"{what} {how} {where}", "", f"{side}_{way}_{what}_per_s")
        for what in ("packets", "bytes")
        for way, how in (("rx", "received"), ("tx", "sent"))
    ]


def _fsync(key: str, what: str) -> Column:
    meaning = f"time of an fsync after 4 KiB were overwritten there: {what}, milliseconds"
    return _of(f"fsync_ms.{key}", meaning, MILLISECONDS, f"fsync_{key}_ms")


def _per_s_of_disk(name: str, run: Run) -> float | None:
    return (run.sliced.disk_per_s or {}).get(name)


def _phase_s(name: str, run: Run) -> float | None:
    return run.phases_s.get(name)


def _in_half(run: Run, half: int) -> int | None:
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


VARIANT = _of("variant", "arm of the experiment; aa is the reference a second time")
WORKLOAD = _of("workload", "name of the load")
CLIENTS = _of("clients", "concurrent connections")
REPETITION = _of("repetition", "number of the repetition, from 1")
BLOCK = Column("block", "the runs measured together, with a reference of their own", TEXT,
               lambda run: block_name(run.block, run.workload, run.clients, run.repetition))  # fmt: skip
RUN_COLUMNS = (VARIANT, WORKLOAD, CLIENTS, REPETITION, BLOCK)
RUNS = CsvTable("runs", "a run", (
    _of("study", "name of the study"),
    *RUN_COLUMNS,
    _of("position", "place in the block's drawn order, from 1"),
    _of("run_number", "place in the whole planned order, from 1"),
    _of("outcome", "ok, failed (the server failed), or missing (planned, no file)"),
    _of("reason", "why the run failed"),
    Column("failure", "option: the server refuses an option; value: it runs with another value of one; not_started: it "
           "ends before it is ready; empty for other "
           "failures", TEXT, lambda run: run.failure.kind if run.comes_again else None),
    Column("cause", "what the server said of such a "
           "failure", TEXT, lambda run: run.failure.cause if run.comes_again else None),
    _of("server.name", "server that was measured", name="server"),
    _of("server.family", "mysql, mariadb or postgresql"),
    _of("server.release", "release of the server"),
    _of("server.build", "way it was compiled"),
    _of("server.build_id", "GNU build id of the server's program"),
    _of("server.sha256", "SHA-256 of the server's program", name="server_sha256"),
    _of("sysbench.version", "version of sysbench", name="sysbench_version"),
    _of("sysbench.sha256", "SHA-256 of the sysbench program", name="sysbench_sha256"),
    _of("host.machine_id", "identity of the host"),
    _of("host.boot_id", "identity of the boot of the host"),
    _of("host.virtualisation", "kind of virtual machine the host is, empty for none"),
    _of("times.started_at", "start of the run's process, seconds since 1970", UNIX_TIME),
    _of("times.window_started_at", "start of the measured window, seconds since 1970", UNIX_TIME),
    _of("times.window_ended_at", "end of the measured window, seconds since 1970", UNIX_TIME),
    _of("times.ended_at", "end of the run, seconds since 1970", UNIX_TIME),
    _of("window.duration_s", "length of the measured window, seconds"),
    _of("window.transactions", "transactions in the window"),
    _metric("window.tps", PER_SECOND),
    _computed_metric("qps", PER_SECOND, _queries_per_s),
    _metric("window.latency_mean_ms"),
    _metric("window.p50_ms"),
    _metric("window.p95_ms"),
    _metric("window.p99_ms"),
    _of("window.errors", "errors sysbench ignored, in the window"),
    _of("window.reconnects", "reconnects in the window"),
    _of("counts_of", "whose counts of transactions and latency: gate or sysbench", TEXT, name="counted_by"),
    _of("cpu.cpus", "CPUs of the host"),
    _of("cpu.server_user_s", "user CPU time of the server in the window, seconds"),
    _of("cpu.server_system_s", "system CPU time of the server in the window, seconds"),
    _of("cpu.client_user_s", "user CPU time of the client in the window, seconds"),
    _of("cpu.client_system_s", "system CPU time of the client in the window, seconds"),
    _of("cpu.host_user_s", "user CPU time of the host in the window, seconds"),
    _of("cpu.host_system_s", "system CPU time of the host in the window, seconds"),
    _of("cpu.host_irq_s", "irq CPU time of the host in the window, seconds"),
    _of("cpu.host_steal_s", "steal CPU time of the host in the window, seconds"),
    _of("cpu.host_iowait_s", "iowait CPU time of the host in the window, seconds"),
    _of("cpu.host_idle_s", "idle CPU time of the host in the window, seconds"),
    _of("pressure.cpu_some_s", "time something waited for cpu (PSI), seconds", name="pressure_cpu_s"),
    _of("pressure.io_some_s", "time something waited for io (PSI), seconds", name="pressure_io_s"),
    _of("pressure.memory_some_s", "time something waited for memory (PSI), seconds", name="pressure_memory_s"),
    _of("io.read_bytes", "bytes the server read from storage in the window"),
    _of("io.write_bytes", "bytes the server wrote to storage in the window"),
    _of("io.context_switches", "context switches of the server in the window"),
    *(Column(name, f"{what} of the server when it was up; empty where unknown", unit,
             attrgetter(f"supplies.{name}")) for name, (what, unit) in SUPPLIES.items()),
    _of("medium.file_system", "type of the file system with the data directory"),
    _fsync("min", "shortest"),
    _fsync("p50", "median"),
    _fsync("p95", "95th percentile"),
    _fsync("max", "longest"),
    *_traffic("server"),
    *_traffic("client"),
    *(Column(f"phase_{name}_s", f"length of the phase {name}, seconds", SECONDS,
             partial(_phase_s, name)) for name in PHASE_NAMES),
    _per_transaction("cpu_us_per_tx", lambda run: _total(run.cpu.server_user_s, run.cpu.server_system_s)),
    _per_transaction("cpu_user_us_per_tx", lambda run: run.cpu.server_user_s),
    _per_transaction("cpu_system_us_per_tx", lambda run: run.cpu.server_system_s),
    _per_transaction("host_cpu_us_per_tx", _kernel_s),
    _of("n_server_cpus", "CPUs the server could run on"),
    _of("n_client_cpus", "CPUs sysbench could run on"),
    _of("n_shared_cpus", "CPUs both could run on"),
    _of("generator_cpu_s", "CPU time of sysbench in the window on the host it ran on, seconds"),
    _of("generator_boot_id", "identity of the boot of the host that sysbench ran on"),
    _metric("slow_stop_s"),
    _computed_metric("cold_s", SECONDS, lambda run: _statements_s(run, COLD)),
    _computed_metric("warm_s", SECONDS, lambda run: _statements_s(run, WARM)),
    Column("steal_share", "share of all CPU time of the window that the hypervisor gave to "
           "others", SHARE, _steal_share),
    _of("sliced.method", "slices, statements: beside the other runs of its block; turns, empty: one after the other"),
    _of("sliced.why", "why the run was measured by turns; empty in slices and where it is not recorded"),
    _of("sliced.turned_by", f"{' or '.join(DISK)}, for which a block planned in slices went by turns"),
    *(Column(f"disk_{name}_per_s", f"{what} per second of the block's reference while it warmed up, by its own "
             "counters; empty where it was not counted", unit, partial(_per_s_of_disk, name))
      for name, (what, unit) in DISK.items()),
    _of("sliced.rounds", "slices of the run, or statements sent to it; empty by turns"),
    _of("sliced.slice_s", "length of a slice, seconds"),
    _of("sliced.open_s", "time in which the run's clients were let through, seconds"),
    _of("sliced.tps_log_sd", "standard error of log TPS that the run's slices alone account for; empty by "
        "turns", LOG_RATIO),
    _of("sliced.tps_trimmed", "10 % trimmed mean over the slices of transactions per second", PER_SECOND),
    _of("sliced.waiting_cpu_s", "CPU time of the server while it was stopped, seconds; must be 0"),
    *(Column(f"{half}_transactions", f"transactions completed in the {which} half of the run's slices", COUNT,
             partial(_in_half, half=number))
      for number, (half, which) in enumerate((("early", "first"), ("late", "second")))),
    Column("interval_cv", "standard deviation over mean of TPS of the run's slices, or of its seconds by "
           "turns", SHARE, _interval_cv),
    Column("rise", "log of TPS in the second half of the run's slices, or of its seconds by turns, over the "
           "first", LOG_RATIO, _rise),
    _of("pool.pool_bytes", "size of the server's buffer pool, bytes"),
    _of("pool.table_bytes", "size of the files of all tables before the warm-up, bytes"),
    _of("pool.used_bytes", "bytes of the pool that held data before the warm-up; empty where unknown",
        name="pool_used_bytes"),
    _of("pool.fill_s", "time in which tables were read into the pool, seconds; empty where they were not"),
    Column("warnings", "number of warnings of the run", COUNT, lambda run: len(run.warnings)),
    Column("warning_codes", "codes of the warnings, separated by "
           ";", TEXT, lambda run: ";".join(str(warning.code) for warning in run.warnings)),
    Column("file", "the run's JSON", TEXT, lambda run: str(run.path)),
    Column("log", "the log that was imported, below the folder of the "
           "logs", TEXT, lambda run: run.imported["file"] if run.imported else None),
))  # fmt: skip

SERIES = CsvTable("series", "a second of a run", (
    *RUN_COLUMNS,
    _of("series.second", "seconds since sysbench began the measuring call", COUNT),
    _of("series.tps", "transactions in that second", PER_SECOND),
    _of("series.qps", "statements in that second", PER_SECOND),
    _of("series.p95_ms", "95th percentile of latency in that second, milliseconds"),
    _of("series.errors_per_s", "errors in that second"),
))  # fmt: skip

COUNTER_SERIES = CsvTable("counters", "a reading of the server's counters, in runs of a study with `series`", (
    *RUN_COLUMNS,
    Column("second", "seconds since sysbench began the measuring call, on the clock of series.csv", SECONDS),
    *(Column(name, what, BYTES if name.endswith("_bytes") else COUNT) for name, what in COUNTERS.items()),
))  # fmt: skip

EDGES = {"before": "before the warm-up", "after": "after the measuring call, the server still running"}
FILES = CsvTable("files", "a part of a run's data directory", (
    *RUN_COLUMNS,
    Column("part", "a table with its indexes, as database.table or schema.table, a partition, as "
           "database.table#partition, or all files of the kind", TEXT),
    Column("kind", "table, system, catalog, redo, undo, doublewrite, temporary, binary_log or other", TEXT),
    *(
        Column(f"{edge}_{kind}_bytes", f"{kind} size of these files {when}, bytes", BYTES)
        for kind in ("apparent", "allocated")
        for edge, when in EDGES.items()
    ),
))  # fmt: skip

OPERATIONS = CsvTable("operations", "an operation of a run, for scripts that name their operations", (
    *RUN_COLUMNS,
    Column("operation", "its name in the load's script", TEXT),
    Column("calls", "calls in the whole measuring call of sysbench, its first and last second included", COUNT),
    Column("mean_ms", "mean latency, milliseconds", MILLISECONDS),
    *(
        Column(name, f"{name[1:3]}th percentile of latency, milliseconds; buckets are 5 % wide", MILLISECONDS)
        for name in OPERATION_SHARES
    ),
    Column("max_ms", "longest latency, milliseconds", MILLISECONDS),
))  # fmt: skip
