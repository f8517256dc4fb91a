"""Memory in use, and the limit on locked memory; the plan judges whether memory and other limits suffice."""

import resource
from collections.abc import Mapping

from scripts.commands.doctor.checkup import CheckResult, CheckResults, Machine, ok
from scripts.lib.host.machine_facts import meminfo_mib, read_memory_limit_mib

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
