"""The one long slice of an arm that is measured by turns: its gate is open for the whole window, and counts."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from scripts.lib.host import priority, usage
from scripts.lib.vocabulary import CountedBy
from scripts.measure.engine import client_environment, observe, slice_facts
from scripts.measure.engine.setting import Setting
from scripts.measure.engine.side_by_side import PARKED_WITHIN_S
from scripts.measure.loadgen import gated, output
from scripts.measure.loadgen.output import SysbenchFailed
from scripts.measure.loadgen.slice_gate import SENT, SliceCounts, bucket_ms, sent_between
from scripts.measure.loadgen.sysbench import SysbenchCall
from scripts.measure.servers.server import Server

# The first second, in which clients begin and caches fill, is not in the window.
LEAD_S = 1
SHARE_OF_SERIES = 0.95


@dataclass(frozen=True)
class Second:
    """What the gate had counted at a full second since it was opened, and when that was."""

    monotonic_s: float
    epoch_s: float
    completed: int
    sent: dict[str, int] | None = None
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

    def facts(self, counts: SliceCounts, sent: dict[str, int | None]) -> dict[str, Any]:
        """Return the facts of the window; queries, errors and reconnects are those `sent` since the opening."""
        (first, before), (last, after) = self.edges
        latency, histogram = slice_facts.latency_facts(self.load.gate)
        window = {
            "duration_s": last.monotonic_s - first.monotonic_s,
            "transactions": last.completed - first.completed,
            "tps": counts.tps,
            **latency,
            **sent,
        }
        return {
            "counted_by": CountedBy.GATE,
            "times": {"window_started_at": first.epoch_s, "window_ended_at": last.epoch_s},
            "window": window,
            "series": series(self.seconds, self.load.gate.opened_s),
            "histogram": asdict(histogram),
            **usage.usage_between(before, after),
        }


def series(seconds: list[Second], opened_s: float) -> dict[str, list]:
    """Return the seconds of a turn as columns; rates are those since the second before, None where unknown.

    `p95_ms` is known from the end of the lead on; queries and errors are counted up to a tenth of a second before.
    """
    opening = Second(opened_s, 0.0, 0, None if seconds[0].sent is None else dict.fromkeys(SENT, 0))
    steps = [(before, after, after.monotonic_s - before.monotonic_s) for before, after in pairwise([opening, *seconds])]
    return {
        "second": [round(each.monotonic_s - opened_s, 3) for each in seconds],
        "tps": [round((after.completed - before.completed) / step_s, 2) for before, after, step_s in steps],
        "qps": [_rate("queries", *step) for step in steps],
        "p95_ms": [each.p95_ms for each in seconds],
        "errors_per_s": [_rate("errors", *step) for step in steps],
    }


def _rate(name: str, before: Second, after: Second, step_s: float) -> float | None:
    if before.sent is None or after.sent is None:
        return None
    return round((after.sent[name] - before.sent[name]) / step_s, 2)


def _p95_ms(counts: np.ndarray) -> float | None:
    if not counts.any():
        return None
    return bucket_ms(int(np.searchsorted(counts.cumsum(), SHARE_OF_SERIES * counts.sum())))


def measured(
    setting: Setting,
    server: Server,
    connection: Any,
    calls: Sequence[SysbenchCall],
    read: Callable[[], dict[str, float]] | None,
) -> dict[str, Any]:
    """Measure one turn; returns the facts of its window, and the server's counters before and after.

    `read` returns the server's counters, each second, None for a load without `series`. Raises SysbenchFailed and
    ServerFailed.
    """
    with setting.gated(calls, setting.text) as load:
        priority.carry_over(server.process.pid, *load.pids)
        proven = client_environment.proven(setting, load.programs)
        turn, before, sent = Turn(setting, server, load), observe.read_edge(setting.family, connection), load.gate.sent
        with observe.sampled_counters(read) as counted:
            counts = turn.measure()
        after, of_window = observe.read_edge(setting.family, connection), sent_between(sent, load.gate.sent)
        load.end()
        if not counts.transactions:
            raise SysbenchFailed(f"no client completed a transaction in {setting.measure_s} s (log: {setting.text})")
        facts = turn.facts(counts, of_window)
    return {
        **facts,
        **observe.edge_facts(before, after),
        **output.operation_facts(setting.text),
        **proven,
        "counter_series": observe.sample_columns(counted, load.gate.opened_s),
    }
