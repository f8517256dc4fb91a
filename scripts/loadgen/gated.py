"""A sysbench whose clients wait at a gate: started, held, let through slice by slice, and ended through the gate."""

import contextlib
import subprocess
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.loadgen import run
from scripts.loadgen.output import Output, SysbenchFailed, parse
from scripts.loadgen.slice_gate import PRELUDE, NeverParked, SliceCounts, SliceGate, made

# Connections of thousands of clients take seconds to come up on one CPU.
CONNECTED_WITHIN_S, ENDED_WITHIN_S = 300, 60


@dataclass
class GatedLoad:
    """One sysbench behind its gate; `output` is what it printed, there once `end` returned."""

    gate: SliceGate
    process: subprocess.Popen
    log: Path
    _reader: threading.Thread
    output: Output | None = None

    def wait_parked(self, within_s: float) -> None:
        """Wait until all clients are held. Raises SysbenchFailed with sysbench's words when they cannot come back."""
        with self._named_failures():
            self.gate.wait_parked(within_s, self._is_alive)

    def slice(self, slice_s: float, skip_s: float, within_s: float) -> SliceCounts:
        """Let the clients through for a slice and return what they did. Raises SysbenchFailed when they hang or end."""
        with self._named_failures():
            return self.gate.slice(slice_s, skip_s, within_s, self._is_alive)

    def end(self) -> Output:
        """Let every client leave, wait for sysbench's totals and return them. Raises SysbenchFailed."""
        self.gate.leave()
        try:
            status = self.process.wait(timeout=ENDED_WITHIN_S)
        except subprocess.TimeoutExpired as error:
            raise self._failure(f"sysbench still ran {ENDED_WITHIN_S} s after its clients were let go") from error
        self._reader.join()
        text = self.log.read_text(encoding="utf-8", errors="replace")
        run.reject_failed(status, text, None)
        self.output = parse(text)
        return self.output

    def _is_alive(self) -> bool:
        return self.process.poll() is None

    @contextlib.contextmanager
    def _named_failures(self) -> Iterator[None]:
        try:
            yield
        except NeverParked as error:
            if not self._is_alive():
                self._reader.join()
            raise self._failure(str(error)) from error

    def _failure(self, what: str) -> SysbenchFailed:
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return SysbenchFailed("\n".join([f"{what}; its last lines (log: {self.log}):", *lines[-5:]]))


def gated_command(argv: Sequence[str], script: str) -> list[str]:
    """Return a measuring command whose script is the prelude and which runs until its clients are let go."""
    without_time = ["--time=0" if word.startswith("--time=") else word for word in argv]
    return [str(PRELUDE) if word == script else word for word in without_time]


@contextlib.contextmanager
def gated(
    argv: Sequence[str], script: str, clients: int, folder: Path, log: Path, cpus: Iterable[int] | None = None
) -> Iterator[GatedLoad]:
    """Run a measuring command with all its clients connected and held; nothing of it outlives the body.

    `argv` is what `sysbench.run_command` returns for `script`, `folder` holds the gate's file.
    Raises SysbenchFailed when the clients do not connect.
    """
    with (
        made(folder, clients) as gate,
        run.started(gated_command(argv, script), cpus, gate.environment(script)) as process,
    ):
        reader = threading.Thread(target=run.follow, args=(process, log, lambda moment: None), daemon=True)
        reader.start()
        load = GatedLoad(gate, process, log, reader)
        load.wait_parked(CONNECTED_WITHIN_S)
        yield load
