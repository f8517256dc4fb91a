"""The load of an arm that is measured by turns: in one long slice, or freely where no gate can hold it.

The gate of a long slice is open for the whole window, and counts.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from scripts.lib.host import priority, usage
from scripts.lib.vocabulary import CountedBy
from scripts.measure.engine import observe
from scripts.measure.engine.observe import Counters, with_machine
from scripts.measure.engine.run_facts import operations, printed_run, used_between
from scripts.measure.engine.run_parts import ClientHostFacts, Series, TimesFacts
from scripts.measure.engine.run_record import Run
from scripts.measure.engine.setting import Setting
from scripts.measure.engine.side_by_side import PARKED_WITHIN_S
from scripts.measure.engine.slice_facts import latency_of
from scripts.measure.loadgen import client_host, gated, printed_checks, processes, run_sysbench
from scripts.measure.loadgen.gated import CountsDisagree
from scripts.measure.loadgen.output import SysbenchFailed
from scripts.measure.loadgen.slice_gate import Sent, SliceCounts, bucket_ms
from scripts.measure.loadgen.sysbench import SysbenchCall
from scripts.measure.servers.families.connection import Connection
from scripts.measure.servers.server import Server

ReadCounters = Callable[[], Counters]
# The first second, in which clients begin and caches fill, is not in the window.
LEAD_S = 1
SHARE_OF_SERIES = 0.95


@dataclass(frozen=True)
class Second:
    """What the gate had counted at a full second since it was opened, and when that was."""

    monotonic_s: float
    epoch_s: float
    completed: int
    sent: Sent = field(default_factory=Sent)
    p95_ms: float | None = None


@dataclass
class Turn:
    """The seconds of an arm's turn, and the resources used at both edges of its window."""

    setting: Setting
    server: Server
    load: gated.GatedLoad
    seconds: list[Second] = field(default_factory=list)
    edges: list[tuple[Second, usage.Sample]] = field(default_factory=list)
    _histogram: np.ndarray | int = 0

    def measure(self) -> SliceCounts:
        """Open the gate for the lead and the window. Raises SysbenchFailed or ServerFailed when one of them ends."""
        length_s = LEAD_S + self.setting.measure_s
        return self.load.slice(length_s, LEAD_S, PARKED_WITHIN_S, self._serves, self._note)

    def _serves(self) -> bool:
        return self.server.process.poll() is None

    def _note(self, number: int) -> None:
        gate = self.load.gate
        now_s, epoch_s, completed, sent, histogram = (
            time.monotonic(), time.time(), gate.completed, gate.sent, gate.histogram(),
        )  # fmt: skip
        self.seconds.append(Second(now_s, epoch_s, completed, sent, _p95_ms(histogram - self._histogram)))
        self._histogram = histogram
        if number in (LEAD_S, LEAD_S + self.setting.measure_s):
            sample = usage.sample_usage(self.server.process.pid, *self.load.pids)
            self.edges.append((self.seconds[-1], sample))
            self.setting.at_edge(self.server)
        self.load.demand_alive()

    def run(self, run: Run, counts: SliceCounts, sent: Sent) -> Run:
        """Return a run with its window; queries, errors and reconnects are those `sent` since the opening."""
        (first, before), (last, after) = self.edges
        latency = latency_of(self.load.gate)
        duration_s, transactions = last.monotonic_s - first.monotonic_s, last.completed - first.completed
        return replace(
            run,
            counted_by=CountedBy.GATE,
            times=TimesFacts(window_started_at=first.epoch_s, window_ended_at=last.epoch_s),
            window=latency.window(duration_s, transactions, counts.tps, sent),
            series=series(self.seconds, self.load.gate.opened_s),
            histogram=latency.histogram,
            **used_between(before, after).values(),
        )


def series(seconds: list[Second], opened_s: float) -> Series:
    """Return the seconds of a turn as columns; rates are those since the second before, None where unknown.

    `p95_ms` is known from the end of the lead on; queries and errors are counted up to a tenth of a second before.
    """
    opening = Second(opened_s, 0.0, 0, Sent(0, 0, 0))
    steps = [(before, after, after.monotonic_s - before.monotonic_s) for before, after in pairwise([opening, *seconds])]
    return Series(
        second=[round(second.monotonic_s - opened_s, 3) for second in seconds],
        tps=[round((after.completed - before.completed) / step_s, 2) for before, after, step_s in steps],
        qps=[_rate(after.sent.since(before.sent).queries, step_s) for before, after, step_s in steps],
        p95_ms=[second.p95_ms for second in seconds],
        errors_per_s=[_rate(after.sent.since(before.sent).errors, step_s) for before, after, step_s in steps],
    )


def _rate(count: int | None, step_s: float) -> float | None:
    return None if count is None else round(count / step_s, 2)


def _p95_ms(counts: np.ndarray) -> float | None:
    if not counts.any():
        return None
    return bucket_ms(int(np.searchsorted(counts.cumsum(), SHARE_OF_SERIES * counts.sum())))


def measuring_calls(setting: Setting, server: Server) -> list[SysbenchCall]:
    """Return the calls of the measuring, of all sysbench processes."""
    return setting.calls(server, _called_s(setting), seed=setting.context.repetition)


