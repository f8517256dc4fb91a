"""Run one sysbench call to its end, with a callback at every per-second report; create and fill tables with it."""

import contextlib
import errno
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.lib.host import kept
from scripts.lib.host import process as host_process
from scripts.lib.host.causes import full_disk_in
from scripts.lib.host.kept import Kept
from scripts.lib.host.made_environment import made_environment
from scripts.lib.host.process import CommandFailed, CommandKilled, die_with_parent, watchdog
from scripts.lib.recipe_models import Scalar, TablesRecipe, WorkloadRecipe
from scripts.lib.vocabulary import FailureKind
from scripts.measure.loadgen import sysbench as loadgen_sysbench
from scripts.measure.loadgen.lua import script_path, sysbench_environment
from scripts.measure.loadgen.output import (
    Output,
    SysbenchFailed,
    SysbenchMisused,
    is_misuse,
    parse,
    parse_report,
    reject_failure,
)
from scripts.measure.loadgen.sysbench import SysbenchCall

FILL_SCRIPT = "oltp_read_write"
MOST_LOADERS = 16
# So long after its time sysbench can only wait for a program that its script started (io.popen).
HELPERS_END_WITHIN_S = 30
# The exit status of `client_proxy` when the client host or its connection to the server is lost; sysbench's is 0 or 1.
CLIENT_HOST_LOST = errno.EHOSTUNREACH


class ClientHostFailed(SysbenchFailed):
    """sysbench could not finish its load because the client host or its connection to the server was lost."""

    USUAL = FailureKind.HOST_LOST


class SysbenchKilled(SysbenchFailed):
    """A signal from outside ended sysbench: in a measured run a failure, in a training none of the build's."""

    USUAL = FailureKind.LOAD_KILLED


def fill(
    tables: TablesRecipe,
    flags: list[str],
    loaders: int,
    text: Path,
    environment: dict[str, str] | None = None,
) -> list[str]:
    """Create and fill the tables with at most `loaders` connections, one table per connection; return the command.

    `flags` are sysbench's connection options, `environment` is what its driver needs, `text` is the file for its
    output. Raises SysbenchFailed, SysbenchKilled or SysbenchMisused with its last lines, and ValueError naming an
    option whose value the script would misread.
    """
    generator, script = loadgen_sysbench.read_capabilities(), script_path(tables.script or FILL_SCRIPT)
    loadgen_sysbench.demand_options(generator, script, tables.options)
    clients = min(loaders, tables.tables or MOST_LOADERS, MOST_LOADERS)
    command = loadgen_sysbench.prepare_command(
        generator, script, flags, tables.tables, tables.rows, tables.options, clients
    )
    text.unlink(missing_ok=True)
    try:
        host_process.run(command, text, environment=_variables(environment), started_by=kept.keeping())
        # Its status is 0 even if one of several connections could not create its table (seen with 1.0.20).
        reject_failure(_log_text(text))
    except (CommandFailed, SysbenchFailed, SysbenchMisused) as failure:
        message = f"the tables could not be loaded: {failure}\n(log: {text})"
        if is_misuse(_log_text(text)):
            raise SysbenchMisused(message) from failure
        if isinstance(failure, CommandKilled):
            raise SysbenchKilled(message) from failure
        raise SysbenchFailed(message, full_disk_in(str(failure))) from failure
    return command


def _variables(environment: Mapping[str, str] | None) -> dict[str, str]:
    return {**sysbench_environment(), **(environment or {})}


def _log_text(text: Path) -> str:
    return text.read_text(encoding="utf-8", errors="replace") if text.exists() else ""


def fill_anew(tables: TablesRecipe, flags: list[str], text: Path) -> list[str]:
    """Fill a dataset with `fresh` on the server to be measured; return the command, empty if a snapshot has the tables.

    Raises what `fill` raises.
    """
    return fill(tables, flags, len(os.sched_getaffinity(0)), text) if tables.fresh else []


def options_of_load(generator: loadgen_sysbench.Capabilities, script: str, load: WorkloadRecipe) -> dict[str, Scalar]:
    """Return the options of a load: those of its dataset that its script also has, overridden by its own.

    So a scale that is set for the dataset also applies to the load.
    """
    if not load.tables.options:
        return dict(load.options)
    known_options = loadgen_sysbench.options_of(generator, script).keys()
    wanted_options = known_options - {name.replace("-", "_") for name in load.options}
    shared = {name: value for name, value in load.tables.options.items() if name.replace("-", "_") in wanted_options}
    return {**shared, **load.options}


def call_of_load(
    generator: loadgen_sysbench.Capabilities,
    load: WorkloadRecipe,
    flags: Sequence[str],
    clients: int,
    seconds: int,
    seed: int,
) -> SysbenchCall:
    """Return the call that runs a load for `seconds`; `flags` are those of the connection.

    Keys are drawn from the rows of a table that the load states, or its dataset. Raises ValueError for timed SQL.
    """
    if load.script is None:
        raise ValueError(f"{load.sql}: timed SQL has no script, expected a load that sysbench runs")
    script, tables = script_path(load.script), load.tables
    rows, options = load.rows or tables.rows, options_of_load(generator, script, load)
    return loadgen_sysbench.measuring_call(
        generator, script, flags, tables.tables, rows, options, clients, seconds, seed=seed
    )


