"""The programs that compile servers and put load on them, and the client host that a study may put load from."""

import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from scripts.builds import bolt, flags, toolchain
from scripts.builds.toolchain import Toolchain
from scripts.commands.doctor.finding import SET_UP, Finding, Findings, Machine, ok
from scripts.commands.doctor.needs import Needs
from scripts.host.cpus import format_cpus
from scripts.loadgen import client_host, sysbench
from scripts.servers import families

Find = Callable[[str, dict], Toolchain]
Trial = Callable[[Toolchain], None]
# What a probe or a missing or broken command raises.
FAILURES = (ValueError, OSError, subprocess.SubprocessError)
MAIN = "int part(int);\nint main(int argc, char **argv) { (void)argv; return part(argc) != 8; }\n"
PART = "int part(int n) { int sum = 0; for (int i = 0; i < n; i++) sum += 8; return sum; }\n"
TRIAL_S = 60
SHOWN = 300
PROFILE_WHY = "without these flags the compiler silently ignores the profile"
LTO_WHY = "link-time optimisation needs ar, ranlib and nm that know the compiler's own object files"
BOLT_WHY = "BOLT instruments and optimises servers with these options"


def check_compilers(needs: Needs, machine: Machine, find: Find = toolchain.find) -> Findings:
    """Yield for each toolchain whether it is installed and passes the trials of the study's builds."""
    names = dict.fromkeys([*needs.compilers(), *(name for name, _ in needs.bolts)])
    found = {}
    for name in names:
        try:
            found[name] = find(name, needs.toolchain(name))
            yield ok(name, f"{found[name].version} at {found[name].commands.get('cc') or found[name].bolt}")
        except FAILURES as error:
            yield Finding("problem", name, error_text(error), "the study's builds use this toolchain", SET_UP)
    yield from _trials(needs, found)
    if needs.bolts:
        yield branch_records(machine)


def _trials(needs: Needs, found: dict[str, Toolchain]) -> Findings:
    for name in needs.compilers("profile", "bolt"):
        if name in found:
            yield trial_finding(f"{name} profile", found[name], toolchain.probe_profile_flags, PROFILE_WHY)
    for name in needs.compilers("lto"):
        if name in found:
            yield trial_finding(f"{name} LTO", found[name], link_time_optimised, LTO_WHY)
    for name, compiler in needs.bolts:
        if name in found and compiler in found:
            yield trial_finding(
                f"{name} on {compiler}", found[name], lambda tool, cc=found[compiler]: laid_out(tool, cc), BOLT_WHY
            )


def trial_finding(name: str, tool: Toolchain, trial: Trial, why: str) -> Finding:
    """Run one trial of a toolchain."""
    try:
        trial(tool)
    except FAILURES as error:
        change = f"{SET_UP}, or name another toolchain in the study"
        return Finding("problem", name, error_text(error), why, change)
    return ok(name, "a small program went through")


def error_text(error: Exception) -> str:
    """Return an error as one line: of a failed command its name, status and the end of its output."""
    text = str(error)
    if isinstance(error, subprocess.CalledProcessError):
        text = f"{error.cmd[0]}: exit {error.returncode}: {(error.stderr or '')[-SHOWN:]}"
    return " ".join(text.split())


def link_time_optimised(compiler: Toolchain) -> None:
    """Link a program with an archive, both compiled with -flto. Raises CalledProcessError with what failed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part, text in (("main", MAIN), ("part", PART)):
            (folder / f"{part}.c").write_text(text)
            _run(folder, compiler.cc, "-O2", "-flto", "-c", f"{part}.c", "-o", f"{part}.o")
        _run(folder, compiler.ar, "rc", "libpart.a", "part.o")
        _run(folder, compiler.ranlib, "libpart.a")
        _run(folder, compiler.cc, "-O2", "-flto", "main.o", "libpart.a", "-o", "program")
        _run(folder, "./program")


def laid_out(tool: Toolchain, compiler: Toolchain) -> None:
    """Take a small program through BOLT: instrumented, run, laid out anew, run. Raises CalledProcessError."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "main.c").write_text(MAIN + PART)
        linked, profile, made = (folder / each for each in ("linked", "profile", "made"))
        # An instrumented program reads itself under this name.
        counting = folder / "program"
        _run(folder, compiler.cc, "-O1", *flags.RELOCATABLE, *flags.RELOCATIONS, "main.c", "-o", str(linked))
        _run(folder, *bolt.instrument_command(tool.bolt, linked, counting, folder))
        _run(folder, str(counting))
        _run(folder, *bolt.optimise_command(tool.bolt, linked, made, profile))
        _run(folder, str(made))


