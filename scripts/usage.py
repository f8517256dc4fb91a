"""What machine, server and load generator have used so far, and the difference between two such samples."""

import os
import re
import time
from dataclasses import dataclass, field, fields
from pathlib import Path

from scripts import traffic
from scripts.host import meminfo_mib
from scripts.process_times import ProcessTimes, process_times, together

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PRESSURES = ("cpu", "io", "memory")
PROCESS_CPU = ("user_s", "system_s")


@dataclass(frozen=True)
class CpuTimes:
    """Seconds of all CPUs together since boot, from /proc/stat; `user_s` includes nice, `irq_s` includes softirq."""

    user_s: float
    system_s: float
    irq_s: float
    steal_s: float
    iowait_s: float
    idle_s: float


@dataclass(frozen=True)
class Sample:
    """One moment.

    `pressure_s` is the PSI stall total ("some") by resource, None where the kernel has none; `network` that of
    `scripts.traffic.counters`, `oom_kills` that of `oom_kills`.
    """

    monotonic_s: float
    host: CpuTimes
    server: ProcessTimes
    client: ProcessTimes
    pressure_s: dict[str, float | None]
    available_mib: float
    swap_used_mib: float
    oom_kills: int | None = None
    network: dict[str, dict[str, int]] = field(default_factory=dict)


def sample(server_pid: int, *client_pids: int) -> Sample:
    """Take a sample now; CPU times first, because reading the rest takes milliseconds.

    Raises psutil.NoSuchProcess when server or client is gone.
    """
    now_s = time.monotonic()
    host = cpu_times()
    server, client = process_times(server_pid), together([process_times(pid) for pid in client_pids])
    memory_mib = meminfo_mib()
    return Sample(
        monotonic_s=now_s,
        host=host,
        server=server,
        client=client,
        pressure_s={resource: pressure_s(resource) for resource in PRESSURES},
        available_mib=memory_mib["MemAvailable"],
        swap_used_mib=memory_mib["SwapTotal"] - memory_mib["SwapFree"],
        oom_kills=oom_kills(),
        network=traffic.counters(),
    )


def cpu_times(root: Path = Path("/")) -> CpuTimes:
    """Read the first line of /proc/stat (proc_stat(5)); guest time is already in user and nice."""
    ticks = [int(number) for number in (root / "proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    user, nice, system, idle, iowait, irq, softirq, steal = (tick / TICKS_PER_S for tick in ticks[:8])
    return CpuTimes(user + nice, system, irq + softirq, steal, iowait, idle)


def pressure_s(resource: str, root: Path = Path("/")) -> float | None:
    """Return for how long some task has waited for `resource` since boot (PSI); None without PSI."""
    try:
        text = (root / "proc/pressure" / resource).read_text()
    except OSError:
        return None
    match = re.search(r"^some .*total=(\d+)$", text, re.MULTILINE)
    return int(match[1]) / 1e6 if match else None


def oom_kills(root: Path = Path("/")) -> int | None:
    """Return how many processes the kernel has killed for lack of memory since boot; None before Linux 4.13.

    Those beyond a cgroup's limit are counted too: `oom_kill` in /proc/vmstat (proc_vmstat(5)).
    """
    match = re.search(r"^oom_kill (\d+)$", (root / "proc/vmstat").read_text(), re.MULTILINE)
    return int(match[1]) if match else None


def difference(before: Sample, after: Sample) -> dict[str, dict]:
    """Return what was used between two samples: the parts `cpu`, `pressure`, `memory` and `io` of a run's facts.

    Keys and units are those of the run file; None where either sample has none.
    """
    host, server, client = (_minus(getattr(after, who), getattr(before, who)) for who in ("host", "server", "client"))
    if server["processes"] < 0:
        # Linux forgets the context switches of those that ended.
        server["context_switches"] = None
    return {
        "cpu": {
            "cpus": os.cpu_count(),
            **{f"server_{kind}": server[kind] for kind in PROCESS_CPU},
            **{f"client_{kind}": client[kind] for kind in PROCESS_CPU},
            **{f"host_{kind}": seconds for kind, seconds in host.items()},
        },
        "pressure": {f"{key}_some_s": _less(after.pressure_s[key], before.pressure_s[key]) for key in PRESSURES},
        "memory": {
            **{
                f"{name}_{edge}": round(getattr(taken, name), 1)
                for name in ("available_mib", "swap_used_mib")
                for edge, taken in (("before", before), ("after", after))
            },
            "oom_kills": _less(after.oom_kills, before.oom_kills),
        },
        "io": {name: server[name] for name in ("read_bytes", "write_bytes", "context_switches")},
    }


def _minus(after: CpuTimes | ProcessTimes, before: CpuTimes | ProcessTimes) -> dict[str, float | None]:
    return {each.name: _less(getattr(after, each.name), getattr(before, each.name)) for each in fields(after)}


def _less(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None else round(after - before, 6)
