"""A load whose clients wait at a gate: started, held, let through slice by slice, and ended through the gate."""

import contextlib
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from scripts.lib.host import workplace
from scripts.lib.host.causes import full_disk_in
from scripts.lib.host.kept import Kept
from scripts.measure.loadgen import run_sysbench
from scripts.measure.loadgen.output import SysbenchFailed, parse
from scripts.measure.loadgen.slice_gate import PRELUDE, NeverParked, SliceCounts, SliceGate, made
from scripts.measure.loadgen.sysbench import SysbenchCall

# Connections of thousands of clients take seconds to come up on one CPU.
CONNECTED_WITHIN_S, ENDED_WITHIN_S, READ_WITHIN_S = 300, 60, 0.2
HELPERS_END_WITHIN_S = 5
# The gate is a shared file: in memory, so that no disk writes it back during a slice.
SHARED_MEMORY = Path("/dev/shm")


class CountsDisagree(ValueError):
    """Two counts of the same transactions differ, so that neither can be trusted: nothing is recorded."""


@dataclass
class Process:
    """One sysbench of a load: its process, the file with its output, and the thread that writes it.

    `errors` has the error with which that thread ended before sysbench did, such as that of a full disk.
    """

    process: Kept
    text: Path
    reader: threading.Thread
    errors: list[OSError]


@dataclass
class GatedLoad:
    """One or several sysbench processes behind one gate; `log` has the output of all of them after `end`."""

    gate: SliceGate
    processes: list[Process]
    log: Path

    @property
    def pids(self) -> tuple[int, ...]:
        """The process numbers above all sysbench processes and what they start."""
        return tuple(sysbench.process.pid for sysbench in self.processes)

    @property
    def programs(self) -> tuple[int, ...]:
        """The process numbers of all sysbench processes."""
        return tuple(sysbench.process.program for sysbench in self.processes)

    def wait_parked(self, within_s: float) -> None:
        """Wait until all clients are held. Raises SysbenchFailed with sysbench's words when they cannot come back."""
        with self._named_failures():
            self.gate.wait_parked(within_s, self._is_alive)

    def slice(
        self,
        slice_s: float,
        skip_s: float,
        within_s: float,
        serving: Callable[[], bool] = lambda: True,
        at_second: Callable[[int], None] | None = None,
    ) -> SliceCounts:
        """Let the clients through for a slice and return what they did; `at_second` is called as by the gate.

        Raises SysbenchFailed when they hang or end, or when `serving` says that their server has ended, and OSError
        when their output cannot be written.
        """
        self._demand_written()
        with self._named_failures():
            return self.gate.slice(slice_s, skip_s, within_s, lambda: self._is_alive() and serving(), at_second)

    def demand_alive(self) -> None:
        """Raise SysbenchFailed with its last lines if sysbench has ended."""
        if not self._is_alive():
            raise self._failure("sysbench ended by itself")

    def end(self) -> None:
        """Let every client leave, and wait until sysbench has ended.

        Raises SysbenchFailed, and CountsDisagree when sysbench counted other transactions than the gate.
        """
        self.gate.leave()
        deadline_s = time.monotonic() + ENDED_WITHIN_S
        outputs = [self._ended(sysbench, deadline_s) for sysbench in self.processes]
        printed = _printed_transactions(outputs) if self.gate.events is None else self.gate.events
        if printed not in (None, self.gate.completed):
            raise CountsDisagree(
                f"the gate counted {self.gate.completed} transactions, sysbench {printed}; expected the same number "
                f"(log: {self.log})"
            )

    def keep_output(self) -> None:
        """Write what several processes printed to `log`, one after the other; a single one printed there itself."""
        if len(self.processes) > 1:
            self.log.write_bytes(b"\n".join(sysbench.text.read_bytes() for sysbench in self.processes))

    def _ended(self, sysbench: Process, deadline_s: float) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            sysbench.process.wait(timeout=HELPERS_END_WITHIN_S)
        # A script may wait for a program that it started (io.popen).
        sysbench.process.end_helpers()
        try:
            status = sysbench.process.wait(timeout=max(deadline_s - time.monotonic(), 0))
        except subprocess.TimeoutExpired as error:
            raise self._failure(f"sysbench still ran {ENDED_WITHIN_S} s after its clients were let go") from error
        sysbench.reader.join()
        self._demand_written()
        text = sysbench.text.read_text(encoding="utf-8", errors="replace")
        run_sysbench.reject_failed(status, text, None)
        return text

    def _demand_written(self) -> None:
        """Raise the error with which the writing of an output ended."""
        for error in (error for sysbench in self.processes for error in sysbench.errors):
            raise error

    def _is_alive(self) -> bool:
        return all(sysbench.process.poll() is None for sysbench in self.processes)

    @contextlib.contextmanager
    def _named_failures(self) -> Iterator[None]:
        try:
            yield
        except NeverParked as error:
            raise self._failure(str(error)) from error

    def _failure(self, what: str) -> SysbenchFailed:
        """Return the failure with the last lines of the first sysbench that ended, or of the first one."""
        ended = [sysbench for sysbench in self.processes if sysbench.process.poll() is not None]
        for sysbench in self.processes:
            # The reader is a moment behind a sysbench that still runs.
            sysbench.reader.join(None if sysbench in ended else READ_WITHIN_S)
        blamed = (ended or self.processes)[0]
        lines = blamed.text.read_text(encoding="utf-8", errors="replace").splitlines()
        text = "\n".join([f"{what}; its last lines (log: {self.log}):", *lines[-5:]])
        return SysbenchFailed(text, full_disk_in(text))


