"""The diagnosis tools, attached to a server under load: perf, waits, strace; how each starts, stops and reports."""

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from scripts.lib.json_record import Json
from scripts.measure.engine import tracer as measure_tracer
from scripts.measure.engine.tracer import ToolFailed, Tracer, reason_missing
from scripts.measure.servers.server import Server

WAITS_EVERY_S = 0.05
WaitKey = tuple[str, str]  # who waits, for what
FoundWaits = dict[WaitKey, tuple[float, float]]  # number of waits, seconds


class Waits:
    """Waits of a server from `begin` to `end`, read on a separate connection."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self.threads = ThreadPoolExecutor(1)
        self.open = contextlib.ExitStack()
        self.before: FoundWaits = {}
        self.sampled: Future[tuple[Counter[WaitKey], int, float]] | None = None
        self.found: dict[str, Json] | None = None

    def begin(self, server: Server) -> None:
        """Read the waits once, or start a thread that samples them every 50 ms during the load."""
        self.connection = self.open.enter_context(contextlib.closing(server.connect()))
        self.family = server.family
        if self.family.WAITS_SAMPLED:
            self.sampled = self.threads.submit(self._sample)
        else:
            self.before = self.family.read_waits(self.connection)

    def end(self) -> None:
        """Read the waits a last time, or stop the sampling; then disconnect."""
        self.over.set()
        if self.sampled is not None:
            seen, looks, spent_s = self.sampled.result()
            each_s = spent_s / looks
            self.found = {"samples": looks, **wait_rows({key: (count, count * each_s) for key, count in seen.items()})}
        else:
            self.found = {
                "samples": None,
                **wait_rows(wait_difference(self.before, self.family.read_waits(self.connection))),
            }
        self.open.close()

    def facts(self) -> dict[str, Json]:
        """Return `samples`, the number of samples or None without sampling, and `waits`, see `wait_rows`.

        Raises ToolFailed if there were no waits.
        """
        if self.found is None or not self.found.get("waits"):
            raise ToolFailed("the server reported no waits")
        return self.found

    def close(self) -> None:
        self.over.set()
        self.threads.shutdown()
        # If the server failed under load, the connection is already broken.
        with contextlib.suppress(Exception):
            self.open.close()

    def _sample(self) -> tuple[Counter[WaitKey], int, float]:
        seen: Counter[WaitKey] = Counter()
        looks, begin_s = 0, time.monotonic()
        while not self.over.wait(WAITS_EVERY_S):
            seen.update({key: count for key, (count, _) in self.family.read_waits(self.connection).items()})
            looks += 1
        return seen, looks, time.monotonic() - begin_s


def wait_difference(before: FoundWaits, after: FoundWaits) -> FoundWaits:
    """Return the waits between two readings; those of threads that ended in between are missing."""
    waited = {}
    for key, (count, seconds) in after.items():
        earlier = before.get(key, (0.0, 0.0))
        if count > earlier[0]:
            waited[key] = (count - earlier[0], max(0.0, seconds - earlier[1]))
    return waited


def wait_rows(waits: FoundWaits) -> dict[str, Json]:
    """Return `waits`, one row per waiter and event with who, event, count and seconds, the longest first."""
    ordered = sorted(waits.items(), key=lambda wait: -wait[1][1])
    return {
        "waits": [
            {"who": who, "event": event, "count": count, "seconds": round(seconds, 6)}
            for (who, event), (count, seconds) in ordered
        ]
    }


PROGRAMS = {"perf": ("perf", "linux-perf"), "syscalls": ("strace", "strace"), "fsyncs": ("strace", "strace")}


class DiagnosisTool(Protocol):
    """Observes a server from `begin` to `end`; `facts` raises ToolFailed if that failed."""

    def begin(self, server: Server) -> None: ...
    def end(self) -> None: ...
    def facts(self) -> dict[str, Json]: ...
    def close(self) -> None: ...


@dataclass(frozen=True)
class Traced:
    """A tool that is a separate program; `read` returns facts from its output."""

    tracer: Tracer
    read: Callable[[], dict[str, Json]]

    def begin(self, server: Server) -> None:
        self.tracer.begin(server.process.pid)

    def end(self) -> None:
        self.tracer.end()

    def facts(self) -> dict[str, Json]:
        """Return the facts that `read` returns, and `command`."""
        self.tracer.finish()
        return {**self.read(), "command": [*self.tracer.argv]}

    def close(self) -> None:
        self.tracer.close()


class DiagnosedWindow:
    """Runs a tool from the first edge of a run's window to the second."""

    def __init__(self, tool: DiagnosisTool) -> None:
        self.tool = tool
        self.open = False

    def __call__(self, server: Server) -> None:
        """Start the tool at the first call, stop it at the second."""
        if self.open:
            self.tool.end()
        else:
            self.open = True
            self.tool.begin(server)


def unusable(name: str) -> str | None:
    """Return why a tool cannot be used on this machine, None if its program is installed."""
    return reason_missing(*PROGRAMS[name]) if name in PROGRAMS else None


def tool_of(name: str, folder: Path, log: Path, cpus: Sequence[int]) -> DiagnosisTool:
    """Return the tool `name`; it writes its output to `folder` and its messages to `log`, and runs on `cpus`.

    Raises ValueError if the name is unknown.
    """
    output = folder / name
    match name:
        case "perf":
            recorded = partial(measure_tracer.perf_record_command, data=output)
            return Traced(Tracer(recorded, log, cpus), lambda: measure_tracer.read_stacks(output, log))
        case "syscalls":
            summed = partial(measure_tracer.summary_command, output=output)
            return Traced(Tracer(summed, log, cpus), lambda: measure_tracer.read_summary(output.read_text()))
        case "fsyncs":
            listed = partial(measure_tracer.syncs_command, output=output)
            return Traced(Tracer(listed, log, cpus), lambda: _syncs(output))
        case "waits":
            return Waits()
    raise ValueError(f"tool: {name!r} is unknown, expected perf, waits, syscalls or fsyncs")


def _syncs(output: Path) -> dict[str, Json]:
    if not output.exists():
        raise ToolFailed("strace wrote nothing")
    with output.open(encoding="utf-8", errors="replace") as lines:
        return measure_tracer.read_syncs(lines)
