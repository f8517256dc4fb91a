"""What uses this machine beside the study: other programs, memory, what killed jobs left."""

import os
import resource
import time
from collections.abc import Mapping
from dataclasses import dataclass

import psutil

from scripts.commands.doctor.checkup import CheckResult, CheckResults, Machine, ok
from scripts.lib.host import leftovers
from scripts.lib.host.machine_facts import meminfo_mib, read_memory_limit_mib
from scripts.lib.host.usage import CpuTimes, cpu_times
from scripts.measure.engine.warnings import THRESHOLDS

LOOK_S = 2.0
TOP = 3
# The jiffies of a few seconds are too coarse for less.
LEAST_SHARE = 0.005


@dataclass(frozen=True)
class BackgroundLoad:
    """Shares of the machine's CPU time: of others than ourselves, of the hypervisor, waiting for disks.

    `busiest` are (name, process id, CPUs used), most first.
    """

    others: float
    steal: float
    iowait: float
    busiest: tuple[tuple[str, int, float], ...]


def measure_load(seconds: float = LOOK_S) -> BackgroundLoad:
    """Watch /proc for some seconds."""
    before, own_s, processes = cpu_times(), time.process_time(), _processes()
    begin_s = time.monotonic()
    time.sleep(seconds)
    after, took_s = cpu_times(), time.monotonic() - begin_s
    own_s = time.process_time() - own_s
    # Who was not there before has used all of its time since.
    used = [
        (name, pid, (now_s - processes.get((pid, begun), ("", 0.0))[1]) / took_s)
        for (pid, begun), (name, now_s) in _processes().items()
    ]
    return load_between(before, after, own_s, tuple(sorted(used, key=lambda process: -process[2])[:TOP]))


def load_between(
    before: CpuTimes, after: CpuTimes, own_s: float, busiest: tuple[tuple[str, int, float], ...]
) -> BackgroundLoad:
    """Return the shares between two readings of /proc/stat, with what this process used left out."""
    used = {name: getattr(after, name) - getattr(before, name) for name in vars(before)}
    whole_s = sum(used.values()) or 1.0
    busy_s = used["user_s"] + used["system_s"] + used["irq_s"] - own_s
    shown = tuple(process for process in busiest if process[2] >= LEAST_SHARE)
    return BackgroundLoad(max(0.0, busy_s) / whole_s, used["steal_s"] / whole_s, used["iowait_s"] / whole_s, shown)


def _processes() -> dict[tuple[int, float], tuple[str, float]]:
    """Return (name, CPU seconds) of all processes but this one by process id and start time."""
    used = {}
    for process in psutil.process_iter(["name", "cpu_times", "create_time"]):
        times = process.info["cpu_times"]
        if times and process.pid != os.getpid():
            used[process.pid, process.info["create_time"]] = process.info["name"], times.user + times.system
    return used


def check_load(seen: BackgroundLoad) -> CheckResults:
    """Judge a look at the machine by the limits that every run is judged by."""
    names = ", ".join(f"{name} ({pid}) {cpus:.0%} of a CPU" for name, pid, cpus in seen.busiest)
    busy = f"{seen.others:.0%} of all CPU time" + (f": {names}" if names else "")
    shown = ",".join(str(pid) for _, pid, _ in seen.busiest)
    stop = "stop them" + (f" (ps -fp {shown} shows what they are)" if shown else "")
    yield judged("others", "other load", seen.others, busy, f"{stop}, or wait for their end")
    steal = f"{seen.steal:.0%} of all CPU time went to other virtual machines"
    yield judged("steal", "steal", seen.steal, steal, "measure at quiet hours, or on a machine of its own")
    waited = f"{seen.iowait:.0%} of all CPU time was spent waiting for disks"
    yield judged("iowait", "disks", seen.iowait, waited, "see who uses the disk: sudo iotop -o")


def judged(code: str, name: str, share: float, fact: str, change: str) -> CheckResult:
    """Judge a share by the limit of runs."""
    limit = THRESHOLDS[code]
    return (
        CheckResult("warning", name, fact, limit.reason, change) if share > float(limit.threshold) else ok(name, fact)
    )


# MariaDB's io_uring wants this much locked memory; kernels before 5.12 count it.
LOCKED_KIB = 512
LIMITS_CONF = "a line in /etc/security/limits.conf and a new login"


def check_memory(machine: Machine) -> CheckResults:
    """Judge swap and the settings of the kernel that MariaDB's io_uring depends on."""
    known_mib = meminfo_mib(machine.root)
    yield ok("memory", memory_text(known_mib, read_memory_limit_mib(machine.root)))
    yield swap(known_mib["SwapTotal"] - known_mib["SwapFree"])
    yield locked_memory(resource.getrlimit(resource.RLIMIT_MEMLOCK)[0])
    if machine.number("proc/sys/kernel/io_uring_disabled"):
        why = "MariaDB uses it for disk input and output where it can"
        change = "sudo sysctl kernel.io_uring_disabled=0"
        yield CheckResult("note", "io_uring", "switched off by kernel.io_uring_disabled", why, change)


def memory_text(known_mib: Mapping[str, float], limit_mib: float | None) -> str:
    """Return the memory of the machine, free and in all, and the limit of the cgroup, if it has one."""
    free = f"{known_mib['MemAvailable'] / 1024:.1f} of {known_mib['MemTotal'] / 1024:.1f} GiB free"
    return free if limit_mib is None else f"{free}; the cgroup may use {limit_mib / 1024:.1f} GiB"


def swap(used_mib: float) -> CheckResult:
    """Judge swap in use."""
    if used_mib <= 0:
        return ok("swap", "none in use")
    why = "access to swapped memory waits for the disk; every run will carry a warning"
    return CheckResult("warning", "swap", f"{used_mib:.0f} MiB in use", why, "sudo swapoff -a && sudo swapon -a")


def locked_memory(soft_bytes: int) -> CheckResult:
    """Judge this process's soft limit on locked memory, which servers inherit."""
    if soft_bytes == resource.RLIM_INFINITY:
        return ok("locked memory", "no limit")
    if soft_bytes >= LOCKED_KIB * 1024:
        return ok("locked memory", f"at most {soft_bytes / 1024:.0f} KiB")
    why = f"kernels before 5.12 give MariaDB no io_uring below {LOCKED_KIB} KiB; it then uses another interface"
    change = f"ulimit -l {LOCKED_KIB}, or memlock in {LIMITS_CONF}"
    return CheckResult("note", "locked memory", f"at most {soft_bytes / 1024:.0f} KiB", why, change)


def check_leftovers() -> CheckResults:
    """Yield a warning for each job that was killed together with its guard, and left something behind."""
    leftover_jobs = leftovers.find()
    why = "processes of killed servers keep memory and may use CPU time, folders keep disk space"
    change = "the next study that measures on this machine ends and removes it, and so does make prune"
    yield from (CheckResult("warning", "leftovers", str(leftover), why, change) for leftover in leftover_jobs)
    if not leftover_jobs:
        yield ok("leftovers", "nothing that a killed job noted is left")