@dataclass(frozen=True)
class Moment:
    """The arrival of one per-second report: `number` counts from 1.

    `programs` are the process numbers of sysbench, `pids` those of the processes above it and all that it starts.
    """

    number: int
    monotonic_s: float
    epoch_s: float
    pids: tuple[int, ...]
    programs: tuple[int, ...]


@dataclass(frozen=True)
class FinishedLoad:
    """A successful call: its output, and the arrival of each report.

    With several `processes`, `apart_s` is the longest time between their arrivals of the same report.
    """

    output: Output
    moments: tuple[Moment, ...]
    wall_s: float
    processes: int = 1
    apart_s: float = 0.0


def run(
    call: SysbenchCall,
    log_path: Path,
    *,
    timeout_s: float,
    on_report: Callable[[Moment], None] = lambda moment: None,
    cpus: Iterable[int] | None = None,
    environment: Mapping[str, str] | None = None,
) -> FinishedLoad:
    """Run a call, write its output to `log_path` as it arrives, and return its results.

    `on_report` is called when a per-second report arrives (sysbench flushes each line, also into a pipe); it should
    return well within a second, or the next report gets a late time stamp. `cpus` pins sysbench, `environment` is added
    to the made environment.
    sysbench dies with this process, and is killed when `on_report` raises.
    Raises SysbenchFailed or SysbenchMisused with sysbench's messages and the log, SysbenchFailed after `timeout_s`,
    SysbenchKilled when a signal from outside ended it.
    """
    begin_s = time.monotonic()
    with _named(call, log_path):
        text, moments = _ended(call, log_path, timeout_s, on_report, cpus, environment)
        return FinishedLoad(parse(text), moments, time.monotonic() - begin_s)


def run_unread(call: SysbenchCall, log_path: Path, *, timeout_s: float) -> None:
    """Run a call as `run` does, whatever its script prints in the place of sysbench's reports."""
    with _named(call, log_path):
        _ended(call, log_path, timeout_s, lambda moment: None, None, None)


@contextlib.contextmanager
def _named(call: SysbenchCall, log_path: Path) -> Iterator[None]:
    try:
        yield
    except (SysbenchFailed, SysbenchMisused) as error:
        raise call.failure(error, log_path) from error


def _ended(
    call: SysbenchCall,
    log_path: Path,
    timeout_s: float,
    on_report: Callable[[Moment], None],
    cpus: Iterable[int] | None,
    environment: Mapping[str, str] | None,
) -> tuple[str, tuple[Moment, ...]]:
    """Run a call to its successful end; return what it printed, and the arrival of each report."""
    with (
        started(call.argv, cpus, environment) as process,
        watchdog(process.end, timeout_s) as timed_out,
        watchdog(process.end_helpers, call.seconds + HELPERS_END_WITHIN_S),
    ):
        moments = follow(process, log_path, on_report)
        status = process.wait()
    text = log_path.read_text(encoding="utf-8", errors="replace")
    reject_failed(status, text, timeout_s if timed_out.is_set() else None)
    return text, moments


@contextlib.contextmanager
def started(
    argv: Sequence[str], cpus: Iterable[int] | None, environment: Mapping[str, str] | None = None
) -> Iterator[Kept]:
    """Start a command in its own session, with a pipe for its output; all that it started ends with it or the body.

    `environment` is added to the made environment.
    """
    allowed = set(cpus) if cpus is not None else None

    def before_exec() -> None:
        die_with_parent(signal.SIGTERM)
        if allowed is not None:
            os.sched_setaffinity(0, allowed)

    with kept.started(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=made_environment(**_variables(environment)),
        preexec_fn=before_exec,
    ) as sysbench:
        yield sysbench


def follow(process: Kept, log_path: Path, on_report: Callable[[Moment], None]) -> tuple[Moment, ...]:
    """Write the output of sysbench to `log_path` until it ends; return the arrival of each report."""
    moments: list[Moment] = []
    assert process.stdout is not None
    with log_path.open("wb") as log:
        for line in iter(process.stdout.readline, b""):
            monotonic_s, epoch_s = time.monotonic(), time.time()
            log.write(line)
            log.flush()
            if parse_report(line.decode(errors="replace")):
                moments.append(Moment(len(moments) + 1, monotonic_s, epoch_s, (process.pid,), (process.program,)))
                on_report(moments[-1])
    return tuple(moments)


def reject_failed(status: int, text: str, timed_out_s: float | None) -> None:
    """Raise SysbenchFailed, SysbenchKilled, ClientHostFailed or SysbenchMisused unless a call succeeded.

    `timed_out_s` is the time limit at which the call was killed, None if it was not killed.
    """
    if timed_out_s is not None:
        raise SysbenchFailed(f"sysbench was still running after {timed_out_s:g} s and was killed")
    tail = "\n".join(text.rstrip().splitlines()[-3:])
    if status == CLIENT_HOST_LOST:
        raise ClientHostFailed(tail)
    reject_failure(text)
    if status < 0:
        # Seen with the pgsql driver of 1.0.20 when the server goes away.
        kind = SysbenchKilled if -status in host_process.SIGNALS_FROM_OUTSIDE else SysbenchFailed
        raise kind(f"sysbench died of {signal.Signals(-status).name}; its last lines:\n{tail}", full_disk_in(tail))
    if status > 0:
        raise SysbenchFailed(f"sysbench ended with status {status}; its last lines:\n{tail}", full_disk_in(tail))
