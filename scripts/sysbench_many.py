"""Several sysbench processes as one load: they begin together, and what they measured is added up."""

import contextlib
import os
import shlex
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent import futures
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock

from scripts import sysbench_run, workplace
from scripts.process import watchdog
from scripts.sysbench_output import Output, SysbenchFailed, SysbenchMisused, parse
from scripts.sysbench_run import Finished, Moment, started
from scripts.sysbench_sum import added, counted

# Every client has a Lua state; LuaJIT without GC64 has 1 to 2 GiB of addresses for all those of a process, which some
# 2000 clients fill (akopytov/sysbench issues 120 and 433).
MOST_CLIENTS = 1024
GATE = Path(__file__).with_name("gate.lua")
LOOK_S = 0.02


def parts(clients: int, most: int = MOST_CLIENTS) -> list[int]:
    """Return the clients of each process: as few processes as can carry them, as alike as can be."""
    count = -(-clients // most)
    return [clients // count + (place < clients % count) for place in range(count)]


def named(commands: Sequence[list[str]]) -> dict[str, list[str]]:
    """Return the commands of one load by the names that a run's record has for them."""
    return {f"measure {place}" if place > 1 else "measure": command for place, command in enumerate(commands, start=1)}


@dataclass
class Reports:
    """The reports of several processes as they come; `on_report` is told of one when every process has given it."""

    on_report: Callable[[Moment], None]
    pids: tuple[int, ...] = ()
    moments: list[Moment] = field(default_factory=list)
    apart_s: float = 0.0
    arrived: dict[int, list[float]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def take(self, moment: Moment) -> None:
        """Note a report of one process."""
        with self.lock:
            self.arrived.setdefault(moment.pids[0], []).append(moment.monotonic_s)
            same = [own[moment.number - 1] for own in self.arrived.values() if len(own) >= moment.number]
            if len(same) == len(self.pids):
                self.apart_s = max(self.apart_s, max(same) - min(same))
                self.moments.append(Moment(moment.number, moment.monotonic_s, moment.epoch_s, self.pids))
                self.on_report(self.moments[-1])


@dataclass(frozen=True)
class Call:
    """One process of the load: its command, its text, and whether it was killed for taking too long."""

    argv: Sequence[str]
    process: subprocess.Popen
    text: Path
    timed_out: Event
    timeout_s: float

    def judged(self) -> str:
        """Return the text of a call that ended well. Raises SysbenchFailed or SysbenchMisused with its own words."""
        text = self.text.read_text(encoding="utf-8", errors="replace")
        try:
            sysbench_run.reject(self.process.wait(), text, self.timeout_s if self.timed_out.is_set() else None)
        except (SysbenchFailed, SysbenchMisused) as error:
            raise type(error)(f"{error}\n(command: {shlex.join(self.argv)}") from error
        return text


def run(
    commands: Sequence[Sequence[str]],
    log_path: Path,
    *,
    timeout_s: float,
    on_report: Callable[[Moment], None] = lambda moment: None,
    cpus: Iterable[int] | None = None,
) -> Finished:
    """Run the commands of one load, a process each, as `sysbench_run.run` runs one.

    No client of several processes begins before all are connected. Raises what `sysbench_run.run` raises, for the
    first process that did not end well.
    """
    if len(commands) == 1:
        return sysbench_run.run(commands[0], log_path, timeout_s=timeout_s, on_report=on_report, cpus=cpus)
    begin_s, reports = time.monotonic(), Reports(on_report)
    with workplace.temporary_directory() as folder:
        try:
            output = _sum(_texts(commands, folder, timeout_s, reports, cpus and tuple(cpus)), reports)
        except (SysbenchFailed, SysbenchMisused) as error:
            raise type(error)(f"{error}; log: {log_path})") from error
        finally:
            log_path.write_bytes(b"\n".join(text.read_bytes() for text in sorted(folder.glob("*.txt"))))
    return Finished(output, tuple(reports.moments), time.monotonic() - begin_s, len(commands), reports.apart_s)


def _sum(texts: Sequence[str], reports: Reports) -> Output:
    """Return what the processes measured together."""
    stamps = [reports.arrived.get(pid, []) for pid in reports.pids]
    return added([counted(parse(text), text, own) for text, own in zip(texts, stamps, strict=True)], stamps)


def _texts(
    commands: Sequence[Sequence[str]], folder: Path, timeout_s: float, reports: Reports, cpus: tuple[int, ...] | None
) -> list[str]:
    """Run all to their end; returns what each printed."""
    ready, gate = folder / "ready", folder / "gate"
    os.mkfifo(gate)
    # The processes are ended before the pool waits for its threads, which read until then.
    with futures.ThreadPoolExecutor(len(commands)) as pool, contextlib.ExitStack() as stack:
        calls = []
        for place, argv in enumerate(commands):
            environment = {"GATED_SCRIPT": argv[1], "GATE_READY": str(ready), "GATE": str(gate)}
            process = stack.enter_context(started([argv[0], str(GATE), *argv[2:]], cpus, environment))
            late = stack.enter_context(watchdog(process, timeout_s))
            calls.append(Call(argv, process, folder / f"{place:02}.txt", late, timeout_s))
        reports.pids = tuple(call.process.pid for call in calls)
        followed = [pool.submit(sysbench_run.follow, call.process, call.text, reports.take) for call in calls]
        with _opened(gate, ready, sum(map(_clients, commands)), dict(zip(followed, calls, strict=True))):
            for done in futures.as_completed(followed):
                done.result()
        return [call.judged() for call in calls]


@contextlib.contextmanager
def _opened(gate: Path, ready: Path, clients: int, calls: dict[futures.Future, Call]) -> Iterator[None]:
    """Hold the gate open once all clients are ready. Raises SysbenchFailed when a process ends before."""
    while not ready.exists() or ready.stat().st_size < clients:
        for followed, call in calls.items():
            if call.process.poll() is not None:
                followed.result()  # its text is whole
                call.judged()
                raise SysbenchFailed(f"sysbench ended before all {clients} clients were connected")
        time.sleep(LOOK_S)
    # Opened for reading too: a FIFO without a reader would block.
    file = os.open(gate, os.O_RDWR)
    try:
        yield
    finally:
        os.close(file)


def _clients(argv: Sequence[str]) -> int:
    return next(int(word.removeprefix("--threads=")) for word in argv if word.startswith("--threads="))
