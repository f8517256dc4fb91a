"""A server of ours under test: its data are cloned, it is started on the clone, and stopped cleanly."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.lib import json_record
from scripts.lib.host import priority, storage, usage, workplace
from scripts.measure.engine import buffer_pool, client_environment, observe, slice_facts
from scripts.measure.engine.counter_series import with_switches
from scripts.measure.engine.disk_load import WarmUp
from scripts.measure.engine.held import Held
from scripts.measure.engine.one_event import logged_statements
from scripts.measure.engine.setting import Setting
from scripts.measure.engine.side_by_side import Slice
from scripts.measure.loadgen import client_host, run_sysbench
from scripts.measure.loadgen.gated import GatedLoad
from scripts.measure.loadgen.sysbench import SysbenchCall
from scripts.measure.servers import data_directory, process_environment
from scripts.measure.servers import options as servers_options
from scripts.measure.servers.families import Family
from scripts.measure.servers.server import Server, running

UsageFacts = Callable[[Sequence[Slice]], dict[str, Any]]
SERVER_LOG, FILL_LOG = ".server.log", ".load.txt"


@dataclass(frozen=True)
class ClonedData:
    """A clone of a snapshot, and what is known of the storage that it lies on."""

    folder: Path
    facts: dict[str, Any]


def clone(setting: Setting, stack: ExitStack) -> Path:
    """Clone the snapshot to the variant's storage; returns the data directory, which is removed with the stack."""
    snapshot = setting.dataset.parent / "snapshot"
    data_directory.verify(snapshot, json_record.read(setting.dataset)["snapshot_sha256"])
    data = stack.enter_context(data_directory.cloned(snapshot, setting.place["storage"]))
    data_directory.demand_page_compression(setting.load["tables"], data)
    return data


def time_storage(setting: Setting, data: Path) -> ClonedData:
    """Read what kind of place the data lie in, and how long its fsync takes; timed SQL begins with a cold cache."""
    medium = storage.fsync_facts(data.parent)
    cold = {"page_cache": storage.drop_cached(data)} if "sql" in setting.load else {}
    return ClonedData(data, {**medium, **cold})


