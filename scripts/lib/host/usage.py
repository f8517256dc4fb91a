"""Resources used by machine, server and load generator, and the difference between two samples."""

import contextlib
import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

import psutil

from scripts.lib.host import machine_facts
from scripts.lib.host.machine_facts import meminfo_mib


@dataclass(frozen=True)
class ProcessTimes:
    """Resources used by a process and its descendants, including those that ended and were waited for.

    Context switches are those of the threads alive now, of so many `processes`. None: the system does not let us read
    it.
    """

    processes: int
    user_s: float
    system_s: float
    context_switches: int | None
    read_bytes: int | None
    write_bytes: int | None


def process_times(pid: int) -> ProcessTimes:
    """Add up a process, its descendants, and what they have waited for (proc_pid_stat(5), cutime and cstime).

    A process that ends while we look would be counted twice or not at all, so the look is repeated until the ended
    ones' time stands still.
    """
    main = psutil.Process(pid)
    for _ in range(5):
        before = main.cpu_times()
        family = [main, *main.children(recursive=True)]
        times = []
        for process in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                times.append(process.cpu_times())
        after = main.cpu_times()
        if (before.children_user, before.children_system) == (after.children_user, after.children_system):
            break
    return ProcessTimes(
        processes=len(times),
        user_s=sum(used.user + used.children_user for used in times),
        system_s=sum(used.system + used.children_system for used in times),
        context_switches=_sum_known([_context_switches(process.pid) for process in family]),
        read_bytes=_sum_known([_io_bytes(process.pid, "read_bytes") for process in family]),
        write_bytes=_sum_known([_io_bytes(process.pid, "write_bytes") for process in family]),
    )


def context_switches(pid: int) -> int | None:
    """Return the context switches, voluntary and not, of the threads alive now of a process and its descendants.

    Raises psutil.NoSuchProcess when the process is gone.
    """
    main = psutil.Process(pid)
    return _sum_known([_context_switches(process.pid) for process in (main, *main.children(recursive=True))])


def interrupts(root: Path = Path("/")) -> int | None:
    """Return the interrupts of all CPUs since boot: the first number of `intr` in /proc/stat (proc_stat(5))."""
    match = re.search(r"^intr (\d+)", (root / "proc/stat").read_text(), re.MULTILINE)
    return int(match[1]) if match else None


def sum_of_processes(processes: Sequence[ProcessTimes]) -> ProcessTimes:
    """Return the sum of the resources that several processes used."""
    return ProcessTimes(
        processes=sum(times.processes for times in processes),
        user_s=sum(times.user_s for times in processes),
        system_s=sum(times.system_s for times in processes),
        context_switches=_sum_known([times.context_switches for times in processes]),
        read_bytes=_sum_known([times.read_bytes for times in processes]),
        write_bytes=_sum_known([times.write_bytes for times in processes]),
    )


def _context_switches(pid: int) -> int | None:
    # The counters in /proc/PID/status are the first thread's alone.
    counts = []
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        if (text := _proc_text(status)) is None:
            return None
        counts += [int(count) for count in re.findall(r"voluntary_ctxt_switches:\t(\d+)", text)]
    return sum(counts)


def _io_bytes(pid: int, name: str) -> int | None:
    # The bytes of ended and waited-for children are in their parent's count already.
    text = _proc_text(Path(f"/proc/{pid}/io"))
    if text is None:
        return None
    match = re.search(rf"^{name}: (\d+)$", text, re.MULTILINE)
    return int(match[1]) if match else 0


def _proc_text(path: Path) -> str | None:
    """Return a file of /proc: empty when its process has ended, None when it may not be read."""
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    except OSError:
        return None


def _sum_known(values: Sequence[int | None]) -> int | None:
    """Return the sum, None where a value is unknown."""
    return None if None in values else sum(value for value in values if value is not None)


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

    `pressure_s` is the PSI stall total ("some") by resource, None where the kernel has none; `network` holds the
    counters of `machine_facts.traffic_counters`, `oom_kills` the count that the function of that name returns.
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


