"""The programs, CPUs, files and phases of one run."""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from scripts.build.sources.kinds import RUNNING
from scripts.lib import json_record
from scripts.lib.host import cpus as host_cpus
from scripts.lib.host import priority
from scripts.lib.host.machine_facts import Host
from scripts.lib.recipe_models import LoadRecipe, RunRecipe
from scripts.lib.vocabulary import SLOW
from scripts.measure.engine import run_parts
from scripts.measure.engine.machine_parts import HostFacts, PlacementFacts
from scripts.measure.engine.planned import RunContext
from scripts.measure.engine.run_record import Run
from scripts.measure.loadgen import client_host, gated, lua, processes, run_sysbench, sysbench
from scripts.measure.loadgen.output import SysbenchFailed
from scripts.measure.loadgen.sysbench import SysbenchCall
from scripts.measure.servers import families, process_environment
from scripts.measure.servers.families.family import Family
from scripts.measure.servers.families.option_rules import Options
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
    """The recipe of one run, its context, its programs, CPUs and files.

    `remote` is the client host, None when the load generator runs on this host. `at_edge` is called with the server at
    both edges of the window. `window_s` are the seconds of the window, None for those of the recipe.
    """

    recipe: RunRecipe
    context: RunContext
    identity: Path
    dataset: Path
    text: Path
    log: Path
    generator: sysbench.Capabilities
    cpus: host_cpus.Placement
    machine: Host
    remote: client_host.ClientHost | None = None
    at_edge: Callable[[Server], None] = lambda server: None
    window_s: int | None = None

    @property
    def stops_slowly(self) -> bool:
        """Whether the server finishes what it put off before it ends, and the time of that is measured."""
        return self.load.stop == SLOW

    @property
    def load(self) -> LoadRecipe:
        """Return the workload's part of the recipe."""
        return self.recipe.load

    @property
    def measure_s(self) -> int:
        """Return the seconds of the window. Raises ValueError for a load that has none."""
        if (seconds := self.window_s or self.load.measure_s) is None:
            raise ValueError(f"{self.context.workload}: no measure_s in its recipe, expected the seconds of a window")
        return seconds

    @property
    def family(self) -> Family:
        """Return the server's family."""
        return families.of(self.recipe.variant.family)

    @property
    def why_printed(self) -> str:
        """Why no gate can count the load, so that what sysbench prints is taken; empty where a gate counts."""
        return lua.why_no_gate(self.load.script or "", self.load.options, self.remote is not None)

    @property
    def network_options(self) -> Options:
        """Return the server options that a client host needs; empty without a client host."""
        return self.family.network_options(self.remote.address, self.remote.port) if self.remote else {}

    @property
    def is_running(self) -> bool:
        """Whether the server already runs, so that it is neither started nor stopped."""
        return bool(json_record.read(self.identity).get(RUNNING))

    @property
    def planned(self) -> Run:
        """What the record of the run has before anything is started."""
        described = json_record.read(self.identity)
        used = self.remote.generator if self.remote else self.generator
        run = Run(
            recipe=self.recipe.dump(),
            server=run_parts.ServerFacts.of({**described, "name": described["server"]}),
            sysbench=run_parts.Sysbench(used.version, used.path, used.sha256, self.text.name),
            # The host of a server that already runs is unknown; this machine has the load generator only.
            host=HostFacts() if self.is_running else HostFacts(**asdict(self.machine)),
            placement=PlacementFacts.of(asdict(self.cpus)),
            nice=priority.nice(),
        )
        return with_context(run, self.context)

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
        clients = self.context.clients
        # Several processes start together through a FIFO, which does not reach a client host.
        parts = processes.client_parts(clients) if self.remote is None else [clients]
        return [(seed + number * SEEDS_APART, part) for number, part in enumerate(parts)]

    def gated(self, calls: Sequence[SysbenchCall], text: Path) -> AbstractContextManager[gated.GatedLoad]:
        """Run the calls with all clients held at a gate; their output goes to `text`."""
        return gated.connected(calls, text, self.cpus.client_cpus, self.load.client_environment)

    def preloaded_by(self, pids: Iterable[int]) -> dict[str, str]:
        """Return path -> SHA-256 of the libraries that the study has preloaded into processes of sysbench.

        Raises SysbenchFailed naming the variable that one of them lacks, or the library not mapped into it.
        """
        libraries: dict[str, str] = {}
        for pid in pids if self.load.client_environment else ():
            try:
                libraries |= process_environment.demand(pid, self.load.client_environment)
            except process_environment.Lacking as error:
                text = f"sysbench runs without client_environment.{error} (log: {self.text})"
                raise SysbenchFailed(text) from error
        return libraries

    def patience_s(self, seconds: float) -> float:
        """Return the time limit in seconds of a sysbench call that should take so many seconds."""
        return 2 * seconds + 120


def with_context(run: Run, context: RunContext) -> Run:
    """Return a run with its context, but for the records that must not have failed."""
    return replace(run, **{name: value for name, value in context.values().items() if name != "judged"})


def setting_of(
    recipe: RunRecipe,
    context: RunContext,
    identity: Path,
    dataset: Path,
    text: Path,
    log: Path,
    machine: Host,
    *,
    at_edge: Callable[[Server], None] = lambda server: None,
    window_s: int | None = None,
) -> Setting:
    """Return the setting of a run on this machine, whose files have folders.

    Raises ValueError when the client host does not answer, and as `cpus.place_processes` does.
    """
    for file in (text, log):
        file.parent.mkdir(parents=True, exist_ok=True)
    load, topology = recipe.load, host_cpus.read_topology()
    is_running = json_record.read(identity).get(RUNNING)
    cpus = (
        host_cpus.client_alone(topology)
        if is_running
        else client_host.place_on_hosts(topology, load.placement, load.client)
    )
    generator, remote = sysbench.read_capabilities(), client_host.client_host_of(load.client, load.placement)
    return Setting(recipe, context, identity, dataset, text, log, generator, cpus, machine, remote, at_edge, window_s)
