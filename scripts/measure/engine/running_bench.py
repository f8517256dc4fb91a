"""The bench of an arm whose server already runs: it is connected to, and waits by its clients' gate alone."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from typing import Any

from scripts.build.sources.kinds import RUNNING
from scripts.lib import json_record
from scripts.lib.host import machine_facts, priority, usage, workplace
from scripts.measure.engine import buffer_pool, observe
from scripts.measure.engine.bench import Bench
from scripts.measure.engine.side_by_side import Arm, Slice
from scripts.measure.loadgen import encryption, output, processes
from scripts.measure.loadgen.gated import connected
from scripts.measure.servers import own_database
from scripts.measure.servers.endpoint import endpoint_of
from scripts.measure.servers.running_server import RunningServer

# What the record of a run of a server that already runs cannot have.
UNKNOWN = ("build", "CPU model", "CPUs", "CPU time", "memory", "I/O", "files", "storage")


@dataclass
class RunningArm(Arm):
    """An arm whose server is neither stopped nor frozen while others work; its CPU time is unknown."""

    held_by: str | None = "gate"
    waiting_cpu_ns: int | None = None

    def stop(self) -> None:
        """Leave the server alone: no client of this arm is let through."""

    def go_on(self) -> None:
        """Leave the server alone."""

    def release(self) -> None:
        """Leave the server alone."""

    def cpu_ns(self) -> None:
        """Return None: the CPU time of the server is unknown."""

    def is_alive(self) -> bool:
        """Return True: a server that is gone ends its clients."""
        return True


@dataclass
class RunningBench(Bench):
    """An arm on its way through a block, with the steps of `Bench`; nothing is cloned, started or stopped."""

    _place: Any = None
    _client_cpus: list[int] = field(default_factory=list)

    def clone(self) -> None:
        """Find the tables that were loaded, by the mark in their database. Raises NotOurs when they are others."""
        loaded, identity = json_record.read(self.setting.dataset), json_record.read(self.setting.identity)
        endpoint = endpoint_of(identity["server"], identity[RUNNING]).within(loaded["database"])
        family = self.setting.family.in_database(loaded["database"])
        self.stack.callback(endpoint.hide_in, self.setting.text)
        self._server = RunningServer(family, endpoint, self.stack.enter_context(workplace.temporary_directory()))
        with self._server.blamed("before the block"):
            outside = endpoint_of(identity["server"], identity[RUNNING])
            own_database.demand_mark(family, outside, loaded["database"], loaded["mark"], str(self.setting.dataset))
        self.facts[RUNNING] = {"address": identity[RUNNING], "database": loaded["database"], "mark": loaded["mark"]}

    def time_storage(self) -> None:
        """Do nothing: the storage of the server is unknown."""

    def start(self) -> None:
        """Connect, and read what the server says of itself. Raises ValueError for another release than was declared."""
        identity = json_record.read(self.setting.identity)
        with self._server.blamed("before the block"):
            self._connection = self._server.connect()
            self.stack.callback(self._drop_connection)
            if (release := self._server.family.release_of(self._connection)) != identity["release"]:
                raise ValueError(
                    f"{identity['server']}: is release {release}, was {identity['release']} when its tables were "
                    f"loaded; remove {self.setting.identity.parent} to measure the other release as another server"
                )
            variables = observe.variable_facts(self._server.family, self._connection)
            found = encryption.cipher(self._server, self.setting.generator)
        self.facts[RUNNING] |= {"release": release, "cipher": found, "tls": found is not None, "restarted": False}
        self.facts[RUNNING]["unknown"] = list(UNKNOWN)
        self.facts |= {**variables, "commands": {}}

    def fill_pool(self) -> None:
        """Read the tables into the server's pool only if the load asks for it: whether they fit is unknown."""
        with self._server.blamed("while its tables were read"):
            if self.setting.load.get("fill") == buffer_pool.ALWAYS:
                read = buffer_pool.fill(self.setting.load, self._server.family, self._connection, {})
                self.facts["pool"] = {**read, "table_bytes": None}

    def attach_load(self) -> None:
        """Start sysbench with all its clients connected and held at their gate."""
        setting = self.setting
        flags = self._server.sysbench_flags
        calls = setting.calls_by(flags, setting.load["measure_s"], seed=setting.place["repetition"])
        with self._server.blamed():
            held = connected(calls, setting.text, setting.cpus.client_cpus, self._server.environment)
            self.arm = RunningArm(self.name, self._server, load=self.stack.enter_context(held), end=self.stack.close)
        priority.carry_over(*self.arm.load.pids)
        self.facts["commands"] |= processes.named_commands(calls)

    def watch_warm_up(self, slices: int) -> None:
        """Do nothing: no turn can start this server, whatever it asks of its disk."""

    def _follow_counters(self) -> None:
        self.arm.after_slice = self._series.after_slice_of(partial(self._server.family.counters, self._connection))

    def used(self) -> usage.ProcessTimes:
        """Return what sysbench used so far. Raises ServerFailed or SysbenchFailed when one has ended."""
        with self._server.blamed():
            self.arm.load.demand_alive()
            return usage.sum_of_processes([usage.process_times(pid) for pid in self.arm.load.pids])

    def usage_facts(
        self, own: Sequence[Slice], before: usage.ProcessTimes, after: usage.ProcessTimes
    ) -> dict[str, Any]:
        """Return `client_host`: this machine, the CPU time of sysbench on it, and of all programs in the open time."""
        host = {each.name: sum(getattr(one.host, each.name) for one in own) for each in fields(usage.CpuTimes)}
        cpu = {
            "duration_s": sum(one.open_ns for one in own) / 1e9,
            "user_s": after.user_s - before.user_s,
            "system_s": after.system_s - before.system_s,
            "host_busy_s": host["user_s"] + host["system_s"] + host["irq_s"],
            "host_steal_s": host["steal_s"],
        }
        here = asdict(machine_facts.read_host())
        return {"client_host": {"host": here, "cpus": list(self.setting.cpus.client_cpus), "cpu": cpu}}

    def end_rounds(self, facts_of: Callable[[Any, Any], dict[str, Any]]) -> None:
        """Add the facts of the rounds, which `facts_of` makes of two samples of resources, and end sysbench."""
        self.facts |= facts_of(self._used_before, self.used())
        with self._server.blamed():
            self.facts |= observe.edge_facts(self._before, self.read_edge())
            sent = self._end_load(self.arm.load)
        self.facts["window"] |= sent
        self.facts |= output.operation_facts(self.setting.text)
        self.facts["counter_series"] = self._series.columns()

    def read_edge(self) -> observe.Edge:
        """Read the server's counters; the engine's report is left out, for it names users."""
        return observe.Edge(self._server.family.counters(self._connection), "")

    def stop(self) -> None:
        """Close our own connection; the server goes on."""
        self._drop_connection()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
