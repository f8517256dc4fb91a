"""Memory for dataset and server, and what the limits of this process leave to servers and load generators."""

import resource
from collections.abc import Mapping

from scripts.commands.doctor.finding import Finding, Findings, Machine, ok
from scripts.commands.doctor.needs import Needs
from scripts.host.facts import meminfo_mib, read_memory_limit_mib

# Descriptors of a server beside those of its clients: files of tables, logs, libraries.
OWN_FILES = 1024
OWN_PROCESSES = 256
# MariaDB's io_uring wants this much locked memory; kernels before 5.12 count it.
LOCKED_KIB = 512
LIMITS_CONF = "in a line of /etc/security/limits.conf, and log in again"


def check_memory(needs: Needs, machine: Machine) -> Findings:
    """Judge memory, swap and the limits of this process."""
    known_mib = meminfo_mib(machine.root)
    wanted_mib = demanded_mib(needs.dataset_mib, known_mib["MemTotal"])
    yield free_memory(wanted_mib, known_mib)
    limit_mib = read_memory_limit_mib(machine.root)
    if limit_mib is not None and limit_mib < known_mib["MemTotal"]:
        yield confined_memory(wanted_mib, limit_mib)
    yield swap(known_mib["SwapTotal"] - known_mib["SwapFree"])
    yield from check_limits(needs.clients, own_limits())
    if machine.number("proc/sys/kernel/io_uring_disabled"):
        why = "MariaDB does its disk input and output through it where it can"
        change = "sudo sysctl kernel.io_uring_disabled=0"
        yield Finding("note", "io_uring", "switched off by kernel.io_uring_disabled", why, change)


def demanded_mib(dataset_mib: float, total_mib: float) -> float:
    """Return MiB that one run uses: the families' default pool, and the dataset's files as they are copied."""
    return 2 * dataset_mib + min(4096, max(128, total_mib / 4))


def free_memory(wanted_mib: float, known_mib: Mapping[str, float]) -> Finding:
    """Judge the memory that is free."""
    total, available = known_mib["MemTotal"], known_mib["MemAvailable"]
    fact = f"{available / 1024:.1f} of {total / 1024:.1f} GiB free, a run uses up to {wanted_mib / 1024:.1f}"
    if available >= wanted_mib:
        return ok("memory", fact)
    why = "what does not fit is read from disk again and again, and the disk is measured"
    return Finding("warning", "memory", fact, why, "stop other programs, or give the dataset fewer rows")


def confined_memory(wanted_mib: float, limit_mib: float) -> Finding:
    """Judge a cgroup's limit of memory."""
    fact = f"the cgroup may use {limit_mib / 1024:.1f} GiB"
    if limit_mib >= wanted_mib:
        return ok("memory limit", fact)
    why = "the default buffer pool follows the machine's memory, and the kernel kills who exceeds the limit"
    return Finding("warning", "memory limit", fact, why, "raise the limit, or set the buffer pool under `options`")


def swap(used_mib: float) -> Finding:
    """Judge swap in use."""
    if used_mib <= 0:
        return ok("swap", "none in use")
    why = "an access to swapped memory takes as long as a disk does; every run will carry a warning"
    return Finding("warning", "swap", f"{used_mib:.0f} MiB in use", why, "sudo swapoff -a && sudo swapon -a")


def own_limits() -> dict[str, float]:
    """Return this process's soft limits, which servers inherit; infinite where there is none."""
    names = {"files": resource.RLIMIT_NOFILE, "processes": resource.RLIMIT_NPROC, "locked_kib": resource.RLIMIT_MEMLOCK}
    soft = {name: resource.getrlimit(number)[0] for name, number in names.items()}
    found = {name: float("inf") if value == resource.RLIM_INFINITY else float(value) for name, value in soft.items()}
    return {**found, "locked_kib": found["locked_kib"] / 1024}


def check_limits(clients: int, soft: Mapping[str, float]) -> Findings:
    """Judge limits for a number of clients: a connection is a file and a thread or process at either end."""
    checks = (
        ("open files", "files", clients + OWN_FILES, clients, "-n", "nofile"),
        ("processes", "processes", 2 * clients + OWN_PROCESSES, clients, "-u", "nproc"),
        ("locked memory", "locked_kib", LOCKED_KIB, 0, "-l", "memlock"),
    )
    for name, key, needed, least, option, item in checks:
        fact = f"at most {soft[key]:.0f}{' KiB' if key == 'locked_kib' else ''}"
        if soft[key] >= needed:
            yield ok(name, fact)
            continue
        state = "problem" if soft[key] <= least else "note" if key == "locked_kib" else "warning"
        yield Finding(state, name, fact, _why(key, clients), f"ulimit {option} {needed}, or {item} {LIMITS_CONF}")


def _why(key: str, clients: int) -> str:
    if key == "locked_kib":
        return f"kernels before 5.12 give MariaDB no io_uring below {LOCKED_KIB} KiB: it reads and writes otherwise"
    return f"{clients} clients need it; a server that lacks it refuses connections, or opens its tables over and over"
