"""Settings of CPU and kernel that change how fast a server runs, or how steadily."""

from scripts.doubts import THRESHOLDS
from scripts.host import CPU_DIRECTORY, Host
from scripts.preflight.finding import Finding, Findings, Machine, ok

NO_TURBO = f"{CPU_DIRECTORY}/intel_pstate/no_turbo"
BOOST = f"{CPU_DIRECTORY}/cpufreq/boost"
CLOCKSOURCE = "sys/devices/system/clocksource/clocksource0"
# Clocks that a system call is not needed for.
QUICK_CLOCKS = ("tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page", "timebase", "tod")


def check(host: Host, machine: Machine) -> Findings:
    """Judge clock rates, pages, siblings, clocks and what the kernel does by itself."""
    yield governor(host.governor)
    yield boost(machine)
    yield from rates(machine)
    yield huge_pages(host.thp)
    yield siblings(host.smt)
    yield clocksource(host.clocksource, machine)
    yield mitigations(machine)


def governor(found: str | None) -> Finding:
    """Judge what sets the clock rate."""
    if found is None:
        return ok("governor", "none here: the hypervisor or the firmware sets the clock rate")
    if found == THRESHOLDS["governor"].threshold:
        return ok("governor", found)
    return Finding(
        "warning", "governor", found, THRESHOLDS["governor"].reason, "sudo cpupower frequency-set -g performance"
    )


def boost(machine: Machine) -> Finding:
    """Judge whether the clock rate may exceed the CPU's nominal one."""
    no_turbo, on = machine.number(NO_TURBO), machine.number(BOOST)
    if no_turbo is None and on is None:
        return ok("turbo", "cannot be set here")
    if no_turbo == 1 or on == 0:
        return ok("turbo", "off")
    why = "the clock rate then depends on temperature, and on how many cores are busy"
    off = f"echo 1 | sudo tee /{NO_TURBO}" if no_turbo is not None else f"echo 0 | sudo tee /{BOOST}"
    return Finding("note", "turbo", "on", why, off)


def rates(machine: Machine) -> Findings:
    """Say when cores differ in their highest clock rate, as on CPUs with two kinds of cores."""
    files = sorted((machine.root / CPU_DIRECTORY).glob("cpu[0-9]*/cpufreq/cpuinfo_max_freq"))
    found = sorted({number for file in files if (number := machine.number(str(file.relative_to(machine.root))))})
    # Cores of one kind differ by some per cent where firmware names the best ones.
    if found and found[-1] > 1.2 * found[0]:
        fact = f"the fastest reach {found[-1] / 1e6:.1f} GHz, the slowest {found[0] / 1e6:.1f} GHz"
        why = "a thread's speed depends on the core it happens to be on"
        yield Finding(
            "warning", "kinds of cores", fact, why, "give the server cores of one kind: `placement` in the study"
        )


def huge_pages(found: str | None) -> Finding:
    """Judge transparent huge pages."""
    if found != "always":
        return ok("huge pages", f"transparent ones: {found or 'not in this kernel'}")
    why = "which memory gets them depends on what was free, so two starts of one server differ in speed"
    change = "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"
    return Finding("note", "huge pages", "transparent ones: always", why, change)


def siblings(smt: bool | None) -> Finding:
    """Judge SMT."""
    if not smt:
        return ok("SMT", "off" if smt is False else "not told")
    why = "a thread is slower while its sibling is busy; `placement: automatic` hands out whole cores, which helps"
    return Finding("note", "SMT", "on", why, "echo off | sudo tee /sys/devices/system/cpu/smt/control")


def clocksource(found: str | None, machine: Machine) -> Finding:
    """Judge how long reading the clock takes."""
    if found is None or found in QUICK_CLOCKS:
        return ok("clock source", found or "not told")
    why = "reading it takes a system call, and servers and sysbench read the clock for every statement"
    others = (machine.text(f"{CLOCKSOURCE}/available_clocksource") or "").split()
    better = next((name for name in QUICK_CLOCKS if name in others), None)
    change = f"echo {better} | sudo tee /{CLOCKSOURCE}/current_clocksource" if better else "a machine that has tsc"
    return Finding("warning", "clock source", found, why, change)


def mitigations(machine: Machine) -> Finding:
    """Say how many of the kernel's guards against flaws of the CPU are at work."""
    files = sorted((machine.root / CPU_DIRECTORY / "vulnerabilities").glob("*"))
    texts = {file.name: machine.text(str(file.relative_to(machine.root))) or "" for file in files}
    active = [name for name, text in texts.items() if text.startswith("Mitigation")]
    if not active:
        return ok("mitigations", "none at work")
    why = "they slow system calls, for all variants alike: ratios hold, figures of other machines do not compare"
    change = "nothing to change; give this line beside the figures"
    return Finding("note", "mitigations", ", ".join(active), why, change)
