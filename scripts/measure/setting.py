"""What one run works with."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.host import cpus as host_cpus
from scripts.loadgen import client_host, many, run, sysbench
from scripts.loadgen.lua import script_path
from scripts.servers import families
from scripts.servers.server import Server


class Phases:
    """A stopwatch that is read at the end of each phase; `seconds` holds the phases by name."""

    def __init__(self, started_at: float) -> None:
        """Begin at `started_at`, seconds since the epoch: the start of the process, Python's own start included."""
        self.started_at = started_at
        self.seconds: dict[str, float] = {}
        # Durations come from the monotonic clock; only this first distance needs the other one.
        self._since_s = time.monotonic() - (time.time() - started_at)

    def end(self, name: str, less_s: float = 0.0, less_name: str | None = None) -> None:
        """End a phase now; `less_s` of it are booked under another name."""
        now_s = time.monotonic()
        self.seconds[name] = self.seconds.get(name, 0.0) + now_s - self._since_s - less_s
        if less_name:
            self.seconds[less_name] = less_s
        self._since_s = now_s

    def add(self, name: str, seconds: float) -> None:
        """Book a stretch that has just ended and that took so many seconds."""
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds
        self._since_s = time.monotonic()


# Processes of one load draw other keys; a call's seed is its repetition, of which there are fewer.
SEEDS_APART = 10_000


@dataclass(frozen=True)
class Setting:
    """What one run works with: its recipe, its place in the study, programs, CPUs and files.

    `there` is the client host, None when the load generator runs here too. `at_edge` is called with the server at both
    edges of the window.
    """

    recipe: dict[str, Any]
    place: dict[str, Any]
    identity: Path
    dataset: Path
    text: Path
    log: Path
    generator: sysbench.Capabilities
    cpus: host_cpus.Placement
    there: client_host.ClientHost | None = None
    at_edge: Callable[[Server], None] = lambda server: None

    @property
    def load(self) -> dict[str, Any]:
        """Return the workload's part of the recipe."""
        return self.recipe["load"]

    @property
    def family(self) -> families.Family:
        """Return the module that knows this server."""
        return families.of(self.recipe["variant"]["family"])

    @property
    def network_options(self) -> dict[str, Any]:
        """Return the server options that a client host needs, none without one."""
        return client_host.network_options_of(self.there, self.family)

    def commands(self, server: Server, seconds: int, seed: int) -> list[list[str]]:
        """Return the command lines for so many seconds of the workload: of one sysbench, or of as many as it takes."""
        every = self.place["clients"]
        # Several begin together through a FIFO, which a client host does not share with us.
        parts = many.client_parts(every) if self.there is None else [every]
        seeds = (seed + place * SEEDS_APART for place in range(len(parts)))
        return [self.command(server, seconds, *part) for part in zip(seeds, parts, strict=True)]

    def command(self, server: Server, seconds: int, seed: int, clients: int) -> list[str]:
        """Return sysbench's command line for so many seconds of the workload with some of its clients."""
        tables, script = self.load["tables"], script_path(self.load["script"])
        command = sysbench.run_command(
            client_host.address_for(self.there, self.generator),
            script,
            client_host.client_flags(self.there, server),
            tables.get("tables"),
            tables.get("rows"),
            run.options_of_load(self.generator, script, self.load),
            clients,
            seconds,
            seed=seed,
        )
        return client_host.client_command(self.there, server, command)

    def patience_s(self, key: str) -> float:
        """Return after how many seconds a sysbench call that should take `key` seconds is given up."""
        return 2 * self.load[key] + 120
