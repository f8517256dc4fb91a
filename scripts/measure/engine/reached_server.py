"""A server under test that already runs: it is connected to, and waits by its clients' gate alone."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, dataclass, fields
from typing import Any

from scripts.build.sources.kinds import RUNNING
from scripts.lib import json_record
from scripts.lib.host import machine_facts as host_facts
from scripts.lib.host import priority, usage, workplace
from scripts.measure.engine import buffer_pool, observe
from scripts.measure.engine.disk_load import WarmUp
from scripts.measure.engine.held import GateAlone
from scripts.measure.engine.own_server import UsageFacts, drop_connection
from scripts.measure.engine.setting import Setting
from scripts.measure.engine.side_by_side import Slice
from scripts.measure.loadgen import encryption
from scripts.measure.loadgen.gated import GatedLoad, connected
from scripts.measure.loadgen.sysbench import SysbenchCall
from scripts.measure.servers import own_database
from scripts.measure.servers.endpoint import endpoint_of
from scripts.measure.servers.families import Family
from scripts.measure.servers.running_server import RunningServer

# What the record of a run of a server that already runs cannot have.
UNKNOWN = ("build", "CPU model", "CPUs", "CPU time", "memory", "I/O", "files", "storage")


@dataclass(frozen=True)
class FoundTables:
    """The tables that were loaded into a database of ours, and how their server is reached."""

    server: RunningServer
    facts: dict[str, Any]


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
    return FoundTables(server, {"address": identity[RUNNING], "database": loaded["database"], "mark": loaded["mark"]})


@dataclass(frozen=True)
class ReachedServer:
    """A server that already runs and has our tables, with the interface of `OwnServer`."""

    setting: Setting
    server: RunningServer
    connection: Any
    facts: dict[str, Any]

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

    def variable_facts(self) -> dict[str, dict[str, str]]:
        """Return the server's variables."""
        with self.server.blamed("before the block"):
            return observe.variable_facts(self.family, self.connection)

    def file_sizes(self) -> dict[str, dict[str, Any]]:
        """Return no sizes: the server's files are unknown."""
        return {}

    def file_facts(self, before: Mapping[str, Any]) -> dict[str, Any]:
        """Return nothing: the server's files are unknown."""
        return {}

    def fill_pool(self, sizes: dict[str, Any]) -> dict[str, Any]:
        """Read the tables into the server's pool only if the load asks for it: whether they fit is unknown."""
        if self.setting.load.get("fill") != buffer_pool.ALWAYS:
            return {}
        with self.server.blamed("while its tables were read"):
            return {**buffer_pool.fill(self.setting.load, self.family, self.connection, {}), "table_bytes": None}

    def calls(self, seconds: int, seed: int) -> list[SysbenchCall]:
        """Return the calls that run the load for `seconds`."""
        return self.setting.calls_by(self.server.sysbench_flags, seconds, seed)

    def connected(self, calls: Sequence[SysbenchCall]) -> AbstractContextManager[GatedLoad]:
        """Run the calls with all clients connected and held at their gate."""
        return connected(calls, self.setting.text, self.setting.cpus.client_cpus, self.server.environment)

    def client_facts(self, load: GatedLoad) -> dict[str, Any]:
        """Return nothing: no study gives environments here; give sysbench this process's priority."""
        priority.carry_over(*load.pids)
        return {}

    def hold(self) -> GateAlone:
        """Return how the server waits: nothing stops it, its clients' gate is closed."""
        return GateAlone()

    def watch_disk(self, slices: int) -> list[WarmUp]:
        """Return nothing to watch: no turn can start this server, whatever it asks of its disk."""
        return []

    def counters(self) -> dict[str, float]:
        """Return the server's counters."""
        return self.family.counters(self.connection)

    def edge(self) -> observe.Edge:
        """Read the server's counters; the engine's report is left out, for it names users."""
        return observe.Edge(self.counters(), "")

    def meter(self, load: GatedLoad) -> UsageFacts:
        """Return what gives the facts of the resources used in an arm's slices from now on."""
        before = _used(load)
        return lambda slices: self._usage_facts(slices, before, _used(load))

    def statement_facts(self, call: SysbenchCall) -> dict[str, Any]:
        """Return nothing: this server's log is not ours."""
        return {}

    def _usage_facts(
        self, slices: Sequence[Slice], before: usage.ProcessTimes, after: usage.ProcessTimes
    ) -> dict[str, Any]:
        """Return `client_host`: this machine, the CPU time of sysbench on it, and of all programs in the open time."""
        host = {each.name: sum(getattr(one.host, each.name) for one in slices) for each in fields(usage.CpuTimes)}
        cpu = {
            "duration_s": sum(one.open_ns for one in slices) / 1e9,
            "user_s": after.user_s - before.user_s,
            "system_s": after.system_s - before.system_s,
            "host_busy_s": host["user_s"] + host["system_s"] + host["irq_s"],
            "host_steal_s": host["steal_s"],
        }
        machine = asdict(host_facts.read_host())
        return {"client_host": {"host": machine, "cpus": list(self.setting.cpus.client_cpus), "cpu": cpu}}

    def stop(self) -> dict[str, float | None]:
        """Close our own connection; the server goes on."""
        drop_connection(self.connection)
        return {}


def _used(load: GatedLoad) -> usage.ProcessTimes:
    return usage.sum_of_processes([usage.process_times(pid) for pid in load.pids])


def reach(setting: Setting, found: FoundTables, stack: ExitStack) -> ReachedServer:
    """Connect to the server. Raises ValueError for another release than was declared."""
    identity = json_record.read(setting.identity)
    with found.server.blamed("before the block"):
        connection = found.server.connect()
        stack.callback(drop_connection, connection)
        if (release := found.server.family.release_of(connection)) != identity["release"]:
            raise ValueError(
                f"{identity['server']}: is release {release}, was {identity['release']} when its tables were "
                f"loaded; remove {setting.identity.parent} to measure the other release as another server"
            )
        cipher = encryption.cipher(found.server, setting.generator)
    about = {"release": release, "cipher": cipher, "tls": cipher is not None, "restarted": False}
    return ReachedServer(
        setting, found.server, connection, {RUNNING: {**found.facts, **about, "unknown": list(UNKNOWN)}}
    )