@dataclass(frozen=True)
class OwnServer:
    """A server that was started on a clone; `facts` are those that a run's record has of it whatever the load."""

    setting: Setting
    server: Server
    data: Path
    connection: Any
    facts: dict[str, Any]

    def commands(self, fill: list[str]) -> dict[str, list[str]]:
        """Return the commands that a run's record has whatever its load; `fill` loaded its tables."""
        return {"server": self.server.command, "load": fill}

    @property
    def family(self) -> Family:
        """The server's family."""
        return self.setting.family

    def fill_tables(self) -> list[str]:
        """Load the tables of a dataset that is made anew for every run; returns the command, empty for the others."""
        flags = self.family.sysbench_flags(self.server.sockets)
        with self.server.blamed():
            return run_sysbench.fill_anew(self.setting.load["tables"], flags, self.setting.log.with_suffix(FILL_LOG))

    def variable_facts(self) -> dict[str, dict[str, str]]:
        """Return the server's variables, those that name a folder of this run apart."""
        with self.server.blamed():
            return observe.variable_facts(self.family, self.connection, self.data.parent, self.server.sockets)

    def file_sizes(self) -> dict[str, dict[str, Any]]:
        """Return the sizes of the data directory's files per part."""
        with self.server.blamed():
            return observe.file_sizes(self.family, self.data, self.connection)

    def file_facts(self, before: Mapping[str, Any]) -> dict[str, Any]:
        """Return `files`: the sizes before, and those of now."""
        return {"files": {"before": before, "after": self.file_sizes()}}

    def fill_pool(self, sizes: dict[str, Any]) -> dict[str, Any]:
        """Read the tables into the server's pool, unless the load says otherwise or they do not fit; returns `pool`."""
        with self.server.blamed():
            return buffer_pool.fill(self.setting.load, self.family, self.connection, sizes)

    def calls(self, seconds: int, seed: int) -> list[SysbenchCall]:
        """Return the calls that run the load for `seconds`."""
        return self.setting.calls(self.server, seconds, seed)

    def connected(self, calls: Sequence[SysbenchCall]) -> AbstractContextManager[GatedLoad]:
        """Run the calls with all clients connected and held at their gate."""
        return self._patiently(self.setting.gated(calls, self.setting.text))

    @contextlib.contextmanager
    def _patiently(self, load: AbstractContextManager[GatedLoad]) -> Iterator[GatedLoad]:
        with contextlib.ExitStack() as stack:
            with self.family.patient_logins(self.connection):
                gated = stack.enter_context(load)
            yield gated

    def client_facts(self, load: GatedLoad) -> dict[str, Any]:
        """Return the proof that sysbench has the environment that the study gives it; give it the server's priority."""
        proven = client_environment.proven(self.setting, load.programs)
        priority.carry_over(self.server.process.pid, *load.pids)
        return proven

    def hold(self) -> Held:
        """Return how the server waits for its turn: stopped."""
        return Held(self.server)

    def watch_disk(self, slices: int) -> list[WarmUp]:
        """Begin to count what the server asks of a disk in so many slices of warm-up."""
        counts, family = lambda: self.family.disk_counts(self.family.counters(self.connection)), self.family
        watch = WarmUp(counts, slices, family.REPORTED_WITHIN_S > 0)
        with self.server.blamed():
            watch.begin()
        return [watch]

    def counters(self) -> dict[str, float]:
        """Return the server's counters with its context switches."""
        return with_switches(self.family.counters(self.connection), self.server.process.pid)

    def edge(self) -> observe.Edge:
        """Read the server's counters and its engine's report."""
        return observe.read_edge(self.family, self.connection)

    def meter(self, load: GatedLoad) -> UsageFacts:
        """Return what gives the facts of the resources used in an arm's slices from now on."""
        before = usage.sample_usage(self.server.process.pid, *load.pids)

        def facts(slices: Sequence[Slice]) -> dict[str, Any]:
            after = usage.sample_usage(self.server.process.pid, *load.pids)
            return slice_facts.usage_facts(slices, before, after)

        return facts

    def statement_facts(self, call: SysbenchCall) -> dict[str, Any]:
        """Return `statements`, those of one event of the load, if this run is the one to log them."""
        return logged_statements(self.setting, self.server, self.connection, call)

    def stop(self) -> dict[str, float | None]:
        """Stop the server cleanly; returns `slow_stop_s`, None where the study does not ask for a slow stop."""
        if self.server.process.poll() is None:
            with self.server.blamed():
                self.connection.close()
        took_s = self.server.stop(keep_data=False, slow=self.setting.stops_slowly)
        return {"slow_stop_s": took_s if self.setting.stops_slowly else None}


def start(setting: Setting, cloned: ClonedData, stack: ExitStack) -> OwnServer:
    """Start the server, and demand that it runs with the options and the environment of the study."""
    family, variant = setting.family, setting.recipe["variant"]
    install = workplace.installed(setting.identity)
    options = servers_options.server_options(family, variant) | setting.network_options
    log, given = setting.log.with_suffix(SERVER_LOG), variant.get("environment", {})
    log.unlink(missing_ok=True)
    cpus = setting.cpus.server_cpus
    server = stack.enter_context(running(family, install, cloned.folder, options, log, cpus=cpus, environment=given))
    with server.blamed():
        proven = process_environment.require(server, given)
        unread = servers_options.require_values(server, install, variant.get("options", {}))
        connection = server.connect()
        stack.callback(drop_connection, connection)
        client_host.admit(setting.remote, server, connection)
        supplies = observe.supply_facts(server.process.pid)
    written = {"option_file": family.option_text(family.options_of_release(install, options))}
    facts = {**cloned.facts, **proven, **unread, **supplies, **written}
    return OwnServer(setting, server, cloned.folder, connection, facts)


def drop_connection(connection: Any) -> None:
    """Close our own connection where it is still open: what a failed server makes of that adds nothing."""
    with contextlib.suppress(Exception):  # each family's driver has its own errors
        connection.close()
