"""Several sysbench processes as one load: they start together, and their results are summed."""

import contextlib
import os
import re
import shlex
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent import futures
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from threading import Event, Lock

from scripts.lib.host import workplace
from scripts.lib.host.kept import Kept
from scripts.lib.host.process import watchdog
from scripts.measure.loadgen import run_sysbench
from scripts.measure.loadgen.output import (
    Histogram,
    Latency,
    Output,
    Report,
    SysbenchFailed,
    SysbenchMisused,
    Totals,
    parse,
)
from scripts.measure.loadgen.run_sysbench import Finished, Moment, started

Stamps = Sequence[float]
RATES = ("tps", "qps", "errors_per_s", "reconnects_per_s")
# The line that gate.lua prints after every report.
COUNTED = re.compile(r"^\[ counted \] (\d+) (\d+) (\d+) (\d+)$", re.MULTILINE)


def counted(output: Output, text: str, stamps: Stamps) -> Output:
    """Return an output whose rates are gate.lua's counts over the time between arrivals of reports.

    The first report keeps its rates. Raises ValueError unless `text` has one count, and `stamps` one time in seconds,
    per report.
    """
    timed = zip(output.reports, COUNTED.findall(text), stamps, strict=True)
    reports = list(output.reports[:1])
    for (_, _, before_s), (report, counts, now_s) in pairwise(timed):
        found = {name: int(count) / (now_s - before_s) for name, count in zip(RATES, counts, strict=True)}
        reports.append(replace(report, **{name: found[name] for name in RATES if getattr(report, name) is not None}))
    return replace(output, reports=tuple(reports))


def added(outputs: Sequence[Output], stamps: Sequence[Stamps]) -> Output:
    """Return the sum of the outputs of calls that ran at the same time.

    `stamps` holds the arrival times of each output's reports, in seconds; a summed report is due when every process has
    printed its own. Counts and histogram buckets are summed. sysbench's own percentiles, per second and per call,
    cannot be summed and are None.
    """
    first = outputs[0]
    histograms = [output.histogram for output in outputs]
    return Output(
        version=first.version,
        luajit=first.luajit,
        clients=_sum(output.clients for output in outputs),
        reports=tuple(_reports([output.reports for output in outputs], stamps)),
        totals=total([output.totals for output in outputs]),
        latency=_latency(outputs),
        histogram=None if None in histograms else _histogram(histograms),
    )


def report_times_due(stamps: Sequence[Stamps]) -> list[float]:
    """Return the time of each summed report: the latest arrival among the processes, in seconds."""
    return [max(same) for same in zip(*stamps, strict=False)]


def _reports(every: Sequence[Sequence[Report]], stamps: Sequence[Stamps]) -> Iterable[Report]:
    """Yield the summed reports, with rates over the time since the previous one."""
    moments = report_times_due(stamps)
    edges = [(moments[0] - 1, moments[0]), *pairwise(moments)] if moments else []
    for same, edge in zip(zip(*every, strict=False), edges, strict=True):
        own = list(zip(every, stamps, strict=True))
        rates = {name: _sum(_rate(reports, at, name, edge) for reports, at in own) for name in RATES}
        clients = sum(report.clients for report in same)
        yield Report(same[0].second, clients, percentile=same[0].percentile, percentile_ms=None, **rates)


def _rate(reports: Sequence[Report], stamps: Stamps, name: str, edge: tuple[float, float]) -> float | None:
    """Return the mean rate of a process between two moments.

    The rate of a report holds from the previous report to itself; the first and the last extend outwards.
    """
    begin, end = edge
    cuts = [begin, *(stamp for stamp in stamps if begin < stamp < end), end]
    held = [getattr(reports[min(bisect_left(stamps, later), len(reports) - 1)], name) for later in cuts[1:]]
    if None in held:
        return None
    parts = (rate * (later - before) for rate, (before, later) in zip(held, pairwise(cuts), strict=True))
    return sum(parts) / (end - begin)