def sample_usage(server_pid: int, *client_pids: int) -> Sample:
    """Take a sample now; CPU times first, because reading the rest takes milliseconds.

    Raises psutil.NoSuchProcess when server or client is gone.
    """
    now_s = time.monotonic()
    host = cpu_times()
    server, client = process_times(server_pid), sum_of_processes([process_times(pid) for pid in client_pids])
    memory_mib = meminfo_mib()
    return Sample(
        monotonic_s=now_s,
        host=host,
        server=server,
        client=client,
        pressure_s=pressures_s(),
        available_mib=memory_mib["MemAvailable"],
        swap_used_mib=memory_mib["SwapTotal"] - memory_mib["SwapFree"],
        oom_kills=oom_kills(),
        network=machine_facts.traffic_counters(),
    )


def cpu_times(root: Path = Path("/")) -> CpuTimes:
    """Read the first line of /proc/stat (proc_stat(5)); guest time is already in user and nice."""
    ticks = [int(number) for number in (root / "proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    user, nice, system, idle, iowait, irq, softirq, steal = (tick / TICKS_PER_S for tick in ticks[:8])
    return CpuTimes(user + nice, system, irq + softirq, steal, iowait, idle)


def pressure_s(resource: str, root: Path = Path("/")) -> float | None:
    """Return the seconds since boot in which some task waited for `resource` (PSI); None without PSI."""
    try:
        text = (root / "proc/pressure" / resource).read_text()
    except OSError:
        return None
    match = re.search(r"^some .*total=(\d+)$", text, re.MULTILINE)
    return int(match[1]) / 1e6 if match else None


def pressures_s() -> dict[str, float | None]:
    """Return `pressure_s` of every resource."""
    return {resource: pressure_s(resource) for resource in PRESSURES}


def cpu_between(before: CpuTimes, after: CpuTimes) -> CpuTimes:
    """Return the CPU seconds between two readings."""
    return CpuTimes(**{name: seconds or 0.0 for name, seconds in _cpu_minus(after, before).items()})


def pressure_between(before: dict[str, float | None], after: dict[str, float | None]) -> dict[str, float | None]:
    """Return the stalled seconds between two readings, None where either has none."""
    return {resource: _less(after[resource], before[resource]) for resource in PRESSURES}


def oom_kills(root: Path = Path("/")) -> int | None:
    """Return how many processes the kernel has killed for lack of memory since boot; None before Linux 4.13.

    Those beyond a cgroup's limit are counted too: `oom_kill` in /proc/vmstat (proc_vmstat(5)).
    """
    match = re.search(r"^oom_kill (\d+)$", (root / "proc/vmstat").read_text(), re.MULTILINE)
    return int(match[1]) if match else None


def usage_between(before: Sample, after: Sample) -> dict[str, dict[str, float | None]]:
    """Return the resources used between two samples: the parts `cpu`, `pressure`, `memory` and `io` of a run's facts.

    Keys and units are those of the run file; None where either sample has none.
    """
    host, server, client = (
        _cpu_minus(getattr(after, who), getattr(before, who)) for who in ("host", "server", "client")
    )
    if (server["processes"] or 0) < 0:
        # Linux forgets the context switches of those that ended.
        server["context_switches"] = None
    return {
        "cpu": {
            "cpus": os.cpu_count(),
            **{f"server_{kind}": server[kind] for kind in PROCESS_CPU},
            **{f"client_{kind}": client[kind] for kind in PROCESS_CPU},
            **{f"host_{kind}": seconds for kind, seconds in host.items()},
        },
        "pressure": {
            f"{key}_some_s": seconds for key, seconds in pressure_between(before.pressure_s, after.pressure_s).items()
        },
        "memory": {
            **{
                f"{name}_{edge}": round(getattr(sample, name), 1)
                for name in ("available_mib", "swap_used_mib")
                for edge, sample in (("before", before), ("after", after))
            },
            "oom_kills": _less(after.oom_kills, before.oom_kills),
        },
        "io": {name: server[name] for name in ("read_bytes", "write_bytes", "context_switches")},
    }


def _cpu_minus(after: CpuTimes | ProcessTimes, before: CpuTimes | ProcessTimes) -> dict[str, float | None]:
    return {item.name: _less(getattr(after, item.name), getattr(before, item.name)) for item in fields(after)}


def _less(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None else round(after - before, 6)
