"""The bench of one arm of a block: its clone, server and gated clients, from the snapshot to the clean stop."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.lib import json_record
from scripts.lib.host import priority, storage, usage, workplace
from scripts.measure.engine import buffer_pool, client_environment, observe, run_load, slice_facts
from scripts.measure.engine.counter_series import CounterSeries, with_switches
from scripts.measure.engine.disk_load import WarmUp
from scripts.measure.engine.held import Held
from scripts.measure.engine.setting import Phases, Setting
from scripts.measure.engine.side_by_side import Arm, Slice
from scripts.measure.loadgen import output, processes, run_sysbench, slice_gate
from scripts.measure.loadgen.gated import GatedLoad
from scripts.measure.loadgen.sysbench import SysbenchCall
from scripts.measure.servers import data_directory, process_environment
from scripts.measure.servers import options as servers_options
from scripts.measure.servers.server import Server, running

SERVER_LOG, FILL_LOG = ".server.log", ".load.txt"


@dataclass
class Bench:
    """An arm on its way through a block; `facts` grows with each step, `stack` holds what must end."""

    name: str
    setting: Setting
    stack: contextlib.ExitStack
    facts: dict[str, Any] = field(default_factory=dict)
    failure: Exception | None = None
    arm: Held | None = None
    watch: WarmUp | None = None
    _series: CounterSeries = field(default_factory=CounterSeries)
    _data: Path | None = None
    _measuring_call: SysbenchCall | None = None
    _server: Server | None = None
    _connection: Any = None
    _before: observe.Edge | None = None
    _sent_before: dict[str, int] | None = None
    _used_before: usage.Sample | None = None

    def clone(self) -> None:
        """Clone the snapshot to the variant's storage."""
        setting = self.setting
        folder = setting.dataset.parent / "snapshot"
        data_directory.verify(folder, json_record.read(setting.dataset)["snapshot_sha256"])
        self._data = self.stack.enter_context(data_directory.cloned(folder, setting.place["storage"]))
        data_directory.demand_page_compression(setting.load["tables"], self._data)

    def time_storage(self) -> None:
        """Record what kind of place the data lie in, and how long its fsync takes."""
        self.facts |= storage.fsync_facts(self._data.parent)

    def start(self) -> None:
        """Start the server, fill the tables that each run loads anew, and read what the server says of itself."""
        setting, family = self.setting, self.setting.family
        install, variant = workplace.installed(setting.identity), setting.recipe["variant"]
        options = servers_options.server_options(family, variant)
        log = setting.log.with_suffix(SERVER_LOG)
        log.unlink(missing_ok=True)
        given = variant.get("environment", {})
        up = running(family, install, self._data, options, log, cpus=setting.cpus.server_cpus, environment=given)
        self._server = self.stack.enter_context(up)
        with self._server.blamed():
            self.facts |= process_environment.require(self._server, given)
            unread = servers_options.require_values(self._server, install, variant.get("options", {}))
            flags = family.sysbench_flags(self._server.sockets)
            filled = run_sysbench.fill_anew(setting.load["tables"], flags, setting.log.with_suffix(FILL_LOG))
            self._connection = self._server.connect()
            self.stack.callback(self._drop_connection)
            variables = observe.variable_facts(family, self._connection, self._data.parent, self._server.sockets)
            self.facts["files"] = {"before": observe.file_sizes(family, self._data, self._connection)}
        written = family.option_text(family.options_of_release(install, options))
        commands = {"server": self._server.command, "load": filled}
        got = observe.supply_facts(self._server.process.pid)
        self.facts |= {**unread, **variables, **got, "option_file": written, "commands": commands}

    def fill_pool(self) -> None:
        """Read the tables into the server's pool, unless the load says otherwise or they do not fit."""
        with self._server.blamed():
            before = self.facts["files"]["before"]
            self.facts["pool"] = buffer_pool.fill(self.setting.load, self.setting.family, self._connection, before)

    def attach_load(self) -> None:
        """Start sysbench with all its clients connected and held at their gate."""
        setting = self.setting
        calls = setting.calls(self._server, setting.load["measure_s"], seed=setting.place["repetition"])
        with self._server.blamed(), setting.family.patient_logins(self._connection):
            held = setting.gated(calls, setting.text)
            self.arm = Arm(self.name, self._server, load=self.stack.enter_context(held), end=self.stack.close)
            self.facts |= client_environment.proven(setting, self.arm.load.programs)
        priority.carry_over(self._server.process.pid, *self.arm.load.pids)
        self.facts["commands"] |= processes.named_commands(calls)
        self._measuring_call = calls[0]

    def watch_warm_up(self, slices: int) -> None:
        """Count what the server asks of a disk in so many slices of warm-up."""
        family = self.setting.family
        late = family.REPORTED_WITHIN_S > 0
        self.watch = WarmUp(lambda: family.disk_counts(family.counters(self._connection)), slices, late)
        with self._server.blamed():
            self.watch.begin()
        self.arm.after_slice = self.watch.after_slice

    def leave_rounds(self) -> None:
        """End sysbench without rounds."""
        with self._server.blamed():
            self.arm.load.end()

    def begin_rounds(self) -> None:
        """Read the server's counters and resources after warm-up, and forget what the gate counted so far."""
        with self._server.blamed():
            self._before = self.read_edge()
        self.arm.load.gate.forget()
        self._sent_before = self.arm.load.gate.sent
        self.arm.after_slice = lambda open_ns: None
        if self.setting.load.get("series"):
            self._follow_counters()
        self._used_before = self.used()

    def _follow_counters(self) -> None:
        self.arm.before_slice = self._series.before_slice
        self.arm.after_slice = self._series.after_slice_of(self._read_series)

    def _read_series(self) -> dict[str, float]:
        return with_switches(self.setting.family.counters(self._connection), self._server.process.pid)

    def used(self) -> usage.Sample:
        """Return a sample of the resources used so far. Raises ServerFailed or SysbenchFailed when one has ended."""
        with self._server.blamed():
            self.arm.load.demand_alive()
            return usage.sample_usage(self._server.process.pid, *self.arm.load.pids)

    def end_rounds(self, facts_of: Callable[[usage.Sample, usage.Sample], dict[str, Any]]) -> None:
        """Add the facts of the rounds, which `facts_of` makes of two samples of resources, and end sysbench."""
        family, held = self.setting.family, self.arm.load
        self.facts |= facts_of(self._used_before, self.used())
        with self._server.blamed():
            self.facts |= observe.edge_facts(self._before, self.read_edge())
            sent = self._end_load(held)
            self.facts["files"] |= {"after": observe.file_sizes(family, self._data, self._connection)}
            call = self._measuring_call
            self.facts |= run_load.logged_statements(self.setting, self._server, self._connection, call, Phases(0.0))
        self.facts["window"] |= sent
        self.facts |= output.operation_facts(self.setting.text)
        self.facts["counter_series"] = self._series.columns()

    def read_edge(self) -> observe.Edge:
        """Read the server's counters and its engine's report."""
        return observe.read_edge(self.setting.family, self._connection)

    def usage_facts(self, own: Sequence[Slice], before: usage.Sample, after: usage.Sample) -> dict[str, Any]:
        """Return the facts of the resources used in an arm's slices, from samples before and after the rounds."""
        return slice_facts.usage_facts(own, before, after)

    def _end_load(self, held: GatedLoad) -> dict[str, int | None]:
        """End sysbench; returns the queries, ignored errors and reconnects of the rounds, None where unknown."""
        sent = held.gate.sent
        held.end()
        if None in (sent, self._sent_before):
            return dict.fromkeys(slice_gate.SENT)
        return {name: sent[name] - self._sent_before[name] for name in slice_gate.SENT}

    def stop(self) -> None:
        """Stop the server cleanly."""
        with self._server.blamed():
            self._disconnect()
        slow = self.setting.stops_slowly
        took_s = self._server.stop(keep_data=False, slow=slow)
        self.facts["slow_stop_s"] = took_s if slow else None

    def _disconnect(self) -> None:
        """Close our own connection, unless it is closed or ended with the server."""
        connection, self._connection = self._connection, None
        if connection is not None and self._server.process.poll() is None:
            connection.close()

    def _drop_connection(self) -> None:
        """Close our own connection where it is still open: what a failed server makes of that adds nothing."""
        with contextlib.suppress(Exception):  # each family's driver has its own errors
            self._disconnect()