def total(every: Sequence[Totals]) -> Totals:
    """Return the sum of the totals of calls that ran at the same time, with the longest of their durations."""
    names = ("queries", "errors", "reconnects")
    return Totals(
        transactions=sum(totals.transactions for totals in every),
        duration_s=max(totals.duration_s for totals in every),
        **{name: _sum(getattr(totals, name) for totals in every) for name in names},
    )


def _latency(outputs: Sequence[Output]) -> Latency:
    transactions = sum(output.totals.transactions for output in outputs)
    waited_ms = sum(output.latency.mean_ms * output.totals.transactions for output in outputs)
    return Latency(
        min_ms=min(output.latency.min_ms for output in outputs if output.totals.transactions or not transactions),
        mean_ms=waited_ms / transactions if transactions else 0.0,
        max_ms=max(output.latency.max_ms for output in outputs),
        percentile=None,
        percentile_ms=None,
    )


def _histogram(histograms: Iterable[Histogram]) -> Histogram:
    counts: Counter[float] = Counter()
    for histogram in histograms:
        counts.update(dict(zip(histogram.latency_ms, histogram.count, strict=True)))
    latencies = sorted(counts)
    return Histogram(tuple(latencies), tuple(counts[latency] for latency in latencies))


def _sum(values: Iterable[float | None]) -> float | None:
    known = list(values)
    return None if None in known else sum(known)


# Every client has a Lua state. LuaJIT without GC64 has 1 to 2 GiB of addresses per process, which about 2000 clients
# exhaust (akopytov/sysbench issues 120 and 433).
MOST_CLIENTS = 1024
GATE = Path(__file__).with_name("gate.lua")
LOOK_S = 0.02