def _run(folder: Path, *command: str) -> None:
    subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=TRIAL_S)


def branch_records(machine: Machine) -> Finding:
    """Return whether the CPU records branches, which is not needed: BOLT instruments the server."""
    known = machine.number("sys/bus/event_source/devices/cpu/caps/branches")
    fact = f"{known} branches deep" if known else "none here"
    return ok("branch records", f"{fact}; not used, BOLT instruments the server itself")


TRIED = (1, 0, 20)
VERSION = re.compile(r"\d+(?:\.\d+)+")


def check_tools(needs: Needs, machine: Machine) -> Findings:
    """Yield the versions of the programs, and which are missing."""
    for names, servers in wanted_programs(needs).items():
        yield program_finding(names, servers, machine.ask)
    yield load_generator(needs.drivers, sysbench.read_capabilities)


def wanted_programs(needs: Needs) -> dict[tuple[str, ...], list[str]]:
    """Return the servers each program is needed for."""
    found: dict[tuple[str, ...], list[str]] = {}
    for server, entry in needs.compiled.items():
        for names in families.of(entry["family"]).BUILD_PROGRAMS:
            found.setdefault(names, []).append(server)
    return found


def program_finding(names: tuple[str, ...], servers: list[str], ask: Callable[..., str | None]) -> Finding:
    """Look for a program under its names."""
    answer = next((text for name in names if (text := ask(name, "--version")) is not None), None)
    if answer is None:
        why = f"compiling {', '.join(servers)} needs it"
        return Finding("problem", names[0], "not found on PATH, or does not run", why, SET_UP)
    version = VERSION.search(answer)
    return ok(names[0], version[0] if version else answer.strip().splitlines()[0])


def load_generator(drivers: set[str], read: Callable[[], sysbench.Capabilities]) -> Finding:
    """Look for a sysbench that can talk to the study's servers."""
    try:
        found = read()
    except (ValueError, OSError) as error:
        return Finding("problem", "sysbench", str(error), "it makes the load that is measured", SET_UP)
    fact = f"{found.version} at {found.path}, drivers {' '.join(found.drivers) or 'none'}, {found.luajit}"
    if missing := sorted(drivers - set(found.drivers)):
        why = f"the study's servers need the driver {' and '.join(missing)}"
        return Finding("problem", "sysbench", fact, why, "install a sysbench compiled with it, first on PATH")
    number = tuple(int(part) for part in re.findall(r"\d+", found.version)[:3])
    if number < TRIED:
        why = "1.0.20 is the oldest that was tried: older ones count and report errors otherwise"
        return Finding("warning", "sysbench", fact, why, "install sysbench 1.0.20 or newer, first on PATH")
    return ok("sysbench", fact)


def check_client(needs: Needs) -> Findings:
    """Ask the client host, if the study has one, as a run does."""
    config = needs.study.config
    if "client" not in config:
        return
    try:
        there = client_host.client_host_of(config)
    except ValueError as error:
        change = "`client` in the study, or the host itself: its keys, its packages, the address"
        yield Finding("problem", "client host", str(error), "no run can start", change)
        return
    name, listens = client_host.client_name(config["client"]), f"{there.address} port {there.port}"
    found = f"sysbench {there.generator.version} on CPU {format_cpus(there.cpus)}"
    yield ok("client host", f"{name}: {found}; the server listens on {listens}")
