"""The programs that compile servers and put load on them, and the client host that a study may put load from."""

import re
from collections.abc import Callable

from scripts.build.compilation import toolchain
from scripts.build.compilation.toolchain import Toolchain
from scripts.build.compilation.trials import FAILURES, Keys, one_line, try_keys
from scripts.commands.doctor.checkup import SET_UP, CheckResult, CheckResults, Machine, ok
from scripts.commands.doctor.needs import Needs
from scripts.lib.host.cpus import format_cpus
from scripts.lib.json_record import Json
from scripts.measure.loadgen import client_host, sysbench
from scripts.measure.servers import families

Find = Callable[[str, dict[str, Json]], Toolchain]
TRIALS = {
    "profile": (Keys(profile=True), "without these flags the compiler silently ignores the profile"),
    "lto": (
        Keys(lto=True),
        "link-time optimisation needs ar, ranlib, nm and a linker that know the compiler's own object files",
    ),
}
BOLT_WHY = "BOLT instruments and optimises servers with these options"


def check_compilers(needs: Needs, machine: Machine, find: Find = toolchain.find) -> CheckResults:
    """Yield for each toolchain whether it is installed and passes the trials of the study's builds."""
    names = dict.fromkeys([*needs.compilers(), *(name for name, _ in needs.bolts)])
    installed = {}
    for name in names:
        try:
            installed[name] = find(name, needs.toolchain(name))
            yield ok(name, f"{installed[name].version} at {installed[name].commands.get('cc') or installed[name].bolt}")
        except FAILURES as error:
            yield CheckResult("problem", name, one_line(error), "the study's builds use this toolchain", SET_UP)
    yield from _trials(needs, installed)
    if needs.bolts:
        yield branch_records(machine)


def _trials(needs: Needs, installed: dict[str, Toolchain]) -> CheckResults:
    for key, (keys, why) in TRIALS.items():
        for name in needs.compilers(key):
            if name in installed:
                yield trial_finding(f"{name} {key}", installed[name], keys, why)
    for name, compiler in needs.bolts:
        if name in installed and compiler in installed:
            yield trial_finding(f"{name} on {compiler}", installed[compiler], Keys(bolt=installed[name]), BOLT_WHY)


def trial_finding(name: str, compiler: Toolchain, keys: Keys, why: str) -> CheckResult:
    """Run one trial of a toolchain."""
    try:
        try_keys(compiler, keys)
    except FAILURES as error:
        change = f"{SET_UP}, or name another toolchain in the study"
        return CheckResult("problem", name, one_line(error), why, change)
    return ok(name, "a small program went through")


def branch_records(machine: Machine) -> CheckResult:
    """Return whether the CPU records branches, which is not needed: BOLT instruments the server."""
    depth = machine.number("sys/bus/event_source/devices/cpu/caps/branches")
    fact = f"{depth} branches deep" if depth else "none here"
    return ok("branch records", f"{fact}; not used, BOLT instruments the server itself")


TRIED = (1, 0, 20)
VERSION = re.compile(r"\d+(?:\.\d+)+")


def check_tools(needs: Needs, machine: Machine) -> CheckResults:
    """Yield the versions of the programs, and which are missing."""
    for names, servers in wanted_programs(needs).items():
        yield program_finding(names, servers, machine.ask)
    yield load_generator(needs.drivers, sysbench.read_capabilities)


def wanted_programs(needs: Needs) -> dict[tuple[str, ...], list[str]]:
    """Return the servers each program is needed for."""
    servers_of: dict[tuple[str, ...], list[str]] = {}
    for server, entry in needs.compiled.items():
        for names in families.of(entry["family"]).BUILD_PROGRAMS:
            servers_of.setdefault(names, []).append(server)
    return servers_of


def program_finding(names: tuple[str, ...], servers: list[str], ask: Callable[..., str | None]) -> CheckResult:
    """Look for a program under its names."""
    answer = next((text for name in names if (text := ask(name, "--version")) is not None), None)
    if answer is None:
        why = f"compiling {', '.join(servers)} needs it"
        return CheckResult("problem", names[0], "not found on PATH, or does not run", why, SET_UP)
    version = VERSION.search(answer)
    return ok(names[0], version[0] if version else answer.strip().splitlines()[0])


def load_generator(drivers: set[str], read: Callable[[], sysbench.Capabilities]) -> CheckResult:
    """Look for a sysbench that can talk to the study's servers."""
    try:
        generator = read()
    except (ValueError, OSError) as error:
        return CheckResult("problem", "sysbench", str(error), "it makes the load that is measured", SET_UP)
    fact = (
        f"{generator.version} at {generator.path}, drivers {' '.join(generator.drivers) or 'none'}, {generator.luajit}"
    )
    if missing := sorted(drivers - set(generator.drivers)):
        why = f"the study's servers need the driver {' and '.join(missing)}"
        return CheckResult("problem", "sysbench", fact, why, "install a sysbench compiled with it, first on PATH")
    number = tuple(int(part) for part in re.findall(r"\d+", generator.version)[:3])
    if number < TRIED:
        why = "1.0.20 is the oldest that was tried: older ones count and report errors otherwise"
        return CheckResult("warning", "sysbench", fact, why, "install sysbench 1.0.20 or newer, first on PATH")
    return ok("sysbench", fact)


def check_client(needs: Needs) -> CheckResults:
    """Ask the client host, if the study has one, as a run does."""
    hosts = needs.study.hosts
    try:
        client = client_host.client_host_of(hosts["client"], hosts["placement"])
    except ValueError as error:
        change = "`client` in the study, or the host itself: its keys, its packages, the address"
        yield CheckResult("problem", "client host", str(error), "no run can start", change)
        return
    if client is None:
        return
    name, listens = client.entry.name, f"{client.address} port {client.port}"
    generator = f"sysbench {client.generator.version} on CPU {format_cpus(client.cpus)}"
    yield ok("client host", f"{name}: {generator}; the server listens on {listens}")