def client_parts(clients: int, most: int = MOST_CLIENTS) -> list[int]:
    """Return the number of clients per process: the fewest processes possible, with equal numbers give or take one."""
    count = -(-clients // most)
    return [clients // count + (place < clients % count) for place in range(count)]


def named_commands(commands: Sequence[list[str]]) -> dict[str, list[str]]:
    """Return the commands of one load by their names in a run's record: `measure`, `measure 2`, ..."""
    return {f"measure {place}" if place > 1 else "measure": command for place, command in enumerate(commands, start=1)}


@dataclass
class Reports:
    """Collects the reports of several processes; calls `on_report` once per number, when every process has reported."""

    on_report: Callable[[Moment], None]
    pids: tuple[int, ...] = ()
    programs: tuple[int, ...] = ()
    moments: list[Moment] = field(default_factory=list)
    apart_s: float = 0.0
    arrived: dict[int, list[float]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def take(self, moment: Moment) -> None:
        """Add a report of one process."""
        with self.lock:
            self.arrived.setdefault(moment.pids[0], []).append(moment.monotonic_s)
            same = [own[moment.number - 1] for own in self.arrived.values() if len(own) >= moment.number]
            if len(same) == len(self.pids):
                self.apart_s = max(self.apart_s, max(same) - min(same))
                self.moments.append(Moment(moment.number, moment.monotonic_s, moment.epoch_s, self.pids, self.programs))
                self.on_report(self.moments[-1])


@dataclass(frozen=True)
class Call:
    """One process of the load: its command, the file with its output, and whether it was killed at its time limit."""

    argv: Sequence[str]
    process: Kept
    text: Path
    timed_out: Event
    timeout_s: float

    def successful_text(self) -> str:
        """Return the output of a successful call. Raises SysbenchFailed or SysbenchMisused with its last lines."""
        text = self.text.read_text(encoding="utf-8", errors="replace")
        try:
            run_sysbench.reject_failed(self.process.wait(), text, self.timeout_s if self.timed_out.is_set() else None)
        except (SysbenchFailed, SysbenchMisused) as error:
            raise type(error)(f"{error}\n(command: {shlex.join(self.argv)}") from error
        return text


def run_processes(
    commands: Sequence[Sequence[str]],
    log_path: Path,
    *,
    timeout_s: float,
    on_report: Callable[[Moment], None] = lambda moment: None,
    cpus: Iterable[int] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Finished:
    """Run the commands of one load, one process per command, as `run.run` runs one.

    No client of several processes starts before all are connected. Raises what `run.run` raises, for the first process
    that failed.
    """
    if len(commands) == 1:
        how = {"timeout_s": timeout_s, "on_report": on_report, "cpus": cpus, "environment": environment}
        return run_sysbench.run(commands[0], log_path, **how)
    begin_s, reports = time.monotonic(), Reports(on_report)
    with workplace.temporary_directory() as folder:
        try:
            start = partial(_started, cpus=cpus and tuple(cpus), given=environment or {})
            output = _summed_output(_texts(commands, folder, timeout_s, reports, start), reports)
        except (SysbenchFailed, SysbenchMisused) as error:
            raise type(error)(f"{error}; log: {log_path})") from error
        finally:
            log_path.write_bytes(b"\n".join(text.read_bytes() for text in sorted(folder.glob("*.txt"))))
    return Finished(output, tuple(reports.moments), time.monotonic() - begin_s, len(commands), reports.apart_s)


def _summed_output(texts: Sequence[str], reports: Reports) -> Output:
    """Return the sum of the outputs of all processes."""
    stamps = [reports.arrived.get(pid, []) for pid in reports.pids]
    return added([counted(parse(text), text, own) for text, own in zip(texts, stamps, strict=True)], stamps)


def _texts(
    commands: Sequence[Sequence[str]],
    folder: Path,
    timeout_s: float,
    reports: Reports,
    start: Callable[..., AbstractContextManager[Kept]],
) -> list[str]:
    """Run all processes to their end; return the output of each."""
    ready, gate = folder / "ready", folder / "gate"
    os.mkfifo(gate)
    # Contexts close in reverse order: the processes end before the pool waits for the threads that read their output.
    with futures.ThreadPoolExecutor(len(commands)) as pool, contextlib.ExitStack() as stack:
        calls = []
        for place, argv in enumerate(commands):
            process = stack.enter_context(start(argv, ready, gate))
            late = stack.enter_context(watchdog(process.end, timeout_s))
            calls.append(Call(argv, process, folder / f"{place:02}.txt", late, timeout_s))
        reports.pids = tuple(call.process.pid for call in calls)
        reports.programs = tuple(call.process.program for call in calls)
        followed = [pool.submit(run_sysbench.follow, call.process, call.text, reports.take) for call in calls]
        with _gate_opened(gate, ready, sum(map(clients_of, commands)), dict(zip(followed, calls, strict=True))):
            for done in futures.as_completed(followed):
                done.result()
        return [call.successful_text() for call in calls]


def _started(
    argv: Sequence[str], ready: Path, gate: Path, cpus: tuple[int, ...] | None, given: Mapping[str, str]
) -> AbstractContextManager[Kept]:
    """Start one process of a load in a `given` environment, its clients held at the gate."""
    environment = {**given, "GATED_SCRIPT": argv[1], "GATE_READY": str(ready), "GATE": str(gate)}
    return started([argv[0], str(GATE), *argv[2:]], cpus, environment)


@contextlib.contextmanager
def _gate_opened(gate: Path, ready: Path, clients: int, calls: dict[futures.Future, Call]) -> Iterator[None]:
    """Hold the gate open from when all clients are ready. Raises SysbenchFailed when a process ends before that."""
    while not ready.exists() or ready.stat().st_size < clients:
        for followed, call in calls.items():
            if call.process.poll() is not None:
                followed.result()  # wait until its output is complete
                call.successful_text()
                raise SysbenchFailed(f"sysbench ended before all {clients} clients were connected")
        time.sleep(LOOK_S)
    # Opened for reading too: a FIFO without a reader would block.
    file = os.open(gate, os.O_RDWR)
    try:
        yield
    finally:
        os.close(file)


def clients_of(argv: Sequence[str]) -> int:
    """Return the number of clients of a sysbench command."""
    return next(int(word.removeprefix("--threads=")) for word in argv if word.startswith("--threads="))
