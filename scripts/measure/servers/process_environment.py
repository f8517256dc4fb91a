"""The environment variables a study gives its servers and its clients, and the proof that a process has them."""

import re
from collections.abc import Mapping
from pathlib import Path

from scripts.lib.json_record import file_sha256
from scripts.measure.servers.server import Server, ServerFailed

PRELOAD = "LD_PRELOAD"
PROCESSES = Path("/proc")


class Lacking(RuntimeError):
    """A process lacks a part of its environment; the text begins with the name of the variable."""


def preloaded(environment: Mapping[str, str]) -> list[Path]:
    """Return the libraries that an environment has loaded before all others; the loader splits at spaces and colons."""
    return [Path(name) for name in re.split(r"[\s:]+", environment.get(PRELOAD, "")) if name]


def require(server: Server, environment: Mapping[str, str], processes: Path = PROCESSES) -> dict[str, str]:
    """Return path -> SHA-256 of each library that an environment preloads; empty without an environment.

    Raises ServerFailed naming a variable that the server's process does not have, or a library that is not mapped into
    it: the loader goes on without one that it cannot read.
    """
    if not environment:
        return {}
    try:
        return demand(server.process.pid, environment, processes)
    except Lacking as error:
        program = Path(server.command[0]).name
        raise ServerFailed(f"{program} runs without environment.{error} (log: {server.log})") from error


def demand(pid: int, environment: Mapping[str, str], processes: Path = PROCESSES) -> dict[str, str]:
    """Return path -> SHA-256 of the libraries that an environment preloads into a process.

    Raises Lacking with the variables that the process does not have, or a library that is not mapped into it.
    """
    actual = _variables(processes / str(pid) / "environ")
    if lacking := [f"{name}={value}" for name, value in environment.items() if actual.get(name) != value]:
        raise Lacking(", ".join(lacking))
    text = (processes / str(pid) / "maps").read_text(errors="replace")
    mapped = {line.split(maxsplit=5)[-1] for line in text.splitlines()}
    libraries = preloaded(environment)
    if missing := [str(path) for path in libraries if str(path.resolve()) not in mapped]:
        not_mapped = f"{PRELOAD} {', '.join(missing)}: not mapped into its memory"
        raise Lacking(f"{not_mapped}; write the path of a library for this machine")
    return {str(path): file_sha256(path) for path in libraries}


def _variables(file: Path) -> dict[str, str]:
    entries = file.read_bytes().decode("utf-8", "replace").split("\0")
    return dict(entry.split("=", 1) for entry in entries if "=" in entry)
