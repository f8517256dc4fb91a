"""The record of one made-up run, as the JSON object that its file holds, and as a value."""

import math
import random
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.measure.engine.run_record import Run

WORKLOADS = {
    "simple_select": ("oltp_read_only", 8900.0, {"point_selects": 1, "range_selects": "off", "skip_trx": "on"}),
    "non_index_update": ("oltp_read_write", 3700.0, {"point_selects": 0, "non_index_updates": 1}),
    "index_update": ("oltp_read_write", 3500.0, {"point_selects": 0, "index_updates": 1}),
    "oltp": ("oltp_read_write", 610.0, {"point_selects": 1, "range_size": 10}),
}
SPEEDUP = {"simple_select": 1.55, "non_index_update": 1.43, "index_update": 1.38, "oltp": 1.31}
PHASES_S = {
    "startup": 0.35,
    "wait_lock": 0.01,
    "clone": 0.22,
    "drain_clone": 0.3,
    "start": 0.6,
    "warmup": 3.05,
    "measure": 6.06,
    "stop": 0.9,
    "remove": 0.05,
    "drain": 0.2,
}
SYSBENCH = {"version": "1.0.20", "path": "sysbench", "sha256": "5b" * 32}
SETTINGS = {
    "placement": {"mode": "automatic", "server_cpus": [0], "client_cpus": [1]},
    "option_file": "[mysqld]\ninnodb_buffer_pool_size=1G\nskip-networking\n",
    "variables": {"innodb_buffer_pool_size": "1073741824", "version": "10.11.18"},
}
QUIET = {
    "pressure": {"cpu_some_s": 0.4, "io_some_s": 0.0, "memory_some_s": 0.0},
    "memory": {
        "available_mib_before": 5200,
        "available_mib_after": 5100,
        "swap_used_mib_before": 0,
        "swap_used_mib_after": 0,
    },
    "counters": {"dirty_pages": {"before": 1, "after": 5}},
    "io": {"read_bytes": 0, "write_bytes": 1_048_576, "context_switches": 40_000},
}


@dataclass(frozen=True)
class Asked:
    """The run to make up: `effect` is the exponent of the workload's gain, `level` the machine's drift in log units."""

    study: str
    variant: str
    workload: str
    clients: int
    repetition: int
    effect: float
    level: float
    noise: float
    now: float


def record_of(facts: dict[str, Any], file: str = "1.json") -> Run:
    """Return a JSON object as the record of a run that was read from `file`."""
    return Run.of({**facts, "path": Path(file)})


def records_of(objects: Iterable[dict[str, Any]]) -> list[Run]:
    """Return JSON objects as records that were read from 0.json, 1.json, and so on."""
    return [record_of(facts, f"{number}.json") for number, facts in enumerate(objects)]


def one_run(run: Asked, chance: random.Random) -> dict[str, Any]:
    """Return the facts of one ok run."""
    gain = SPEEDUP[run.workload] ** run.effect
    curve = run.clients / (run.clients + 4.0) * 1.5
    tps = WORKLOADS[run.workload][1] * curve * gain * math.exp(run.level + chance.gauss(0, run.noise))
    window = window_of(tps, run, chance)
    steal = abs(chance.gauss(0, 0.012))
    names = {"study": run.study, "variant": run.variant, "workload": run.workload}
    return {
        "format": 1,
        "outcome": "ok",
        "reason": None,
        **names,
        "clients": run.clients,
        "repetition": run.repetition,
        "block": f"{run.workload}/{run.clients}/{run.repetition}",
        "recipe": names,
        "server": server(run.variant),
        "sysbench": {**SYSBENCH, "text_file": f"{run.repetition}.txt"},
        "host": host(),
        "commands": commands(run.variant, run.workload, run.clients),
        **SETTINGS,
        "times": {
            "started_at": run.now,
            "window_started_at": run.now + 5,
            "window_ended_at": run.now + 5 + window["duration_s"],
            "ended_at": run.now + sum(PHASES_S.values()),
        },
        "phases_s": PHASES_S,
        "window": window,
        "series": series(window, chance),
        "histogram": {"latency_ms": [window["p50_ms"] * k / 10 for k in range(5, 20)], "count": list(range(15, 0, -1))},
        "cpu": cpu(window["duration_s"], gain, steal, chance),
        **QUIET,
        "warnings": steal_warning(steal),
    }


