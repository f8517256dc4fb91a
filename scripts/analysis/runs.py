"""Latency by operation: lines that a Lua script prints at the end of a call, as `workloads/linkbench.lua` does.

One line is `operation NAME: N calls, sum T us, longest L us, up to us: LATENCY:CALLS LATENCY:CALLS ...`, where LATENCY
is the upper end of a bucket in µs. Several processes of one load print a line each.
"""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.analysis.metrics import COUNTERS, METRICS, SCRIPT
from scripts.measure.record import cpu_counts, fact, generator_use
from scripts.record import read, write_text
from scripts.sql import times
from scripts.vocabulary import OPERATION_SHARES, RUN


def listed(path: Path) -> list[Path]:
    """Return the paths a list names, one a line."""
    return [Path(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


NETWORK_SIDES = ("server", "client")
NETWORK_COUNTERS = {
    f"{direction}_{kind}_per_s": f"{kind} {word} in the window, a second"
    for kind in ("packets", "bytes")
    for direction, word in (("rx", "received"), ("tx", "sent"))
}
FSYNC_COLUMNS = {"min": "shortest", "p50": "median", "p95": "95th percentile", "max": "longest"}

MEDIUM_COLUMNS: dict[str, tuple[str, str]] = {
    "file_system": ("medium.file_system", "type of the file system with the data directory"),
    **{
        f"fsync_{key}_ms": (
            f"fsync_ms.{key}",
            f"time of an fsync after 4 KiB were overwritten there: {what}, milliseconds",
        )
        for key, what in FSYNC_COLUMNS.items()
    },
}
NETWORK_COLUMNS: dict[str, tuple[str, str]] = {
    f"{side}_{name}": (
        f"client_host.network.{side}.{name}",
        f"{what}, as the {side}'s host counted them; with a client host",
    )
    for side in NETWORK_SIDES
    for name, what in NETWORK_COUNTERS.items()
}


def _sum(*terms: float | None) -> float | None:
    return None if any(term is None for term in terms) else sum(terms)  # type: ignore[arg-type]


def per_transaction_us(seconds: float | None, transactions: int | None) -> float | None:
    """Return microseconds a transaction; None when either is missing or there was no transaction."""
    return seconds / transactions * 1e6 if seconds is not None and transactions else None


def derived(row: dict[str, Any]) -> dict[str, float | None]:
    """Return the columns computed from others of the same run: CPU per transaction in µs, share of steal."""
    user_s, system_s, count = row["server_user_s"], row["server_system_s"], row["transactions"]
    host_s = _sum(row["host_user_s"], row["host_system_s"], row["host_irq_s"])
    client_s = _sum(row["client_user_s"], row["client_system_s"])
    kernel_s = None if host_s is None or client_s is None else host_s - client_s
    capacity_s = row["cpus"] * row["duration_s"] if row["cpus"] and row["duration_s"] else None
    steal_s = row["host_steal_s"]
    return {
        "cpu_us_per_tx": per_transaction_us(_sum(user_s, system_s), count),
        "cpu_user_us_per_tx": per_transaction_us(user_s, count),
        "cpu_system_us_per_tx": per_transaction_us(system_s, count),
        "host_cpu_us_per_tx": per_transaction_us(kernel_s, count),
        "steal_share": None if capacity_s is None or steal_s is None else steal_s / capacity_s,
    }


PHASE_NAMES = (
    *("startup", "wait_lock", "rest", "clone", "drain_clone", "fsync", "start", "load", "warmup", "measure"),
    *("stop", "remove", "drain"),
)
TEXT_COLUMNS = {
    "study", "variant", "workload", "block", "outcome", "reason", "server", "family", "release", "build", "build_id",
    "server_sha256", "sysbench_version", "sysbench_sha256", "machine_id", "boot_id", "warning_codes", "file", "metric",
    "status", "note", "verdict", "file_system", "generator_boot_id", "lowest_workload", "highest_workload",
    "virtualisation", "bound", "operation", "statement", "cache", "answer_sha256",
}  # fmt: skip

# column of runs.csv: (where it stands in a run's JSON, what it means)
FACT_COLUMNS: dict[str, tuple[str, str]] = {
    "study": ("study", "name of the study"),
    "variant": ("variant", "arm of the experiment; aa is the reference a second time"),
    "workload": ("workload", "name of the load"),
    "clients": ("clients", "concurrent connections"),
    "repetition": ("repetition", "number of the repetition, from 1"),
    "block": ("block", "workload/clients/repetition: the runs measured next to each other"),
    "position": ("position", "place in the block's drawn order, from 1"),
    "run_number": ("run_number", "place in the whole planned order, from 1"),
    "outcome": ("outcome", "ok, failed (the server failed), or missing (planned, no file)"),
    "reason": ("reason", "why the run failed"),
    "server": ("server.name", "server that was measured"),
    "family": ("server.family", "mysql, mariadb or postgresql"),
    "release": ("server.release", "release of the server"),
    "build": ("server.build", "way it was compiled"),
    "build_id": ("server.build_id", "GNU build id of the server's program"),
    "server_sha256": ("server.sha256", "SHA-256 of the server's program"),
    "sysbench_version": ("sysbench.version", "version of sysbench"),
    "sysbench_sha256": ("sysbench.sha256", "SHA-256 of the sysbench program"),
    "machine_id": ("host.machine_id", "identity of the host"),
    "boot_id": ("host.boot_id", "identity of the boot of the host"),
    "virtualisation": ("host.virtualisation", "kind of virtual machine the host is, empty for none"),
    "started_at": ("times.started_at", "start of the run's process, seconds since 1970"),
    "window_started_at": ("times.window_started_at", "start of the measured window, seconds since 1970"),
    "window_ended_at": ("times.window_ended_at", "end of the measured window, seconds since 1970"),
    "ended_at": ("times.ended_at", "end of the run, seconds since 1970"),
    "duration_s": ("window.duration_s", "length of the measured window, seconds"),
    "transactions": ("window.transactions", "transactions in the window"),
    "tps": ("window.tps", METRICS["tps"].meaning),
    "latency_mean_ms": ("window.latency_mean_ms", "mean latency, milliseconds"),
    "p50_ms": ("window.p50_ms", METRICS["p50_ms"].meaning),
    "p95_ms": ("window.p95_ms", METRICS["p95_ms"].meaning),
    "p99_ms": ("window.p99_ms", METRICS["p99_ms"].meaning),
    "errors": ("window.errors", "errors sysbench ignored, in the window"),
    "reconnects": ("window.reconnects", "reconnects in the window"),
    "cpus": ("cpu.cpus", "CPUs of the host"),
    **{
        f"{who}_{kind}_s": (f"cpu.{who}_{kind}_s", f"{kind} CPU time of the {who} in the window, seconds")
        for who, kinds in {
            "server": ("user", "system"),
            "client": ("user", "system"),
            "host": ("user", "system", "irq", "steal", "iowait", "idle"),
        }.items()
        for kind in kinds
    },
    **{
        f"pressure_{what}_s": (f"pressure.{what}_some_s", f"time something waited for {what} (PSI), seconds")
        for what in ("cpu", "io", "memory")
    },
    "read_bytes": ("io.read_bytes", "bytes the server read from storage in the window"),
    "write_bytes": ("io.write_bytes", "bytes the server wrote to storage in the window"),
    "context_switches": ("io.context_switches", "context switches of the server in the window"),
    **MEDIUM_COLUMNS,
    **NETWORK_COLUMNS,
    **{f"phase_{name}_s": (f"phases_s.{name}", f"length of the phase {name}, seconds") for name in PHASE_NAMES},
}

DERIVED_COLUMNS: dict[str, str] = {
    **{name: f"{METRICS[name].meaning}; {METRICS[name].unit}" for name in METRICS if name.endswith("_us_per_tx")},
    "n_server_cpus": "CPUs the server could run on",
    "n_client_cpus": "CPUs sysbench could run on",
    "n_shared_cpus": "CPUs both could run on",
    "generator_cpu_s": "CPU time of sysbench in the window on the host it ran on, seconds",
    "generator_boot_id": "identity of the boot of the host that sysbench ran on",
    **{metric.name: metric.meaning for metric in SCRIPT.values()},
    "steal_share": "share of all CPU time of the window that the hypervisor gave to others",
    "warnings": "number of warnings of the run",
    "warning_codes": "codes of the warnings, separated by ;",
    "file": "the run's JSON",
}

SERIES_COLUMNS: dict[str, str] = {
    **{name: FACT_COLUMNS[name][1] for name in RUN},
    "second": "seconds since sysbench began the measuring call",
    "tps": "transactions in that second",
    "qps": "statements in that second",
    "p95_ms": "95th percentile of latency in that second, milliseconds",
    "errors_per_s": "errors in that second",
}


def run_row(facts: dict[str, Any], file: str) -> dict[str, Any]:
    """Return one row of runs.csv from the raw facts of a run."""
    row = {column: fact(facts, where) for column, (where, _) in FACT_COLUMNS.items()}
    warnings = facts.get("warnings") or []
    codes = ";".join(str(warning["code"]) for warning in warnings)
    told = {"warnings": len(warnings), "warning_codes": codes, "file": file}
    return {**row, **derived(row), **cpu_counts(facts), **generator_use(facts), **times.columns(facts), **told}


def missing_rows(study: dict[str, Any], known: set[tuple]) -> list[dict[str, Any]]:
    """Return a row for every run of the planned order that has no file: a hole must be seen."""
    planned = [
        (variant, workload, clients, repetition)
        for workload, clients, repetition, variants in study.get("order") or []
        for variant in variants
    ]
    told = {"outcome": "missing", "reason": "not measured yet" if study.get("partial") else "no run file"}
    return [
        {"study": study["study"], **dict(zip(RUN, run, strict=True)), "run_number": number, **told}
        for number, run in enumerate(planned, start=1)
        if run not in known
    ]


def collect(study: dict[str, Any], records: Iterable[tuple[str, dict[str, Any]]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return (runs, series) from pairs of file name and raw facts.

    Raises ValueError when two files describe the same run or a run belongs to no variant of the study.
    """
    rows, series, files, timed = [], [], {}, {}
    for file, facts in records:
        key = tuple(facts[name] for name in RUN)
        if key in files:
            raise ValueError(f"{file} and {files[key]} both describe run {key}; expected one file a run")
        if facts["variant"] not in study["variants"]:
            raise ValueError(f"{file}: variant {facts['variant']!r}, expected one of {', '.join(study['variants'])}")
        files[key] = file
        rows.append(run_row(facts, file))
        if "timed_sql" in facts:
            timed.setdefault(facts["workload"], []).append((rows[-1], facts["timed_sql"]["executions"]))
        series += series_rows(facts)
    for several in timed.values():
        times.count_common(several)
    rows += missing_rows(study, set(files))
    runs = pd.DataFrame(rows, columns=[*FACT_COLUMNS, *DERIVED_COLUMNS]).sort_values(
        ["run_number", *RUN], ignore_index=True
    )
    return runs, pd.DataFrame(series, columns=list(SERIES_COLUMNS))


def series_rows(facts: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one row a second of a run's per-second reports; none when the run has none."""
    series = facts.get("series") or {}
    key = {name: facts[name] for name in RUN}
    columns = [name for name in SERIES_COLUMNS if name not in RUN]
    values = zip(*(series.get(name) or [] for name in columns), strict=True) if series else ()
    return [{**key, **dict(zip(columns, row, strict=True))} for row in values]


def read_records(paths: Iterable[Path], without: Collection[str] = ()) -> Iterable[tuple[str, dict[str, Any]]]:
    """Yield (file name, raw facts) of run files, without some of the facts: 10 000 whole files take a gigabyte."""
    for path in paths:
        yield str(path), {name: value for name, value in read(path).items() if name not in without}


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    """Write a table under a temporary name, then rename; missing values are empty fields."""
    write_text(path, frame.to_csv(index=False))


def read_csv(path: Path) -> pd.DataFrame:
    """Read a table; only an empty field is missing, so that a variant may be called `nan`."""
    types = dict.fromkeys(TEXT_COLUMNS, str)
    return pd.read_csv(path, keep_default_na=False, na_values=[""], dtype=types)


SECOND_COLUMN = "seconds since sysbench began the measuring call, on the clock of series.csv"
SAMPLE_COLUMNS: dict[str, str] = {**{name: FACT_COLUMNS[name][1] for name in RUN}, "second": SECOND_COLUMN, **COUNTERS}
EDGE_COLUMNS = {"before": "before the warm-up", "after": "after the measuring call, the server still running"}
FILE_COLUMNS: dict[str, str] = {
    **{name: FACT_COLUMNS[name][1] for name in RUN},
    "part": "a table with its indexes, as database.table or schema.table, or all files of the kind",
    "kind": "table, system, redo, undo, doublewrite, temporary, binary_log or other",
    **{
        f"{edge}_{kind}_bytes": f"{how} size of these files {when}, bytes"
        for kind, how in {"apparent": "apparent", "allocated": "allocated"}.items()
        for edge, when in EDGE_COLUMNS.items()
    },
}


def sample_table(records: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Return counters.csv: what was read every second of the runs that were asked to.

    Raises ValueError naming a counter that no column is for.
    """
    frames = [_sample_rows(facts) for facts in records if facts.get("counter_series")]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=list(SAMPLE_COLUMNS))


def _sample_rows(facts: dict[str, Any]) -> pd.DataFrame:
    found = pd.DataFrame(facts["counter_series"])
    if unknown := set(found) - set(SAMPLE_COLUMNS):
        raise ValueError(f"counter_series: {', '.join(sorted(unknown))} unknown, expected {', '.join(COUNTERS)}")
    return found.assign(**{name: facts[name] for name in RUN}).reindex(columns=list(SAMPLE_COLUMNS))


def file_table(records: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Return files.csv: a row a part of each run's data directory, empty fields where it was not there."""
    rows = [row for facts in records for row in _file_rows(facts)]
    return pd.DataFrame(rows, columns=list(FILE_COLUMNS))


def _file_rows(facts: dict[str, Any]) -> Iterable[dict[str, Any]]:
    sides = {edge: (facts.get("files") or {}).get(edge) or {} for edge in EDGE_COLUMNS}
    for part in sorted({*sides["before"], *sides["after"]}):
        there = {edge: side[part] for edge, side in sides.items() if part in side}
        sized = {f"{edge}_{name}": size for edge, one in there.items() for name, size in one.items() if name != "kind"}
        yield {**{name: facts[name] for name in RUN}, "part": part, "kind": next(iter(there.values()))["kind"], **sized}


OPERATION_COLUMNS: dict[str, str] = {
    **{name: FACT_COLUMNS[name][1] for name in RUN},
    "operation": "its name in the load's script",
    "calls": "calls in the whole measuring call of sysbench, its first and last second included",
    "mean_ms": "mean latency, milliseconds",
    **{name: f"{name[1:3]}th percentile of latency, milliseconds; buckets are 5 % wide" for name in OPERATION_SHARES},
    "max_ms": "longest latency, milliseconds",
}


def operation_table(records: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Return operations.csv: one row a run and operation, of those runs whose load tells them apart."""
    rows = [
        {**{name: facts[name] for name in RUN}, "operation": name, **measured}
        for facts in records
        for name, measured in (facts.get("operations") or {}).items()
    ]
    return pd.DataFrame(rows, columns=list(OPERATION_COLUMNS))
