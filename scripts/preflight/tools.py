"""The programs that compile servers and put load on them."""

import re
from collections.abc import Callable

from scripts import sysbench
from scripts.preflight.finding import SET_UP, Finding, Findings, Machine, ok
from scripts.preflight.needs import Needs

# Commands by the families they compile; CMake takes Ninja under both names.
CMAKE = (("cmake",), ("ninja", "ninja-build"), ("bison",), ("perl",))
COMPILING = {"mariadb": CMAKE, "mysql": CMAKE, "postgresql": (("make",), ("bison",), ("flex",), ("perl",))}
TRIED = (1, 0, 20)
VERSION = re.compile(r"\d+(?:\.\d+)+")


def check(needs: Needs, machine: Machine) -> Findings:
    """Say which versions of the programs are there, and which are missing."""
    for names, families in wanted(needs).items():
        yield program(names, families, machine.ask)
    yield load_generator(needs.drivers, sysbench.read_capabilities)


def wanted(needs: Needs) -> dict[tuple[str, ...], list[str]]:
    """Return the servers each program is needed for."""
    found: dict[tuple[str, ...], list[str]] = {}
    for server, entry in needs.compiled.items():
        for names in COMPILING[entry["family"]]:
            found.setdefault(names, []).append(server)
    return found


def program(names: tuple[str, ...], servers: list[str], ask: Callable[..., str | None]) -> Finding:
    """Look for a program under its names."""
    told = next((text for name in names if (text := ask(name, "--version")) is not None), None)
    if told is None:
        why = f"compiling {', '.join(servers)} needs it"
        return Finding("problem", names[0], "not found on PATH, or does not run", why, SET_UP)
    version = VERSION.search(told)
    return ok(names[0], version[0] if version else told.strip().splitlines()[0])


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
