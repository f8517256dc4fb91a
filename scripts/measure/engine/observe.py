"""Read counters, variables, engine reports, file sizes and logged statements of a server around a load."""

import contextlib
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scripts.lib.host import usage
from scripts.measure.engine.run_parts import Edges, EngineReports, FileSizes, Statements
from scripts.measure.engine.setting import Setting
from scripts.measure.loadgen import run_sysbench
from scripts.measure.loadgen.sysbench import SysbenchCall
from scripts.measure.servers.families.connection import Connection
from scripts.measure.servers.families.family import Family
from scripts.measure.servers.server import Server

EVERY_S, EVERY_NS = 1.0, 10**9
# A server that has just failed under load may never answer.
GIVE_UP_S = 2.0
Counters = dict[str, float]


@dataclass(frozen=True)
class CounterSample:
    """Counters at a moment of the monotonic clock."""

    monotonic_s: float
    counters: Counters


@contextlib.contextmanager
def sampled_counters(read: Callable[[], Counters] | None) -> Iterator[list[CounterSample]]:
    """Call `read` every second in a thread while the body runs; yield the growing list, empty without `read`.

    A second that passes while a `read` is still running has no sample. Raises what `read` raised, unless the body
    raises.
    """
    samples: list[CounterSample] = []
    if read is None:
        yield samples
        return
    over = threading.Event()
    failed: list[Exception] = []
    thread = threading.Thread(target=_sample, args=(read, samples, over, failed), daemon=True)
    thread.start()
    patience_s: float | None = GIVE_UP_S
    try:
        yield samples
        patience_s = None
    finally:
        over.set()
        thread.join(patience_s)
    if failed:
        raise failed[0]


def _sample(
    read: Callable[[], Counters], samples: list[CounterSample], over: threading.Event, failed: list[Exception]
) -> None:
    begin_s = time.monotonic()
    try:
        while not over.wait(EVERY_S - (time.monotonic() - begin_s) % EVERY_S):
            counters = read()
            samples.append(CounterSample(time.monotonic(), counters))
    except Exception as error:  # each driver has its own error classes; raised again after the body
        failed.append(error)


def sample_columns(samples: list[CounterSample], begin_s: float) -> dict[str, list[float | None]]:
    """Return samples as `counter_columns`; seconds count from `begin_s` of the monotonic clock, as in `series`."""
    seconds = [round(sample.monotonic_s - begin_s, 3) for sample in samples]
    return counter_columns(seconds, [sample.counters for sample in samples])


def counter_columns(seconds: Sequence[float], readings: Sequence[Counters]) -> dict[str, list[float | None]]:
    """Return readings as columns, `second` first; a counter that a reading lacks is None. Empty without readings."""
    if not readings:
        return {}
    names = dict.fromkeys(name for counters in readings for name in counters)
    return {"second": list(seconds), **{name: [counters.get(name) for counters in readings] for name in names}}


def with_switches(counters: Counters, pid: int) -> Counters:
    """Return a server's counters with its context switches, where the system lets us read them."""
    switches = usage.context_switches(pid)
    return counters if switches is None else {**counters, "context_switches": float(switches)}


def with_machine(counters: Counters, pid: int) -> Counters:
    """Return a server's counters with its context switches, and the interrupts of the whole machine since boot."""
    interrupts = usage.interrupts()
    of_server = with_switches(counters, pid)
    return of_server if interrupts is None else {**of_server, "interrupts": float(interrupts)}


@dataclass
class CounterSeries:
    """Readings of counters over a server's open time: after each slice that completes a second of it.

    `seconds` are those of the open time; no reading lies within a slice.
    """

    seconds: list[float] = field(default_factory=list)
    readings: list[Counters] = field(default_factory=list)
    _open_ns: int = 0
    _interrupts: int | None = 0
    _at_opening: int | None = None

    def before_slice(self) -> None:
        """Note the machine's interrupts so far: those of other servers' slices are not this one's."""
        self._at_opening = usage.interrupts()

    def after_slice_of(self, read: Callable[[], Counters]) -> Callable[[int], None]:
        """Return what to call after each slice with its nanoseconds; it calls `read` when a second is complete."""

        def after_slice(open_ns: int) -> None:
            self._add_interrupts()
            before_ns, self._open_ns = self._open_ns, self._open_ns + open_ns
            if before_ns // EVERY_NS < self._open_ns // EVERY_NS:
                interrupts = {} if self._interrupts is None else {"interrupts": float(self._interrupts)}
                self.readings.append({**read(), **interrupts})
                self.seconds.append(round(self._open_ns / 1e9, 3))

        return after_slice

    def _add_interrupts(self) -> None:
        now = usage.interrupts()
        if now is None or self._at_opening is None or self._interrupts is None:
            self._interrupts = None
        else:
            self._interrupts += now - self._at_opening