def _called_s(setting: Setting) -> int:
    # The window lies between two reports, and at the last one connections may be closing: a second on each side.
    # Several processes do not end together: one more second, so that each of them covers the window.
    return setting.measure_s + 2 + (setting.context.clients > processes.MOST_CLIENTS)


def measure_sysbench(
    run: Run, setting: Setting, server: Server, connection: Connection, calls: Sequence[SysbenchCall]
) -> Run:
    """Run the measuring call; returns the run with its window, and the server's counters before and after the call.

    Raises SysbenchFailed and ServerFailed.
    """

    def read() -> Counters:
        return with_machine(setting.family.counters(connection), server.process.pid)

    read_each_second = read if setting.load.series else None
    measure = _as_printed if setting.why_printed else _in_long_slice
    measured = measure(run, setting, server, connection, calls, read_each_second)
    return replace(
        measured,
        operations=operations(setting.text),
        client_environment=dict(setting.load.client_environment),
    )


def _in_long_slice(
    run: Run,
    setting: Setting,
    server: Server,
    connection: Connection,
    calls: Sequence[SysbenchCall],
    read: ReadCounters | None,
) -> Run:
    """Measure one turn behind a gate; `read` returns the server's counters, each second."""
    with setting.gated(calls, setting.text) as load:
        priority.carry_over(server.process.pid, *load.pids)
        preloaded = setting.preloaded_by(load.programs)
        turn, before, sent = Turn(setting, server, load), observe.read_edge(setting.family, connection), load.gate.sent
        with observe.sampled_counters(read) as samples:
            counts = turn.measure()
        after, of_window = observe.read_edge(setting.family, connection), load.gate.sent.since(sent)
        load.end()
        if not counts.transactions:
            raise SysbenchFailed(f"no client completed a transaction in {setting.measure_s} s (log: {setting.text})")
        run = turn.run(run, counts, of_window)
    return replace(
        run,
        client_preloaded=preloaded,
        counters=observe.counter_edges(before, after),
        engine_report=observe.reports(before, after),
        counter_series=observe.sample_columns(samples, load.gate.opened_s),
    )


def _as_printed(
    run: Run,
    setting: Setting,
    server: Server,
    connection: Connection,
    calls: Sequence[SysbenchCall],
    read: ReadCounters | None,
) -> Run:
    """Measure a load that no gate can hold, by what sysbench prints; see `_in_long_slice`."""
    samples: list[tuple[run_sysbench.Moment, usage.Sample]] = []
    preloaded: dict[str, str] = {}

    def on_report(moment: run_sysbench.Moment) -> None:
        if moment.number == 1:
            priority.carry_over(server.process.pid, *moment.pids)
            preloaded.update(setting.preloaded_by(moment.programs))
        if moment.number in (1, 1 + setting.measure_s):
            samples.append((moment, usage.sample_usage(server.process.pid, *moment.pids)))
            setting.at_edge(server)

    patience_s = setting.patience_s(setting.measure_s)
    before = observe.read_edge(setting.family, connection)
    with observe.sampled_counters(read) as counters:
        finished = run_load(setting, calls, setting.text, patience_s, on_report)
    after = observe.read_edge(setting.family, connection)
    _demand_agreement(setting, finished)
    begin_s = finished.moments[0].monotonic_s - finished.output.reports[0].second
    return replace(
        printed_run(run, finished, samples),
        client_host=ClientHostFacts.of(client_host.used_on_client(setting.remote, server, samples)),
        client_preloaded=preloaded,
        counters=observe.counter_edges(before, after),
        engine_report=observe.reports(before, after),
        counter_series=observe.sample_columns(counters, begin_s),
    )


def _demand_agreement(setting: Setting, finished: run_sysbench.FinishedLoad) -> None:
    try:
        text = setting.text.read_text(encoding="utf-8", errors="replace")
        printed_checks.demand_agreement(finished, text, _called_s(setting))
    except CountsDisagree as error:
        raise CountsDisagree(f"{error} (log: {setting.text})") from error


def warm_up(setting: Setting, server: Server) -> list[str]:
    """Run the workload unmeasured, with another seed than the measuring call's; returns the first command."""
    seconds = setting.load.warmup_s or 0
    calls = setting.calls(server, seconds, seed=setting.context.repetition + 1_000_000)
    text = setting.log.with_suffix(".warmup.txt")
    if setting.why_printed:
        run_load(setting, calls, text, setting.patience_s(seconds))
    elif seconds:
        with setting.gated(calls, text) as load:
            load.slice(seconds, 0.0, PARKED_WITHIN_S, lambda: server.process.poll() is None)
            load.end()
    return calls[0].argv


def run_load(
    setting: Setting,
    calls: Sequence[SysbenchCall],
    text: Path,
    timeout_s: float,
    on_report: Callable[[run_sysbench.Moment], None] = lambda moment: None,
) -> run_sysbench.FinishedLoad:
    """Run the calls of one load together, on the CPUs and in the environment of its setting."""
    environment = client_host.login_environment() if setting.remote else setting.load.client_environment
    return processes.run_processes(
        calls, text, timeout_s=timeout_s, on_report=on_report, cpus=setting.cpus.client_cpus, environment=environment
    )
