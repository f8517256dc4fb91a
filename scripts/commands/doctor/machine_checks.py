"""Settings of CPU and kernel that affect a server's speed, or its steadiness."""

import ctypes
from collections.abc import Mapping

from scripts.commands.doctor.checkup import CheckResult, CheckResults, Machine, ok
from scripts.lib.host import priority
from scripts.lib.host.cpus import Topology, format_cpus
from scripts.lib.host.machine_facts import CPU_DIRECTORY, Host
from scripts.lib.json_record import Json
from scripts.measure.engine.warnings import THRESHOLDS
from scripts.measure.loadgen.client_host import place_on_hosts

# adjtimex(2)
TIME_ERROR = 5
ADJTIMEX_BYTES = 512


def check_confines(host: Host, machine: Machine, topology: Topology, config: Mapping[str, Json]) -> CheckResults:
    """Judge the machine, container and CPUs that the study would run on."""
    yield virtual(host.virtualisation)
    yield container(host.container)
    yield quota(host.cpu_quota, len(topology.cpus))
    yield placement(topology, config)
    yield balancing(machine, len(topology.nodes))
    yield precedence(priority.nice(), machine.ask("nice", "-n", str(priority.NICE), "nice"))
    yield clock(clock_state())


def virtual(hypervisor: str | None) -> CheckResult:
    """Judge a hypervisor."""
    if hypervisor is None:
        return ok("machine", "not virtual, as far as can be seen")
    why = "neighbours take CPU time, caches and disk; steal is the part of it that shows"
    return CheckResult(
        "note", "machine", f"virtual ({hypervisor})", why, "measure on a machine of its own, or at quiet hours"
    )


def container(runtime: str | None) -> CheckResult:
    """Judge a container."""
    if runtime is None:
        return ok("container", "none, as far as can be seen")
    why = "the lock that lets one study measure at a time ends at the container, and other containers may run"
    return CheckResult("note", "container", runtime, why, "make sure that nothing else runs on the machine meanwhile")


def quota(cpus_allowed: float | None, cpus: int) -> CheckResult:
    """Judge a cgroup's quota of CPU time."""
    if cpus_allowed is None or cpus_allowed >= cpus:
        return ok("CPU quota", "none" if cpus_allowed is None else f"{cpus_allowed:.1f}, not below the {cpus} CPUs")
    why = "a process that used it up stands still for the rest of a tenth of a second, which shows in p95"
    if cpus_allowed >= 2:
        why += "; `placement: automatic` hands out only as many CPUs as it runs"
    change = "set no limit (docker: no --cpus; systemd: CPUQuota=), and whole CPUs instead (docker: --cpuset-cpus)"
    state = "note" if cpus_allowed >= 2 else "warning"
    return CheckResult(state, "CPU quota", f"{cpus_allowed:.1f} of {cpus} CPUs", why, change)


def placement(topology: Topology, config: Mapping[str, Json]) -> CheckResult:
    """Judge the CPUs that server and load generator would get."""
    try:
        placed = place_on_hosts(topology, config["placement"], config.get("client"))
    except ValueError as error:
        return CheckResult("problem", "placement", str(error), "no run can start", "change `placement` in the study")
    client = "" if placed.mode == "remote" else f", load generator {format_cpus(placed.client_cpus or ())}"
    fact = f"server CPU {format_cpus(placed.server_cpus or ())}{client}: {placed.note}"
    if placed.mode == "shared":
        why = "the load generator slows the server it measures"
        return CheckResult("warning", "placement", fact, why, "a machine, or a cgroup, with two CPUs or more")
    return ok("placement", fact)


def balancing(machine: Machine, nodes: int) -> CheckResult:
    """Judge the kernel's moving of memory between NUMA nodes."""
    if nodes < 2 or not machine.number("proc/sys/kernel/numa_balancing"):
        return ok("NUMA", f"{nodes} node" + ("s, no balancing" if nodes > 1 else ""))
    why = "the kernel unmaps memory to see who uses it, and moves it in the middle of a run"
    return CheckResult("note", "NUMA", f"{nodes} nodes, balancing is on", why, "sudo sysctl kernel.numa_balancing=0")


def precedence(nice: int, lowered: str | None) -> CheckResult:
    """Judge the nice value of this process, and what nice(1) prints that was to lower it."""
    if nice != priority.ORDINARY:
        fact = f"servers and clients keep the nice value of this shell, {nice}"
        return CheckResult("note", "nice", fact, "it was chosen by someone", "a shell with nice value 0")
    if lowered is not None and lowered.splitlines()[-1:] == [str(priority.NICE)]:
        return ok("nice", f"servers and clients go before other programs (nice value {priority.NICE})")
    why = "a program elsewhere takes CPU time from both, in unequal parts, and intervals get about twice as wide"
    change = f"root, or a line `you - nice {priority.NICE}` in /etc/security/limits.conf and a new login"
    return CheckResult("note", "nice", "servers and clients may not go before other programs", why, change)


def clock_state() -> int:
    """Return the kernel's state of the time of day, changing nothing; below 0 where it is not known."""
    return int(ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(ADJTIMEX_BYTES)))