def _printed_transactions(outputs: Sequence[str]) -> int | None:
    """Return the transactions that several processes printed; None where their script prints reports of its own."""
    try:
        return sum(parse(text).totals.transactions for text in outputs)
    except SysbenchFailed:
        return None


@contextlib.contextmanager
def connected(
    calls: Sequence[SysbenchCall],
    log: Path,
    cpus: Iterable[int] | None = None,
    own_environment: Mapping[str, str] | None = None,
) -> Iterator[GatedLoad]:
    """Run a load as `gated` does, with its gate in memory."""
    with (
        workplace.temporary_directory(SHARED_MEMORY if SHARED_MEMORY.is_dir() else None) as folder,
        gated(calls, folder, log, cpus, own_environment) as load,
    ):
        yield load


@contextlib.contextmanager
def gated(
    calls: Sequence[SysbenchCall],
    folder: Path,
    log: Path,
    cpus: Iterable[int] | None = None,
    own_environment: Mapping[str, str] | None = None,
) -> Iterator[GatedLoad]:
    """Run the calls of one load, one process each, with all clients connected and held until they are let go.

    No process outlives the body. `folder` holds the gate's file and the outputs of several processes, `own_environment`
    is what their driver needs or the study gives them. Raises SysbenchFailed when the clients do not connect.
    """
    clients = [call.clients for call in calls]
    cpus = None if cpus is None else tuple(cpus)
    with made(folder, sum(clients)) as gate, contextlib.ExitStack() as stack:
        load = GatedLoad(gate, [], log)
        stack.callback(load.keep_output)
        for number, (call, first_slot) in enumerate(zip(calls, accumulate(clients, initial=0), strict=False)):
            text = log if len(calls) == 1 else folder / f"{number:02}.txt"
            environment = {**(own_environment or {}), **gate.environment(call.script, first_slot)}
            process = stack.enter_context(run_sysbench.started(call.behind(PRELUDE, seconds=0).argv, cpus, environment))
            load.processes.append(_followed(process, text))
        load.wait_parked(CONNECTED_WITHIN_S)
        yield load


def _followed(process: Kept, text: Path) -> Process:
    """Have what a process prints written to a file."""
    text.touch()
    errors: list[OSError] = []

    def follow() -> None:
        try:
            run_sysbench.follow(process, text, lambda moment: None)
        except OSError as error:
            errors.append(error)

    reader = threading.Thread(target=follow, daemon=True)
    reader.start()
    return Process(process, text, reader, errors)
