"""The tools that look into a server under load: what each begins, ends, and says."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from scripts import perf, strace
from scripts.server import Server
from scripts.tracer import ToolFailed, Tracer, missing
from scripts.waits import Waits

PROGRAMS = {"perf": ("perf", "linux-perf"), "syscalls": ("strace", "strace"), "fsyncs": ("strace", "strace")}


class Tool(Protocol):
    """Looks into a server from `begin` to `end`; `facts` raises ToolFailed when it could not."""

    def begin(self, server: Server) -> None: ...
    def end(self) -> None: ...
    def facts(self) -> dict[str, Any]: ...
    def close(self) -> None: ...


@dataclass(frozen=True)
class Traced:
    """A tool that is a program of its own; `read` makes facts of what it wrote."""

    tracer: Tracer
    read: Callable[[], dict[str, Any]]

    def begin(self, server: Server) -> None:
        """Attach to the server."""
        self.tracer.begin(server.process.pid)

    def end(self) -> None:
        """Tell it to detach."""
        self.tracer.end()

    def facts(self) -> dict[str, Any]:
        """Return what it found, and its command."""
        self.tracer.finish()
        return {**self.read(), "command": self.tracer.argv}

    def close(self) -> None:
        """End what is left of it."""
        self.tracer.close()


class Window:
    """A tool from the first edge of a run's window to the second."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        self.open = False

    def __call__(self, server: Server) -> None:
        """Begin at the first edge, end at the second."""
        if self.open:
            self.tool.end()
        else:
            self.open = True
            self.tool.begin(server)


def unusable(name: str) -> str | None:
    """Return why a tool cannot be used on this machine, None when its program is there."""
    return missing(*PROGRAMS[name]) if name in PROGRAMS else None


def tool(name: str, folder: Path, log: Path, cpus: Sequence[int]) -> Tool:
    """Return a tool that works in `folder` on the given CPUs and tells its troubles in `log`."""
    output = folder / name
    match name:
        case "perf":
            command, read = partial(perf.record_command, data=output), partial(perf.read, output, log)
        case "syscalls":
            command, read = partial(strace.summary_command, output=output), lambda: strace.summary(output.read_text())
        case "fsyncs":
            command, read = partial(strace.syncs_command, output=output), partial(_syncs, output)
        case "waits":
            return Waits()
        case _:
            raise ValueError(f"tool: {name!r} is unknown, expected perf, waits, syscalls or fsyncs")
    return Traced(Tracer(command, log, cpus), read)


def _syncs(output: Path) -> dict[str, Any]:
    if not output.exists():
        raise ToolFailed("strace wrote nothing")
    with output.open(encoding="utf-8", errors="replace") as lines:
        return strace.syncs(lines)