def clock(state: int) -> CheckResult:
    """Judge whether the time of day may be set in the middle of a study."""
    if state != TIME_ERROR:
        return ok("time of day", "kept in step" if state >= 0 else "not known")
    why = "a step tears a block apart or makes it look short; windows are timed by another clock and do not suffer"
    return CheckResult("note", "time of day", "nothing keeps it in step", why, "sudo timedatectl set-ntp true")


NO_TURBO = f"{CPU_DIRECTORY}/intel_pstate/no_turbo"
BOOST = f"{CPU_DIRECTORY}/cpufreq/boost"
CLOCKSOURCE = "sys/devices/system/clocksource/clocksource0"
# Clocks that a system call is not needed for.
QUICK_CLOCKS = ("tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page", "timebase", "tod")


def check_speed(host: Host, machine: Machine) -> CheckResults:
    """Judge clock rates, pages, siblings, clocks and what the kernel does by itself."""
    yield governor(host.governor)
    yield boost(machine)
    yield from rates(machine)
    yield huge_pages(host.thp)
    yield siblings(host.smt)
    yield clocksource(host.clocksource, machine)
    yield mitigations(machine)


def governor(name: str | None) -> CheckResult:
    """Judge what sets the clock rate."""
    if name is None:
        return ok("governor", "none here: the hypervisor or the firmware sets the clock rate")
    if name == THRESHOLDS["governor"].threshold:
        return ok("governor", name)
    return CheckResult(
        "warning", "governor", name, THRESHOLDS["governor"].reason, "sudo cpupower frequency-set -g performance"
    )


def boost(machine: Machine) -> CheckResult:
    """Judge whether the clock rate may exceed the CPU's nominal one."""
    no_turbo, on = machine.number(NO_TURBO), machine.number(BOOST)
    if no_turbo is None and on is None:
        return ok("turbo", "cannot be set here")
    if no_turbo == 1 or on == 0:
        return ok("turbo", "off")
    why = "the clock rate then depends on temperature, and on how many cores are busy"
    off = f"echo 1 | sudo tee /{NO_TURBO}" if no_turbo is not None else f"echo 0 | sudo tee /{BOOST}"
    return CheckResult("note", "turbo", "on", why, off)


def rates(machine: Machine) -> CheckResults:
    """Yield a warning if cores differ in their highest clock rate, as on CPUs with two kinds of cores."""
    files = sorted((machine.root / CPU_DIRECTORY).glob("cpu[0-9]*/cpufreq/cpuinfo_max_freq"))
    highest_khz = sorted({number for file in files if (number := machine.number(str(file.relative_to(machine.root))))})
    # Cores of one kind differ by some per cent where firmware names the best ones.
    if highest_khz and highest_khz[-1] > 1.2 * highest_khz[0]:
        fact = f"the fastest reach {highest_khz[-1] / 1e6:.1f} GHz, the slowest {highest_khz[0] / 1e6:.1f} GHz"
        why = "a thread's speed depends on the core it happens to be on"
        yield CheckResult(
            "warning", "kinds of cores", fact, why, "give the server cores of one kind: `placement` in the study"
        )


def huge_pages(mode: str | None) -> CheckResult:
    """Judge transparent huge pages."""
    if mode != "always":
        return ok("huge pages", f"transparent ones: {mode or 'not in this kernel'}")
    why = "which memory gets them depends on what was free, so two starts of one server differ in speed"
    change = "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"
    return CheckResult("note", "huge pages", "transparent ones: always", why, change)


def siblings(smt: bool | None) -> CheckResult:
    """Judge SMT."""
    if not smt:
        return ok("SMT", "off" if smt is False else "not known")
    why = "a thread is slower while its sibling is busy; `placement: automatic` hands out whole cores, which helps"
    return CheckResult("note", "SMT", "on", why, "echo off | sudo tee /sys/devices/system/cpu/smt/control")


def clocksource(name: str | None, machine: Machine) -> CheckResult:
    """Judge how long reading the clock takes."""
    if name is None or name in QUICK_CLOCKS:
        return ok("clock source", name or "not known")
    why = "reading it takes a system call, and servers and sysbench read the clock for every statement"
    others = (machine.text(f"{CLOCKSOURCE}/available_clocksource") or "").split()
    better = next((name for name in QUICK_CLOCKS if name in others), None)
    change = f"echo {better} | sudo tee /{CLOCKSOURCE}/current_clocksource" if better else "a machine that has tsc"
    return CheckResult("warning", "clock source", name, why, change)


def mitigations(machine: Machine) -> CheckResult:
    """Return which of the kernel's mitigations of CPU vulnerabilities are active."""
    files = sorted((machine.root / CPU_DIRECTORY / "vulnerabilities").glob("*"))
    texts = {file.name: machine.text(str(file.relative_to(machine.root))) or "" for file in files}
    active = [name for name, text in texts.items() if text.startswith("Mitigation")]
    if not active:
        return ok("mitigations", "none active")
    why = "they slow system calls, for all variants alike: ratios hold, figures of other machines do not compare"
    change = "nothing to change; publish this line with the figures"
    return CheckResult("note", "mitigations", ", ".join(active), why, change)
