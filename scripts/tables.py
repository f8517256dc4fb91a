"""Tidy tables from the raw facts of runs: one row a run, one row a second; and what every column means."""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from scripts import sql_times
from scripts.metrics import METRICS, SCRIPT
from scripts.place_columns import MEDIUM, NETWORK
from scripts.record import read, write_text
from scripts.run_columns import derived, fact, generated, placed

RUN = ("variant", "workload", "clients", "repetition")
BLOCK = ("workload", "clients", "repetition")
CELL = ("variant", "workload", "clients")
PHASES = (
    *("startup", "wait_lock", "rest", "clone", "drain_clone", "fsync", "start", "load", "warmup", "measure"),
    *("stop", "remove", "drain"),
)
TEXT = {
    "study", "variant", "workload", "block", "outcome", "reason", "server", "family", "release", "build", "build_id",
    "server_sha256", "sysbench_version", "sysbench_sha256", "machine_id", "boot_id", "warning_codes", "file", "metric",
    "status", "note", "word", "file_system", "generator_boot_id", "lowest_workload", "highest_workload",
    "virtualisation", "bound", "operation", "statement", "cache", "answer_sha256",
}  # fmt: skip

# column of runs.csv: (where it stands in a run's JSON, what it means)
FACTS: dict[str, tuple[str, str]] = {
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
    **MEDIUM,
    **NETWORK,
    **{f"phase_{name}_s": (f"phases_s.{name}", f"length of the phase {name}, seconds") for name in PHASES},
}

DERIVED: dict[str, str] = {
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

SERIES: dict[str, str] = {
    **{name: FACTS[name][1] for name in RUN},
    "second": "seconds since sysbench began the measuring call",
    "tps": "transactions in that second",
    "qps": "statements in that second",
    "p95_ms": "95th percentile of latency in that second, milliseconds",
    "errors_per_s": "errors in that second",
}


def run_row(facts: dict[str, Any], file: str) -> dict[str, Any]:
    """Return one row of runs.csv from the raw facts of a run."""
    row = {column: fact(facts, where) for column, (where, _) in FACTS.items()}
    warnings = facts.get("warnings") or []
    codes = ";".join(str(warning["code"]) for warning in warnings)
    told = {"warnings": len(warnings), "warning_codes": codes, "file": file}
    return {**row, **derived(row), **placed(facts), **generated(facts), **sql_times.columns(facts), **told}


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
        sql_times.count_common(several)
    rows += missing_rows(study, set(files))
    runs = pd.DataFrame(rows, columns=[*FACTS, *DERIVED]).sort_values(["run_number", *RUN], ignore_index=True)
    return runs, pd.DataFrame(series, columns=list(SERIES))


def series_rows(facts: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one row a second of a run's per-second reports; none when the run has none."""
    series = facts.get("series") or {}
    key = {name: facts[name] for name in RUN}
    columns = [name for name in SERIES if name not in RUN]
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
    types = dict.fromkeys(TEXT, str)
    return pd.read_csv(path, keep_default_na=False, na_values=[""], dtype=types)
