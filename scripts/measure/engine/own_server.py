"""A server of ours under test: its data are cloned, it is started on the clone, and stopped cleanly."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from scripts.lib import json_record
from scripts.lib.host import machine_supplies, priority, storage, usage, workplace
from scripts.measure.engine import buffer_pool, observe, slice_facts
from scripts.measure.engine.disk_load import WarmUp
from scripts.measure.engine.machine_parts import SuppliesFacts
from scripts.measure.engine.observe import Counters, logged_statements, with_switches
from scripts.measure.engine.run_parts import FileFacts, FileSizes, FsyncTimes, Medium, PageCache, Pool, Statements
from scripts.measure.engine.run_record import Run
from scripts.measure.engine.setting import Setting
from scripts.measure.engine.side_by_side import Held, Slice
from scripts.measure.loadgen import client_host, run_sysbench
from scripts.measure.loadgen.gated import GatedLoad
from scripts.measure.loadgen.sysbench import SysbenchCall
from scripts.measure.servers import data_directory, process_environment
from scripts.measure.servers import options as servers_options
from scripts.measure.servers.families.connection import Connection
from scripts.measure.servers.families.family import Family
from scripts.measure.servers.server import Server, running

# Returns a run with the resources used in an arm's slices.
UsageSince = Callable[[Run, Sequence[Slice]], Run]
Sizes = Mapping[str, FileSizes]
SERVER_LOG, FILL_LOG = ".server.log", ".load.txt"


@dataclass(frozen=True)
class ClonedData:
    """A clone of a snapshot, and the record of its run so far: what is known of the storage that it lies on."""

    folder: Path
    run: Run


def clone(setting: Setting, stack: ExitStack) -> Path:
    """Clone the snapshot to the variant's storage; returns the data directory, which is removed with the stack."""
    snapshot = setting.dataset.parent / "snapshot"
    data_directory.verify(snapshot, json_record.read(setting.dataset)["snapshot_sha256"])
    data = stack.enter_context(data_directory.cloned(snapshot, setting.context.storage))
    data_directory.demand_page_compression(setting.load.tables, data)
    return data


def time_storage(setting: Setting, data: Path) -> ClonedData:
    """Read what kind of place the data lie in, and how long its fsync takes; timed SQL begins with a cold cache."""
    medium = storage.fsync_facts(data.parent)
    run = replace(setting.planned, fsync_ms=FsyncTimes.of(medium["fsync_ms"]), medium=Medium.of(medium["medium"]))
    if setting.load.sql:
        run = replace(run, page_cache=PageCache(**storage.drop_cached(data)))
    return ClonedData(data, run)


@dataclass(frozen=True)
class OwnServer:
    """A server that was started on a clone; `run` is the record so far of its run."""

    setting: Setting
    server: Server
    data: Path
    connection: Connection
    run: Run

    def commands(self, fill: list[str]) -> dict[str, list[str]]:
        """Return the commands that a run's record has whatever its load; `fill` loaded its tables."""
        return {"server": self.server.command, "load": fill}

    @property
    def family(self) -> Family:
        return self.setting.family

    def fill_tables(self) -> list[str]:
        """Load the tables of a dataset that is made anew for every run; returns the command, empty for the others."""
        flags = self.family.sysbench_flags(self.server.sockets)
        with self.server.blamed():
            return run_sysbench.fill_anew(self.setting.load.tables, flags, self.setting.log.with_suffix(FILL_LOG))

    def variables(self) -> observe.Variables:
        """Return the server's variables, those that name a folder of this run apart."""
        with self.server.blamed():
            return observe.read_variables(self.family, self.connection, self.data.parent, self.server.sockets)

    def file_sizes(self) -> Sizes:
        """Return the sizes of the data directory's files per part."""
        with self.server.blamed():
            return observe.file_sizes(self.family, self.data, self.connection)

    def files(self, before: Sizes) -> FileFacts:
        """Return the sizes before, and those of now."""
        return FileFacts(dict(before), dict(self.file_sizes()))

    def fill_pool(self, sizes: Sizes) -> Pool:
        """Read the tables into the server's pool, unless the load says otherwise or they do not fit."""
        with self.server.blamed():
            return buffer_pool.fill(self.setting.load.fill, self.family, self.connection, sizes)

    def calls(self, seconds: int, seed: int) -> list[SysbenchCall]:
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

    def with_clients(self, run: Run, load: GatedLoad) -> Run:
        """Return a run with the proof of sysbench's environment; give sysbench the server's priority."""
        preloaded = self.setting.preloaded_by(load.programs)
        priority.carry_over(self.server.process.pid, *load.pids)
        return replace(run, client_environment=dict(self.setting.load.client_environment), client_preloaded=preloaded)

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

    def counters(self) -> Counters:
        return with_switches(self.family.counters(self.connection), self.server.process.pid)

    def edge(self) -> observe.Edge:
        return observe.read_edge(self.family, self.connection)

    def meter(self, load: GatedLoad) -> UsageSince:
        """Return what adds the resources used in an arm's slices from now on to a run."""
        before = usage.sample_usage(self.server.process.pid, *load.pids)

        def usage_since(run: Run, slices: Sequence[Slice]) -> Run:
            after = usage.sample_usage(self.server.process.pid, *load.pids)
            return replace(run, **slice_facts.used_in(slices, before, after).values())

        return usage_since

    def statements(self, call: SysbenchCall) -> Statements:
        """Return the statements of one event of the load, if this run is the one to log them."""
        return logged_statements(self.setting, self.server, self.connection, call)

    def stop(self) -> float | None:
        """Stop the server cleanly; returns the seconds that this took, None where the study asks for no slow stop."""
        if self.server.process.poll() is None:
            with self.server.blamed():
                self.connection.close()
        took_s = self.server.stop(keep_data=False, slow=self.setting.stops_slowly)
        return took_s if self.setting.stops_slowly else None


def start(setting: Setting, cloned: ClonedData, stack: ExitStack) -> OwnServer:
    """Start the server, and demand that it runs with the options and the environment of the study."""
    family, variant = setting.family, setting.recipe.variant
    install = workplace.installed(setting.identity)
    options = {**servers_options.server_options(family, variant.options), **setting.network_options}
    log, environment = setting.log.with_suffix(SERVER_LOG), dict(variant.environment)
    log.unlink(missing_ok=True)
    cpus = setting.cpus.server_cpus
    server = stack.enter_context(
        running(family, install, cloned.folder, options, log, cpus=cpus, environment=environment)
    )
    with server.blamed():
        preloaded = process_environment.require(server, environment)
        unread = servers_options.require_values(server, install, variant.options)
        connection = server.connect()
        stack.callback(drop_connection, connection)
        client_host.admit(setting.remote, server, connection)
        supplies = machine_supplies.got_by(server.process.pid)
    run = replace(
        cloned.run,
        environment=environment,
        preloaded=preloaded,
        options_unread=unread,
        supplies=SuppliesFacts(**asdict(supplies)),
        option_file=family.option_text(family.options_of_release(install, options)),
    )
    return OwnServer(setting, server, cloned.folder, connection, run)


def drop_connection(connection: Connection) -> None:
    """Close our own connection where it is still open: what a failed server makes of that adds nothing."""
    with contextlib.suppress(Exception):  # each family's driver has its own errors
        connection.close()
