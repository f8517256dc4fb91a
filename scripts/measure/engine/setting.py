"""The programs, CPUs, files and phases of one run."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scripts.build.sources.kinds import RUNNING
from scripts.lib import json_record
from scripts.lib.host import cpus as host_cpus
from scripts.lib.vocabulary import SLOW
from scripts.measure.loadgen import client_host, gated, lua, processes, run_sysbench, sysbench
from scripts.measure.loadgen.sysbench import SysbenchCall
from scripts.measure.servers import families
from scripts.measure.servers.server import Server


class Phases:
    """A stopwatch; `seconds` maps the phases that have ended to their lengths."""

    def __init__(self, started_at: float, log: Path | None = None) -> None:
        """Begin at `started_at`, seconds since 1970: the start of the process, before Python itself started.

        Phases are announced in `log`.
        """
        self.started_at, self.log = started_at, log
        self.seconds: dict[str, float] = {}
        # Durations come from the monotonic clock, but the start of the process is known on the wall clock only.
        self._since_s = time.monotonic() - (time.time() - started_at)

    def announce(self, what: str) -> None:
        """Write to the log what begins now, for whoever follows the measurement."""
        if self.log:
            with self.log.open("a", encoding="utf-8") as text:
                text.write(f"{what}\n")

    def end(self, name: str, less_s: float = 0.0, less_name: str | None = None) -> None:
        """End a phase now; `less_s` of its seconds count as the phase `less_name` instead."""
        now_s = time.monotonic()
        self.seconds[name] = self.seconds.get(name, 0.0) + now_s - self._since_s - less_s
        if less_name:
            self.seconds[less_name] = less_s
        self._since_s = now_s

    def add(self, name: str, seconds: float) -> None:
        """Add seconds to a phase; the next phase begins now."""
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds
        self._since_s = time.monotonic()


# Each process of a load needs a seed of its own. The seed of a call is its repetition, which stays below this.
SEEDS_APART = 10_000


@dataclass(frozen=True)
class Setting:
    """The recipe of one run, its place in the study, its programs, CPUs and files.

    `remote` is the client host, None when the load generator runs on this host. `at_edge` is called with the server at
    both edges of the window. `window_s` are the seconds of the window, None for those of the recipe.
    """

    recipe: dict[str, Any]
    place: dict[str, Any]
    identity: Path
    dataset: Path
    text: Path
    log: Path
    generator: sysbench.Capabilities
    cpus: host_cpus.Placement
    remote: client_host.ClientHost | None = None
    at_edge: Callable[[Server], None] = lambda server: None
    window_s: int | None = None

    @property
    def stops_slowly(self) -> bool:
        """Whether the server finishes what it put off before it ends, and the time of that is measured."""
        return self.load.get("stop") == SLOW

    @property
    def load(self) -> dict[str, Any]:
        """Return the workload's part of the recipe."""
        return self.recipe["load"]

    @property
    def measure_s(self) -> int:
        """Return the seconds of the window."""
        return self.window_s or self.load["measure_s"]

    @property
    def family(self) -> families.Family:
        """Return the server's family."""
        return families.of(self.recipe["variant"]["family"])

    @property
    def why_printed(self) -> str:
        """Why no gate can count the load, so that what sysbench prints is taken; empty where a gate counts."""
        return lua.why_no_gate(self.load)

    @property
    def client_environment(self) -> dict[str, str]:
        """Return the environment variables of sysbench."""
        return self.load.get("client_environment", {})

    @property
    def network_options(self) -> dict[str, Any]:
        """Return the server options that a client host needs; empty without a client host."""
        return client_host.network_options_of(self.remote, self.family)

    @property
    def is_running(self) -> bool:
        """Whether the server already runs, so that it is neither started nor stopped."""
        return bool(json_record.read(self.identity).get(RUNNING))

    def at(self, place: Mapping[str, Any], position: int) -> "Setting":
        """Return the setting of another place in the study, at a position among the turns of its block."""
        return replace(self, place={**_own(place), "position": position})

    def calls(self, server: Server, seconds: int, seed: int) -> list[SysbenchCall]:
        """Return the calls of all sysbench processes that run the workload for `seconds`."""
        flags = client_host.client_flags(self.remote, server)
        return [client_host.call_there(self.remote, server, call) for call in self.calls_by(flags, seconds, seed)]

    def calls_by(self, flags: list[str], seconds: int, seed: int) -> list[SysbenchCall]:
        """Return the calls of all sysbench processes that reach the server by these connection options."""
        generator = client_host.generator_of_commands(self.remote, self.generator)
        return [run_sysbench.call_of_load(generator, self.load, flags, clients, seconds, own_seed)
                for own_seed, clients in self._parts(seed)]  # fmt: skip

    def _parts(self, seed: int) -> list[tuple[int, int]]:
        """Return (seed, clients) of each sysbench process."""
        every = self.place["clients"]
        # Several processes start together through a FIFO, which does not reach a client host.
        parts = processes.client_parts(every) if self.remote is None else [every]
        return [(seed + place * SEEDS_APART, clients) for place, clients in enumerate(parts)]

    def gated(self, calls: Sequence[SysbenchCall], text: Path) -> AbstractContextManager[gated.GatedLoad]:
        """Run the calls with all clients held at a gate; their output goes to `text`."""
        return gated.connected(calls, text, self.cpus.client_cpus, self.client_environment)

    def patience_s(self, seconds: float) -> float:
        """Return the time limit in seconds of a sysbench call that should take so many seconds."""
        return 2 * seconds + 120


def setting_of(
    recipe: dict[str, Any], place: Mapping[str, Any], identity: Path, dataset: Path, text: Path, log: Path, **more: Any
) -> Setting:
    """Return the setting of a run on this machine, whose files have folders; `more` are further fields of it.

    Raises ValueError when the client host does not answer, and as `cpus.place_processes` does.
    """
    for file in (text, log):
        file.parent.mkdir(parents=True, exist_ok=True)
    load, topology = recipe["load"], host_cpus.read_topology()
    running = json_record.read(identity).get(RUNNING)
    cpus = host_cpus.client_alone(topology) if running else client_host.place_on_hosts(topology, load)
    generator, remote = sysbench.read_capabilities(), client_host.client_host_of(load)
    return Setting(recipe, _own(place), identity, dataset, text, log, generator, cpus, remote, **more)


def _own(place: Mapping[str, Any]) -> dict[str, Any]:
    """Return the place of a run without the records that must not have failed, which no run keeps."""
    return {key: value for key, value in place.items() if key != "judged"}
