"""What surrounds a study: virtual machine, container, quota, NUMA, and the CPUs that `placement` gives it."""

import ctypes
from collections.abc import Mapping
from typing import Any

from scripts.client_host import place
from scripts.host import Host
from scripts.preflight.finding import Finding, Findings, Machine, ok
from scripts.topology import Topology, format_cpus

# adjtimex(2)
TIME_ERROR = 5
ADJTIMEX_BYTES = 512


def check(host: Host, machine: Machine, topology: Topology, config: Mapping[str, Any]) -> Findings:
    """Judge where the study would run."""
    yield virtual(host.virtualisation)
    yield container(host.container)
    yield quota(host.cpu_quota, len(topology.cpus))
    yield placement(topology, config)
    yield balancing(machine, len(topology.nodes))
    yield autogroup(machine)
    yield clock(clock_state())


def virtual(found: str | None) -> Finding:
    """Judge a hypervisor."""
    if found is None:
        return ok("machine", "no virtual one, as far as it tells")
    why = "neighbours take CPU time, caches and disk; steal is the part of it that shows"
    return Finding("note", "machine", f"virtual ({found})", why, "measure on a machine of its own, or at quiet hours")


def container(found: str | None) -> Finding:
    """Judge a container."""
    if found is None:
        return ok("container", "none, as far as it tells")
    why = "the lock that lets one study measure at a time ends at the container, and other containers may run"
    return Finding("note", "container", found, why, "see to it that nothing else runs on the machine meanwhile")


def quota(found: float | None, cpus: int) -> Finding:
    """Judge a cgroup's quota of CPU time."""
    if found is None or found >= cpus:
        return ok("CPU quota", "none" if found is None else f"{found:.1f}, not below the {cpus} CPUs")
    why = "who has used it up stands still for the rest of a tenth of a second, and that is in p95"
    if found >= 2:
        why += "; `placement: automatic` hands out only as many CPUs as it runs"
    change = "set no limit (docker: no --cpus; systemd: CPUQuota=), and whole CPUs instead (docker: --cpuset-cpus)"
    state = "note" if found >= 2 else "warning"
    return Finding(state, "CPU quota", f"{found:.1f} of {cpus} CPUs", why, change)


def placement(topology: Topology, config: Mapping[str, Any]) -> Finding:
    """Judge the CPUs that server and load generator would get."""
    try:
        found = place(topology, config)
    except ValueError as error:
        return Finding("problem", "placement", str(error), "no run can start", "change `placement` in the study")
    client = "" if found.mode == "remote" else f", load generator {format_cpus(found.client_cpus)}"
    fact = f"server CPU {format_cpus(found.server_cpus)}{client}: {found.note}"
    if found.mode == "shared":
        why = "the load generator slows the server it measures"
        return Finding("warning", "placement", fact, why, "a machine, or a cgroup, with two CPUs or more")
    return ok("placement", fact)


def balancing(machine: Machine, nodes: int) -> Finding:
    """Judge the kernel's moving of memory between NUMA nodes."""
    if nodes < 2 or not machine.number("proc/sys/kernel/numa_balancing"):
        return ok("NUMA", f"{nodes} node" + ("s, no balancing" if nodes > 1 else ""))
    why = "the kernel unmaps memory to see who uses it, and moves it in the middle of a run"
    return Finding("note", "NUMA", f"{nodes} nodes, balancing is on", why, "sudo sysctl kernel.numa_balancing=0")


def autogroup(machine: Machine) -> Finding:
    """Judge the kernel's sharing of CPUs by session."""
    if not machine.number("proc/sys/kernel/sched_autogroup_enabled"):
        return ok("autogroup", "off")
    why = "CPUs are shared by session and `nice` does nothing between sessions: a compile elsewhere counts in full"
    return Finding("note", "autogroup", "on", why, "sudo sysctl kernel.sched_autogroup_enabled=0")


def clock_state() -> int:
    """Ask the kernel about the time of day, changing nothing; below 0 when it does not tell."""
    return ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(ADJTIMEX_BYTES))


def clock(state: int) -> Finding:
    """Judge whether the time of day may be set in the middle of a study."""
    if state != TIME_ERROR:
        return ok("time of day", "kept in step" if state >= 0 else "not told")
    why = "a step tears a block apart or makes it look short; windows are timed by another clock and do not suffer"
    return Finding("note", "time of day", "nothing keeps it in step", why, "sudo timedatectl set-ntp true")
