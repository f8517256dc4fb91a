"""A server under test that already runs: it is connected to, and waits by its clients' gate alone."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, dataclass, fields, replace

from scripts.build.sources.kinds import RUNNING
from scripts.lib import json_record
from scripts.lib.host import machine_facts as host_facts
from scripts.lib.host import priority, usage, workplace
from scripts.measure.engine import buffer_pool, observe
from scripts.measure.engine.disk_load import WarmUp
from scripts.measure.engine.machine_parts import HostFacts
from scripts.measure.engine.observe import Counters
from scripts.measure.engine.own_server import Sizes, UsageSince, drop_connection
from scripts.measure.engine.run_parts import ClientCpu, ClientHostFacts, FileFacts, Pool, RunningFacts, Statements
from scripts.measure.engine.run_record import Run
from scripts.measure.engine.setting import Setting
from scripts.measure.engine.side_by_side import GateAlone, Slice
from scripts.measure.engine.slice_facts import open_s
from scripts.measure.loadgen import encryption
from scripts.measure.loadgen.gated import GatedLoad, connected
from scripts.measure.loadgen.sysbench import SysbenchCall
from scripts.measure.servers import own_database
from scripts.measure.servers.endpoint import endpoint_of
from scripts.measure.servers.families.connection import Connection
from scripts.measure.servers.families.family import Family
from scripts.measure.servers.running_server import RunningServer

# What the record of a run of a server that already runs cannot have.
UNKNOWN = ("build", "CPU model", "CPUs", "CPU time", "memory", "I/O", "files", "storage")


@dataclass(frozen=True)
class FoundTables:
    """The tables that were loaded into a database of ours, and how their server is reached."""

    server: RunningServer
    facts: RunningFacts


def find_tables(setting: Setting, stack: ExitStack) -> FoundTables:
    """Find the tables that were loaded, by the mark in their database. Raises NotOurs when they are others."""
    loaded, identity = json_record.read(setting.dataset), json_record.read(setting.identity)
    outside = endpoint_of(identity["server"], identity[RUNNING])
    endpoint = outside.within(loaded["database"])
    family = setting.family.in_database(loaded["database"])
    stack.callback(endpoint.hide_in, setting.text)
    server = RunningServer(family, endpoint, stack.enter_context(workplace.temporary_directory()))
    with server.blamed("before the block"):
        own_database.demand_mark(family, outside, loaded["database"], loaded["mark"], str(setting.dataset))
    return FoundTables(server, RunningFacts(identity[RUNNING], loaded["database"], loaded["mark"]))


@dataclass(frozen=True)
class ReachedServer:
    """A server that already runs and has our tables, with the interface of `OwnServer`."""

    setting: Setting
    server: RunningServer
    connection: Connection
    run: Run

    def commands(self, fill: list[str]) -> dict[str, list[str]]:
        """Return no commands: nothing was started."""
        return {}

    @property
    def family(self) -> Family:
        """The server's family, with the database to work in."""
        return self.server.family

    def fill_tables(self) -> list[str]:
        """Return no command: its tables are loaded once."""
        return []

    def variables(self) -> observe.Variables:
        """Return the server's variables."""
        with self.server.blamed("before the block"):
            return observe.read_variables(self.family, self.connection)

    def file_sizes(self) -> Sizes:
        """Return no sizes: the server's files are unknown."""
        return {}

    def files(self, before: Sizes) -> FileFacts:
        """Return no sizes: the server's files are unknown."""
        return FileFacts()

    def fill_pool(self, sizes: Sizes) -> Pool:
        """Read the tables into the server's pool only if the load asks for it: whether they fit is unknown."""
        if (fill := self.setting.load.fill) != buffer_pool.ALWAYS:
            return Pool()
        with self.server.blamed("while its tables were read"):
            return replace(buffer_pool.fill(fill, self.family, self.connection, {}), table_bytes=None)

    def calls(self, seconds: int, seed: int) -> list[SysbenchCall]:
        return self.setting.calls_by(self.server.sysbench_flags, seconds, seed)

    def connected(self, calls: Sequence[SysbenchCall]) -> AbstractContextManager[GatedLoad]:
        return connected(calls, self.setting.text, self.setting.cpus.client_cpus, self.server.environment)

    def with_clients(self, run: Run, load: GatedLoad) -> Run:
        """Return the run as it is: no study gives environments here; give sysbench this process's priority."""
        priority.carry_over(*load.pids)
        return run

    def hold(self) -> GateAlone:
        """Return how the server waits: nothing stops it, its clients' gate is closed."""
        return GateAlone()

    def watch_disk(self, slices: int) -> list[WarmUp]:
        """Return nothing to watch: no turn can start this server, whatever it asks of its disk."""
        return []

    def counters(self) -> Counters:
        return self.family.counters(self.connection)

    def edge(self) -> observe.Edge:
        """Read the server's counters; the engine's report is left out, for it names users."""
        return observe.Edge(self.counters(), "")

    def meter(self, load: GatedLoad) -> UsageSince:
        """Return what adds the resources used in an arm's slices from now on to a run."""
        before = _used(load)
        return lambda run, slices: replace(run, client_host=self._client_host(slices, before, _used(load)))

    def statements(self, call: SysbenchCall) -> Statements:
        """Return none: this server's log is not ours."""
        return Statements()

    def _client_host(
        self, slices: Sequence[Slice], before: usage.ProcessTimes, after: usage.ProcessTimes
    ) -> ClientHostFacts:
        """Return this machine, the CPU time of sysbench on it, and of all programs in the open time."""
        host = {name.name: sum(getattr(part.host, name.name) for part in slices) for name in fields(usage.CpuTimes)}
        cpu = ClientCpu(
            duration_s=open_s(slices),
            user_s=after.user_s - before.user_s,
            system_s=after.system_s - before.system_s,
            host_busy_s=host["user_s"] + host["system_s"] + host["irq_s"],
            host_steal_s=host["steal_s"],
        )
        machine = HostFacts(**asdict(host_facts.read_host()))
        return ClientHostFacts(host=machine, cpus=list(self.setting.cpus.client_cpus), cpu=cpu)

    def stop(self) -> float | None:
        """Close our own connection; the server goes on."""
        drop_connection(self.connection)
        return None


def _used(load: GatedLoad) -> usage.ProcessTimes:
    return usage.sum_of_processes([usage.process_times(pid) for pid in load.pids])


def reach(setting: Setting, tables: FoundTables, stack: ExitStack) -> ReachedServer:
    """Connect to the server. Raises ValueError for another release than was declared."""
    identity = json_record.read(setting.identity)
    with tables.server.blamed("before the block"):
        connection = tables.server.connect()
        stack.callback(drop_connection, connection)
        if (release := tables.server.family.release_of(connection)) != identity["release"]:
            raise ValueError(
                f"{identity['server']}: is release {release}, was {identity['release']} when its tables were "
                f"loaded; remove {setting.identity.parent} to measure the other release as another server"
            )
        cipher = encryption.cipher(tables.server, setting.generator)
    about = replace(
        tables.facts, release=release, cipher=cipher, tls=cipher is not None, restarted=False, unknown=list(UNKNOWN)
    )
    return ReachedServer(setting, tables.server, connection, replace(setting.planned, running=about))
