"""Several sysbench processes as one load: they start together, at a gate that opens when all are connected."""

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent import futures
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Event, Lock

from scripts.lib.host import workplace
from scripts.lib.host.kept import Kept
from scripts.lib.host.process import watchdog
from scripts.measure.loadgen import run_sysbench
from scripts.measure.loadgen.output import Output, SysbenchFailed, SysbenchMisused, parse
from scripts.measure.loadgen.run_sysbench import FinishedLoad, Moment, started
from scripts.measure.loadgen.summing import added, counted
from scripts.measure.loadgen.sysbench import SysbenchCall

# Every client has a Lua state. LuaJIT without GC64 has 1 to 2 GiB of addresses per process, which about 2000 clients
# exhaust (akopytov/sysbench issues 120 and 433).
MOST_CLIENTS = 1024
GATE = Path(__file__).with_name("gate.lua")
LOOK_S = 0.02


def client_parts(clients: int, most: int = MOST_CLIENTS) -> list[int]:
    """Return the number of clients per process: the fewest processes possible, with equal numbers give or take one."""
    count = -(-clients // most)
    return [clients // count + (number < clients % count) for number in range(count)]


def named_commands(calls: Sequence[SysbenchCall]) -> dict[str, list[str]]:
    """Return the command lines of one load by their names in a run's record: `measure`, `measure 2`, ..."""
    return {f"measure {number}" if number > 1 else "measure": call.argv for number, call in enumerate(calls, start=1)}


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
            same = [stamps_s[moment.number - 1] for stamps_s in self.arrived.values() if len(stamps_s) >= moment.number]
            if len(same) == len(self.pids):
                self.apart_s = max(self.apart_s, max(same) - min(same))
                self.moments.append(Moment(moment.number, moment.monotonic_s, moment.epoch_s, self.pids, self.programs))
                self.on_report(self.moments[-1])


@dataclass(frozen=True)
class StartedCall:
    """One process of the load: its call, the file with its output, and whether it was killed at its time limit.

    `log` is the file with the output of all processes, once they have ended.
    """

    call: SysbenchCall
    process: Kept
    text: Path
    timed_out: Event
    timeout_s: float
    log: Path

    def successful_text(self) -> str:
        """Return the output of a successful call. Raises SysbenchFailed or SysbenchMisused with its last lines."""
        text = self.text.read_text(encoding="utf-8", errors="replace")
        try:
            run_sysbench.reject_failed(self.process.wait(), text, self.timeout_s if self.timed_out.is_set() else None)
        except (SysbenchFailed, SysbenchMisused) as error:
            raise self.call.failure(error, self.log) from error
        return text


def run_processes(
    calls: Sequence[SysbenchCall],
    log_path: Path,
    *,
    timeout_s: float,
    on_report: Callable[[Moment], None] = lambda moment: None,
    cpus: Iterable[int] | None = None,
    environment: Mapping[str, str] | None = None,
) -> FinishedLoad:
    """Run the calls of one load, one process per call, as `run.run` runs one.

    No client of several processes starts before all are connected. Raises what `run.run` raises, for the first process
    that failed.
    """
    if len(calls) == 1:
        return run_sysbench.run(
            calls[0], log_path, timeout_s=timeout_s, on_report=on_report, cpus=cpus, environment=environment
        )
    begin_s, reports = time.monotonic(), Reports(on_report)
    start = partial(_started, cpus=None if cpus is None else tuple(cpus), variables=environment or {})
    with workplace.temporary_directory() as folder:
        try:
            output = _summed_output(_texts(calls, folder, log_path, timeout_s, reports, start), reports)
        finally:
            log_path.write_bytes(b"\n".join(text.read_bytes() for text in sorted(folder.glob("*.txt"))))
    return FinishedLoad(output, tuple(reports.moments), time.monotonic() - begin_s, len(calls), reports.apart_s)


def _summed_output(texts: Sequence[str], reports: Reports) -> Output:
    """Return the sum of the outputs of all processes."""
    stamps = [reports.arrived.get(pid, []) for pid in reports.pids]
    return added([counted(parse(text), text, arrivals) for text, arrivals in zip(texts, stamps, strict=True)], stamps)


def _texts(
    calls: Sequence[SysbenchCall],
    folder: Path,
    log: Path,
    timeout_s: float,
    reports: Reports,
    start: Callable[[SysbenchCall, Path, Path], AbstractContextManager[Kept]],
) -> list[str]:
    """Run all processes to their end; return the output of each."""
    ready, gate = folder / "ready", folder / "gate"
    os.mkfifo(gate)
    # Contexts close in reverse order: the processes end before the pool waits for the threads that read their output.
    with futures.ThreadPoolExecutor(len(calls)) as pool, contextlib.ExitStack() as stack:
        running = []
        for number, call in enumerate(calls):
            process = stack.enter_context(start(call, ready, gate))
            late = stack.enter_context(watchdog(process.end, timeout_s))
            running.append(StartedCall(call, process, folder / f"{number:02}.txt", late, timeout_s, log))
        reports.pids = tuple(started_call.process.pid for started_call in running)
        reports.programs = tuple(started_call.process.program for started_call in running)
        followed = [
            pool.submit(run_sysbench.follow, started_call.process, started_call.text, reports.take)
            for started_call in running
        ]
        with _gate_opened(gate, ready, sum(call.clients for call in calls), dict(zip(followed, running, strict=True))):
            for done in futures.as_completed(followed):
                done.result()
        return [started_call.successful_text() for started_call in running]


def _started(
    call: SysbenchCall, ready: Path, gate: Path, cpus: tuple[int, ...] | None, variables: Mapping[str, str]
) -> AbstractContextManager[Kept]:
    """Start one process of a load in a `given` environment, its clients held at the gate."""
    environment = {**variables, "GATED_SCRIPT": call.script, "GATE_READY": str(ready), "GATE": str(gate)}
    return started(call.behind(GATE, call.seconds).argv, cpus, environment)


@contextlib.contextmanager
def _gate_opened(
    gate: Path, ready: Path, clients: int, running: Mapping[futures.Future[tuple[Moment, ...]], StartedCall]
) -> Iterator[None]:
    """Hold the gate open from when all clients are ready. Raises SysbenchFailed when a process ends before that."""
    while not ready.exists() or ready.stat().st_size < clients:
        for followed, started_call in running.items():
            if started_call.process.poll() is not None:
                followed.result()  # wait until its output is complete
                started_call.successful_text()
                error = SysbenchFailed(f"sysbench ended before all {clients} clients were connected")
                raise started_call.call.failure(error, started_call.log)
        time.sleep(LOOK_S)
    # Opened for reading too: a FIFO without a reader would block.
    file = os.open(gate, os.O_RDWR)
    try:
        yield
    finally:
        os.close(file)
