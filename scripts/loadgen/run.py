"""Run one sysbench call to its end, telling the caller of every per-second report as it arrives."""

import contextlib
import errno
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.host import process as host_process
from scripts.host.outcome import HostFailed
from scripts.host.process import CommandFailed, die_with_parent, watchdog
from scripts.host.process import started as command_started
from scripts.loadgen import sysbench as loadgen_sysbench
from scripts.loadgen.lua import script_path
from scripts.loadgen.output import (
    Output,
    SysbenchFailed,
    SysbenchMisused,
    is_misuse,
    parse,
    parse_report,
    reject_failure,
)

FILL_SCRIPT = "oltp_read_write"
MOST_LOADERS = 16
# The status of `client_proxy` when the client host or the way from it to the server is lost; sysbench's own is 0 or 1.
CLIENT_HOST_LOST = errno.EHOSTUNREACH


class ClientHostFailed(SysbenchFailed, HostFailed):
    """sysbench could not finish its load, since the client host or the way from it to the server was lost."""


def fill(tables: Mapping[str, Any], flags: list[str], loaders: int, text: Path) -> list[str]:
    """Create and fill the tables with at most `loaders` connections, each one table at a time; returns the command.

    `tables` is a dataset's entry, `flags` are sysbench's connection options, `text` becomes what sysbench says. Raises
    SysbenchFailed or SysbenchMisused with its last lines, ValueError naming an option whose value its script would
    misread.
    """
    generator, script = loadgen_sysbench.read_capabilities(), script_path(tables.get("script", FILL_SCRIPT))
    options = tables.get("options", {})
    loadgen_sysbench.demand_options(generator, script, options)
    clients = min(loaders, tables.get("tables", MOST_LOADERS), MOST_LOADERS)
    command = loadgen_sysbench.prepare_command(
        generator, script, flags, tables.get("tables"), tables.get("rows"), options, clients
    )
    text.unlink(missing_ok=True)
    try:
        host_process.run(command, text)
        # Its status is 0 when a table could not be made by one of several connections (1.0.20, seen).
        reject_failure(_fill_options(text))
    except (CommandFailed, SysbenchFailed, SysbenchMisused) as failure:
        kind = SysbenchMisused if is_misuse(_fill_options(text)) else SysbenchFailed
        raise kind(f"the tables could not be loaded: {failure}\n(log: {text})") from failure
    return command


def _fill_options(text: Path) -> str:
    return text.read_text(encoding="utf-8", errors="replace") if text.exists() else ""


def fill_anew(tables: Mapping[str, Any], flags: list[str], text: Path) -> list[str]:
    """Fill a dataset that no snapshot holds, on the server to be measured; returns the command, nothing when one does.

    Raises what `fill` raises.
    """
    return fill(tables, flags, len(os.sched_getaffinity(0)), text) if tables.get("fresh") else []


def options_of_load(generator: loadgen_sysbench.Capabilities, script: str, load: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a load: its own, laid over those of its dataset that its script has too.

    `load` has `options` and `tables`, the dataset's entry; a scale is said once and meant by both.
    """
    own, shared = load.get("options", {}), load["tables"].get("options", {})
    if not shared:
        return dict(own)
    known, said = loadgen_sysbench.options_of(generator, script), {name.replace("-", "_") for name in own}
    wanted = known.keys() - said
    return {**{name: value for name, value in shared.items() if name.replace("-", "_") in wanted}, **own}


@dataclass(frozen=True)
class Moment:
    """The arrival of one per-second report: `number` counts from 1, `pids` are sysbench's."""

    number: int
    monotonic_s: float
    epoch_s: float
    pids: tuple[int, ...]


@dataclass(frozen=True)
class Finished:
    """A call that ended well: what it printed, and when each of its reports arrived.

    Of several `processes` that ran together, `apart_s` is the longest time between arrivals that make one report.
    """

    output: Output
    moments: tuple[Moment, ...]
    wall_s: float
    processes: int = 1
    apart_s: float = 0.0


def run(
    argv: Sequence[str],
    log_path: Path,
    *,
    timeout_s: float,
    on_report: Callable[[Moment], None] = lambda moment: None,
    cpus: Iterable[int] | None = None,
) -> Finished:
    """Run `sysbench … run`, keep its text in `log_path` as it comes, and return what it measured.

    `on_report` is called at every per-second report, when it arrives (sysbench flushes each line, through a pipe
    too); it should return well within a second, else the next report is stamped late. `cpus` pins sysbench.
    sysbench dies with this process, and is killed when `on_report` raises.
    Raises SysbenchFailed or SysbenchMisused with sysbench's own words and the log, or on a call beyond `timeout_s`.
    """
    begin_s = time.monotonic()
    with started(argv, cpus) as process, watchdog(process, timeout_s) as timed_out:
        moments = follow(process, log_path, on_report)
        status = process.wait()
    text = log_path.read_text(encoding="utf-8", errors="replace")
    try:
        reject_failed(status, text, timeout_s if timed_out.is_set() else None)
        return Finished(parse(text), moments, time.monotonic() - begin_s)
    except (SysbenchFailed, SysbenchMisused) as error:
        raise type(error)(f"{error}\n(command: {shlex.join(argv)}; log: {log_path})") from error


@contextlib.contextmanager
def started(
    argv: Sequence[str], cpus: Iterable[int] | None, environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen]:
    """Start a command in its own session, its output a pipe, `environment` over ours; nothing outlives the body."""
    wanted = set(cpus) if cpus is not None else None

    def before_exec() -> None:
        die_with_parent(signal.SIGKILL)
        if wanted is not None:
            os.sched_setaffinity(0, wanted)

    with command_started(
        list(argv),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **(environment or {})},
        preexec_fn=before_exec,
    ) as sysbench:
        yield sysbench


def follow(process: subprocess.Popen, log_path: Path, on_report: Callable[[Moment], None]) -> tuple[Moment, ...]:
    """Write what a sysbench prints to `log_path` until its end; returns when its reports came."""
    moments: list[Moment] = []
    with log_path.open("wb") as log:
        for line in iter(process.stdout.readline, b""):
            monotonic_s, epoch_s = time.monotonic(), time.time()
            log.write(line)
            log.flush()
            if parse_report(line.decode(errors="replace")):
                moments.append(Moment(len(moments) + 1, monotonic_s, epoch_s, (process.pid,)))
                on_report(moments[-1])
    return tuple(moments)


def reject_failed(status: int, text: str, timed_out_s: float | None) -> None:
    """Raise SysbenchFailed, ClientHostFailed or SysbenchMisused unless a call ended well.

    `timed_out_s` is the time after which it was killed, None when it was not.
    """
    if timed_out_s is not None:
        raise SysbenchFailed(f"sysbench was still running after {timed_out_s:g} s and was killed")
    tail = "\n".join(text.rstrip().splitlines()[-3:])
    if status == CLIENT_HOST_LOST:
        raise ClientHostFailed(tail)
    reject_failure(text)
    if status < 0:
        # Seen with the pgsql driver of 1.0.20 when the server goes away.
        raise SysbenchFailed(f"sysbench died of {signal.Signals(-status).name}; its last lines:\n{tail}")
    if status > 0:
        raise SysbenchFailed(f"sysbench ended with status {status}; its last lines:\n{tail}")