def window_of(tps: float, run: Asked, chance: random.Random) -> dict[str, float]:
    """Return the window; latency follows from clients and TPS (Little's law)."""
    latency_ms, duration_s = run.clients / tps * 1000, PHASES_S["measure"] - 1.06
    return {
        "duration_s": duration_s,
        "transactions": round(tps * duration_s),
        "tps": tps,
        "latency_mean_ms": latency_ms,
        "p50_ms": latency_ms * 0.93,
        "p95_ms": latency_ms * 1.7 * (1 + abs(chance.gauss(0, run.noise))),
        "p99_ms": latency_ms * 2.6,
        "errors": 0,
        "reconnects": 0,
    }


def variant(name: str) -> dict[str, Any]:
    """Return the declaration of one arm."""
    build = "baseline" if name in ("baseline", "aa", "relinked") else name
    return {"server": "mariadb-10.11", "build": build, "options": {"innodb_buffer_pool_size": "1G"}, "storage": "disk"}


def steal_warning(steal: float) -> list[dict[str, Any]]:
    """Return the warning if the hypervisor took more than 2 % of the window."""
    if steal <= 0.02:
        return []
    text = f"the hypervisor gave {steal:.1%} of the window's CPU time to others"
    return [{"code": "steal", "text": text, "value": steal, "threshold": 0.02}]


def cpu(duration_s: float, gain: float, steal: float, chance: random.Random) -> dict[str, float]:
    """Return CPU seconds over the window on two CPUs: one for the server, one for the client."""
    wobble = 1 + chance.gauss(0, 0.005)
    return {
        "cpus": 2,
        "server_user_s": duration_s * 0.55 * wobble,
        "server_system_s": duration_s * 0.43 * gain**0.6,
        "client_user_s": duration_s * 0.3,
        "client_system_s": duration_s * 0.25,
        "host_user_s": duration_s * 0.86,
        "host_system_s": duration_s * 0.7,
        "host_irq_s": duration_s * 0.02,
        "host_steal_s": 2 * duration_s * steal,
        "host_iowait_s": 0.0,
        "host_idle_s": duration_s * 0.4,
    }


def series(window: dict[str, float], chance: random.Random) -> dict[str, list[float]]:
    """Return per-second reports."""
    seconds = round(window["duration_s"])
    rates = [window["tps"] * (1 + chance.gauss(0, 0.03)) for _ in range(seconds)]
    return {
        "second": list(range(1, seconds + 1)),
        "tps": rates,
        "qps": [rate * 2 for rate in rates],
        "p95_ms": [window["p95_ms"]] * seconds,
        "errors_per_s": [0.0] * seconds,
    }


def server(name: str) -> dict[str, str]:
    """Return the identity of the server of a variant."""
    build = variant(name)["build"]
    return {
        "name": "mariadb-10.11",
        "family": "mariadb",
        "release": "10.11.18",
        "build": build,
        "build_id": build.encode().hex().ljust(40, "0"),
        "sha256": build.encode().hex().ljust(64, "1"),
    }


def host() -> dict[str, Any]:
    """Return the facts of the host."""
    return {
        "hostname": "bench",
        "machine_id": "machine-1",
        "boot_id": "boot-1",
        "kernel": "6.1.0-40-amd64",
        "cpu_model": "AMD EPYC 7B13",
        "cpus": 2,
        "memory_mib": 7900,
        "virtualisation": "kvm",
        "governor": None,
        "thp": "madvise",
        "swap_mib": 0,
        "numa_nodes": 1,
        "smt": False,
        "clocksource": "kvm-clock",
    }


def commands(name: str, workload: str, clients: int) -> dict[str, list[str]]:
    """Return the command lines of a run."""
    load = ["sysbench", WORKLOADS[workload][0], f"--threads={clients}", "--tables=4", "--table-size=100000"]
    return {
        "server": [f"builds/{name}/bin/mariadbd", "--defaults-file=my.cnf"],
        "warmup": [*load, "--time=3", "run"],
        "measure": [*load, "--time=6", "--report-interval=1", "--histogram", "run"],
    }


def failed(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the run as if its server had died: it keeps the planned values and no measured ones."""
    planned = list(facts)[: list(facts).index("server") + 1]
    planned += ["sysbench", "host", "placement", "position", "run_number", "runs_total"]
    planned_facts = {key: value if key in planned else None for key, value in facts.items()}
    times = {key: facts["times"][key] for key in ("started_at", "ended_at")}
    failure = {"outcome": "failed", "reason": "server died with signal 11 during warm-up"}
    return {**planned_facts, "times": times, "phases_s": {"startup": 0.35}, **failure}
