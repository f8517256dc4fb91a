"""The objects inside the record of a run, see `run_record`.

Units end the names. A value that was not measured, or that the release which wrote the record did not have, is None.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TypedDict

from scripts.lib.json_record import Json
from scripts.lib.parts import Part
from scripts.lib.vocabulary import TURNS
from scripts.measure.engine.machine_parts import HostFacts
from scripts.measure.sql.times import Execution


@dataclass(frozen=True, slots=True)
class Workflow(Part):
    """Release and commit of the workflow that wrote a record."""

    version: str | None = None
    commit: str | None = None


@dataclass(frozen=True, slots=True)
class ServerFacts(Part):
    """The server that was measured; `sha256` and `build_id` are those of its program."""

    name: str | None = None
    family: str | None = None
    release: str | None = None
    build: str | None = None
    build_id: str | None = None
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Sysbench(Part):
    """The load generator; `text_file` is the name of the file beside the record with what it printed."""

    version: str | None = None
    path: str | None = None
    sha256: str | None = None
    text_file: str | None = None


@dataclass(frozen=True, slots=True)
class TimesFacts(Part):
    """Moments in seconds since 1970."""

    started_at: float | None = None
    window_started_at: float | None = None
    window_ended_at: float | None = None
    ended_at: float | None = None

    def written_empty(self) -> Collection[str]:
        """Return none: a run that failed has no window."""
        return ()


@dataclass(frozen=True, slots=True)
class WindowFacts(Part):
    """The measured window; the percentiles are those of the whole measuring call.

    Timed SQL has a duration only, and sysbench's own counts have no `queries`.
    """

    duration_s: float | None = None
    transactions: int | None = None
    tps: float | None = None
    latency_mean_ms: float | None = None
    p50_ms: float | None = None
    p95_ms: float | None = None
    p99_ms: float | None = None
    queries: int | None = None
    errors: int | None = None
    reconnects: int | None = None

    def written_empty(self) -> Collection[str]:
        """Return the fields of a window with transactions."""
        return () if self.tps is None else self.values().keys() - {"queries"}


@dataclass(frozen=True, slots=True)
class Series(Part):
    """The per-second reports of sysbench, or the slices of an arm, one list entry each."""

    second: list[float] | None = None
    tps: list[float] | None = None
    qps: list[float | None] | None = None
    p95_ms: list[float | None] | None = None
    errors_per_s: list[float | None] | None = None


@dataclass(frozen=True, slots=True)
class HistogramFacts(Part):
    """Latencies of the measuring call: the non-empty buckets, ascending."""

    latency_ms: list[float] | None = None
    count: list[int] | None = None


@dataclass(frozen=True, slots=True)
class CpuFacts(Part):
    """CPU seconds in the window: of the server's processes, of sysbench, and of the whole host with `cpus` CPUs."""

    cpus: int | None = None
    server_user_s: float | None = None
    server_system_s: float | None = None
    client_user_s: float | None = None
    client_system_s: float | None = None
    host_user_s: float | None = None
    host_system_s: float | None = None
    host_irq_s: float | None = None
    host_steal_s: float | None = None
    host_iowait_s: float | None = None
    host_idle_s: float | None = None


@dataclass(frozen=True, slots=True)
class Io(Part):
    """Bytes that the server read from and wrote to storage in the window, and its context switches."""

    read_bytes: int | None = None
    write_bytes: int | None = None
    context_switches: int | None = None


@dataclass(frozen=True, slots=True)
class FsyncTimes(Part):
    """Milliseconds of an fsync where the data lay, over the calls before the run."""

    min: float | None = None
    p50: float | None = None
    p95: float | None = None
    max: float | None = None


@dataclass(frozen=True, slots=True)
class Medium(Part):
    """The file system with the data directory, the device below it, and how many fsync calls were timed."""

    file_system: str | None = None
    mount_options: str | None = None
    device: str | None = None
    fsyncs: int | None = None


@dataclass(frozen=True, slots=True)
class PageCache(Part):
    """Bytes of the data directory in the kernel's page cache before and after it was dropped."""

    cached_bytes: int | None = None
    left_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Traffic(Part):
    """Traffic per second in the window over the busiest network interface of a host."""

    interface: str | None = None
    rx_packets_per_s: float | None = None
    tx_packets_per_s: float | None = None
    rx_bytes_per_s: float | None = None
    tx_bytes_per_s: float | None = None
    rx_dropped_per_s: float | None = None
    tx_dropped_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Network(Part):
    """The traffic of the server's host and of the client host, each as that host counted it."""

    server: Traffic = field(default_factory=Traffic)
    client: Traffic = field(default_factory=Traffic)


@dataclass(frozen=True, slots=True)
class ClientCpu(Part):
    """CPU seconds on the client host between its samples, `duration_s` apart: of sysbench, and of the whole host."""

    duration_s: float | None = None
    user_s: float | None = None
    system_s: float | None = None
    host_busy_s: float | None = None
    host_steal_s: float | None = None