@dataclass(frozen=True)
class Edge:
    """A server at one moment: its counters, and its engine's own report, empty for a family without one."""

    counters: Counters
    report: str


def read_edge(family: Family, connection: Connection) -> Edge:
    """Read a server's counters and its engine's report."""
    return Edge(family.counters(connection), family.engine_report(connection))


def counter_edges(before: Edge, after: Edge) -> dict[str, Edges]:
    """Return the counters that a server has at both edges."""
    names = [name for name in before.counters if name in after.counters]
    return {name: Edges(before.counters[name], after.counters[name]) for name in names}


def reports(before: Edge, after: Edge) -> EngineReports:
    """Return the engine's report at both edges, without values for a family that has none."""
    return EngineReports(before.report, after.report) if before.report or after.report else EngineReports()


@dataclass(frozen=True)
class Variables:
    """A server's variables: those of a run name one of its private folders, the others all runs of a variant share."""

    of_run: dict[str, str]
    shared: dict[str, str]


def read_variables(family: Family, connection: Connection, *private: Path) -> Variables:
    """Return the server's variables, apart by whether they name one of the run's `private` folders."""
    variables = family.variables(connection)
    folders = {str(path) for folder in private for path in (folder, folder.resolve())}
    of_run = {name: value for name, value in variables.items() if any(folder in str(value) for folder in folders)}
    return Variables(of_run, {name: value for name, value in variables.items() if name not in of_run})


def file_sizes(family: Family, data: Path, connection: Connection) -> dict[str, FileSizes]:
    """Return the sizes of a data directory's files per part.

    A part is a table with its indexes, named `database.table` or `schema.table`, a partition of one, named
    `database.table#partition`, or all files of a kind, named as the kind. A file that is removed meanwhile is left out.
    """
    sizes: dict[str, FileSizes] = {}
    tables = family.table_files(connection)
    for file, status in _files(data):
        kind, name = file_kind(family, file, tables)
        before = sizes.get(name, FileSizes(kind, 0, 0))
        apparent_bytes = (before.apparent_bytes or 0) + status.st_size
        sizes[name] = FileSizes(before.kind, apparent_bytes, (before.allocated_bytes or 0) + status.st_blocks * 512)
    return dict(sorted(sizes.items()))


def _files(data: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield (path below `data`, status) of every regular file."""
    for folder, _, names in os.walk(data, onerror=_unless_gone):
        for path in (Path(folder, name) for name in names):
            with contextlib.suppress(FileNotFoundError):
                status = path.lstat()
                if stat.S_ISREG(status.st_mode):
                    yield str(path.relative_to(data)), status


def _unless_gone(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error


def file_kind(family: Family, file: str, tables: dict[str, str]) -> tuple[str, str]:
    """Return (kind, part) of a file by its path below the data directory; `tables` maps files to their tables."""
    for pattern, kind in family.FILE_KINDS:
        if match := pattern.fullmatch(file):
            if kind != "table":
                return kind, kind
            if name := _table(match.groupdict(), tables):
                return kind, name
    return "other", "other"


def _table(groups: dict[str, str], tables: dict[str, str]) -> str | None:
    if "table" not in groups:
        return tables.get(groups["stem"])
    partition = groups.get("partition")
    return f"{groups['schema']}.{groups['table']}{f'#{partition}' if partition else ''}"


# The first statements of an event, and the first characters of a statement, that a record keeps.
MOST_STATEMENTS, MOST_CHARACTERS = 500, 2000
DONE_WITHIN_S = 120


def logged_statements(setting: Setting, server: Server, connection: Connection, call: SysbenchCall) -> Statements:
    """Return the statements of one event, without values unless this run is the one to log them."""
    if not setting.context.log_statements:
        return Statements()
    return statements_of_one_event(server, connection, call, setting.log.with_suffix(".event.txt"))


def statements_of_one_event(server: Server, connection: Connection, call: SysbenchCall, text: Path) -> Statements:
    """Run one event of a load, whose measuring call is `call`; returns the statements that the server logged.

    `sent` holds the first statements in their order, `total` counts all. Raises SysbenchFailed when the event fails.
    """
    read = server.log.stat().st_size
    server.family.log_statements(connection)
    run_sysbench.run_unread(call.of_one_event(), text, timeout_s=DONE_WITHIN_S)
    with server.log.open("rb") as log:
        log.seek(read)
        logged = server.family.logged_statements(connection, log.read().decode(errors="replace"))
    return Statements([text[:MOST_CHARACTERS] for text in logged[:MOST_STATEMENTS]], len(logged))