@dataclass(frozen=True, slots=True)
class ClientHostFacts(Part):
    """The host sysbench ran on when it was another one; `address` and `port` are those the server listened on."""

    reached_by: dict[str, Json] = field(default_factory=dict)
    address: str | None = None
    port: int | None = None
    cpus: list[int] | None = None
    host: HostFacts = field(default_factory=HostFacts)
    python: str | None = None
    sysbench_path: str | None = None
    cpu: ClientCpu = field(default_factory=ClientCpu)
    network: Network = field(default_factory=Network)

    def written_empty(self) -> Collection[str]:
        """Return none: of this machine, as the host of sysbench alone, less is written."""
        return ()


@dataclass(frozen=True, slots=True)
class RunningFacts(Part):
    """A server that already ran: where it listens, the database of ours with the mark of its loading, and its release.

    `tls` tells whether the connections were encrypted and its certificate checked, `cipher` is sysbench's; `restarted`
    is False: nothing is restarted between blocks. `unknown` names what is not known of such a server.
    """

    address: str | None = None
    database: str | None = None
    mark: str | None = None
    release: str | None = None
    cipher: str | None = None
    tls: bool | None = None
    restarted: bool | None = None
    unknown: list[str] | None = None


@dataclass(frozen=True, slots=True)
class Generators(Part):
    """Several sysbench processes of one load, and the longest time between their reports of one second."""

    processes: int | None = None
    apart_s: float | None = None


@dataclass(frozen=True, slots=True)
class Edges(Part):
    """A counter of the server before and after the measuring call."""

    before: float | None = None
    after: float | None = None


@dataclass(frozen=True, slots=True)
class EngineReports(Part):
    """The storage engine's own report before and after the measuring call."""

    before: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class FileSizes(Part):
    """The files of one part of the data directory."""

    kind: str | None = None
    apparent_bytes: int | None = None
    allocated_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class FileFacts(Part):
    """Part of the data directory -> its files, before the warm-up and after the measuring call."""

    before: dict[str, FileSizes] = field(default_factory=dict)
    after: dict[str, FileSizes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pool(Part):
    """The server's buffer pool before warm-up: its size, its use, and the seconds in which tables were read into it.

    `fill_s` is None where they were not read, `used_bytes` where the server does not report it; `statements` read them.
    """

    pool_bytes: int | None = None
    table_bytes: int | None = None
    fill_s: float | None = None
    used_bytes: int | None = None
    statements: list[str] | None = None


@dataclass(frozen=True, slots=True)
class Operation(Part):
    """Calls of one operation of a load's script, and their latency."""

    calls: int | None = None
    mean_ms: float | None = None
    p50_ms: float | None = None
    p95_ms: float | None = None
    p99_ms: float | None = None
    max_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Sliced(Part):
    """How an arm of a block was measured: `method` is slices, side by side with the others, or turns, and `why` so.

    Slices only: their number and length, the seconds with the gate open, the length of the beginning that is left out,
    what held the server still while it waited (freezer or SIGSTOP),
    the standard error of log TPS that the slices alone account for, TPS as the mean over slices without the tenth at
    each end, the server's CPU seconds while it was stopped and the transactions by their sixteenth of a slice. `drift`
    is the change of TPS from the first to the last slice beside the other arms of the same rounds, as a share, and
    `drift_error` its standard error. `disk_per_s` is what the block's reference asked of a disk per second at warm-up,
    by name, and `turned_by` the name for which a block that was planned in slices went by turns.
    """

    method: str | None = None
    why: str | None = None
    turned_by: str | None = None
    disk_per_s: dict[str, float] = field(default_factory=dict)
    rounds: int | None = None
    slice_s: float | None = None
    skip_s: float | None = None
    open_s: float | None = None
    tps_trimmed: float | None = None
    cpu_tick_s: float | None = None
    positions: list[int] | None = None
    places: list[int] | None = None
    tps_log_sd: float | None = None
    drift: float | None = None
    drift_error: float | None = None
    held_by: str | None = None
    waiting_cpu_s: float | None = None

    def written_empty(self) -> Collection[str]:
        """Return what an arm has that waited for the others, and that was compared with them."""
        waited = ("held_by", "waiting_cpu_s") if self.rounds is not None else ()
        compared = ("tps_log_sd", "drift") if self.drift_error is not None else ()
        return ("why" if self.method == TURNS else "disk_per_s", *waited, *compared)


@dataclass(frozen=True, slots=True)
class Statements(Part):
    """The first statements of one event of the load, and how many it sends."""

    sent: list[str] | None = None
    total: int | None = None


class SentStatement(TypedDict):
    """A statement of timed SQL that a server was sent."""

    kind: str
    name: str
    text: str
    against: str


# The rows that answered a statement to be shown, in a pass.
ShownAnswer = TypedDict("ShownAnswer", {"pass": int, "name": str, "columns": list[str], "rows": list[list[str | None]]})


@dataclass(frozen=True, slots=True)
class TimedSql(Part):
    """Timed SQL: the statements sent, the names of those left out, their executions, the answers that are shown."""

    statements: list[SentStatement] | None = None
    skipped: list[str] | None = None
    executions: list[Execution] | None = None
    shown: list[ShownAnswer] | None = None


@dataclass(frozen=True, slots=True)
class RunWarning(Part):
    """One reason to doubt a run's figures: `value` is beyond `threshold`."""

    code: str | None = None
    text: str | None = None
    value: float | str | list[str] | None = None
    threshold: float | str | None = None
