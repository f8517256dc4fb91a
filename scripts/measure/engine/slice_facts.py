"""The facts of an arm measured in slices, from what its gate and the kernel counted."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from scripts.lib.host import usage
from scripts.lib.vocabulary import SLICES, CountedBy
from scripts.measure.engine.run_facts import Used, percentiles_ms, used_between
from scripts.measure.engine.run_parts import HistogramFacts, Series, Sliced, TimesFacts, WindowFacts
from scripts.measure.engine.run_record import Run
from scripts.measure.engine.side_by_side import OpenTime, Slice
from scripts.measure.loadgen.output import Histogram
from scripts.measure.loadgen.slice_gate import Sent, SliceGate

TRIMMED_SHARE = 0.1


@dataclass(frozen=True)
class Rounds:
    """How the slices of a block were taken: their length, the skipped beginning, and both edges in time."""

    slice_s: float
    skip_s: float
    begin_s: float
    end_s: float


def total_tps(slices: Sequence[Slice]) -> float:
    """Return transactions per second over all slices: the sum over clients of transactions per own busy time.

    A client is busy from its first start to its last completion in each slice, so that no wait at the gate counts.
    """
    counted = np.sum([part.counted for part in slices], axis=0)
    busy_ns = np.sum([np.where(part.counted > 0, part.busy_ns, 0) for part in slices], axis=0)
    active = busy_ns > 0
    return float((counted[active] / busy_ns[active]).sum() * 1e9)


def trimmed_tps(slices: Sequence[Slice]) -> float:
    """Return the mean of the slices' TPS without the tenth of them at each end."""
    values = np.sort([part.tps for part in slices])
    cut = int(len(values) * TRIMMED_SHARE)
    return float(values[cut : len(values) - cut].mean())


def log_standard_error(tps: Sequence[Sequence[float]]) -> float | None:
    """Return the standard error of an arm's mean log TPS that its slices alone account for; None where unknown.

    `tps` has shape (rounds, arms). The variance is that of the residuals after the effects of round and arm, of
    (rounds - 1) (arms - 1) degrees of freedom; rounds in which an arm completed nothing are left out.
    """
    values = np.array(tps, dtype=float)
    values = np.log(values[(values > 0).all(axis=1)])
    rounds, arms = values.shape
    if rounds < 2 or arms < 2:
        return None
    residuals = values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()
    return float(np.sqrt((residuals**2).sum() / ((rounds - 1) * (arms - 1)) / rounds))


def beside_others(tps: Sequence[Sequence[float]]) -> np.ndarray:
    """Return TPS over the geometric mean of all arms in the same round, both of shape (rounds, arms).

    The state of the machine, which all arms of a round share, is not in it. A round in which an arm completed nothing
    is left out.
    """
    values = np.array(tps, dtype=float)
    values = np.log(values[(values > 0).all(axis=1)])
    return np.asarray(np.exp(values - values.mean(axis=1, keepdims=True)))


def by_round(slices: Sequence[Slice], arms: Sequence[str]) -> list[list[float]]:
    """Return TPS of shape (rounds, arms) of the rounds in which each of the arms has a slice."""
    rounds: dict[int, dict[str, float]] = {}
    for part in slices:
        rounds.setdefault(part.round, {})[part.arm] = part.tps
    return [[tps[arm] for arm in arms] for tps in rounds.values() if tps.keys() >= set(arms)]


@dataclass(frozen=True)
class GateLatency:
    """The mean and the percentiles of latency that a gate counted, None without transactions; and the histogram."""

    mean_ms: float | None
    percentiles_ms: tuple[float | None, float | None, float | None]
    histogram: HistogramFacts

    def window(self, duration_s: float, transactions: int, tps: float, sent: Sent) -> WindowFacts:
        """Return the window with this latency; `sent` is what sysbench counted in it."""
        return WindowFacts(duration_s, transactions, tps, self.mean_ms, *self.percentiles_ms, *sent)


def latency_of(gate: SliceGate) -> GateLatency:
    """Return the latency that a gate counted."""
    latency_ms, count = gate.latencies()
    histogram = Histogram(tuple(latency_ms), tuple(count))
    if not count:
        return GateLatency(None, (None, None, None), HistogramFacts(latency_ms, count))
    mean_ms = float(np.average(latency_ms, weights=count))
    return GateLatency(mean_ms, percentiles_ms(histogram), HistogramFacts(latency_ms, count))


def sliced_run(run: Run, slices: Sequence[Slice], latency: GateLatency, rounds: Rounds, sent: Sent) -> Run:
    """Return a run with its window in slices; percentiles are those of its open time."""
    unknown: list[float | None] = [None] * len(slices)
    elapsed_s = np.cumsum([part.open_ns for part in slices]) / 1e9
    return replace(
        run,
        counted_by=CountedBy.GATE,
        times=TimesFacts(window_started_at=rounds.begin_s, window_ended_at=rounds.end_s),
        window=latency.window(open_s(slices), sum(part.completed for part in slices), total_tps(slices), sent),
        series=Series(
            second=[round(float(second), 3) for second in elapsed_s],
            tps=[round(part.tps, 3) for part in slices],
            qps=unknown,
            p95_ms=unknown,
            errors_per_s=unknown,
        ),
        histogram=latency.histogram,
    )


def open_s(slices: Sequence[Slice]) -> float:
    """Return the seconds in which the gate was open."""
    return sum(part.open_ns for part in slices) / 1e9


def used_in(parts: Sequence[OpenTime], before: usage.Sample, after: usage.Sample) -> Used:
    """Return the resources used in an arm's open time, not in the whole rounds.

    The server's total CPU time is exact; its split into user and system has the kernel's tick.
    """
    host = usage.CpuTimes(
        **{
            member.name: getattr(before.host, member.name) + sum(getattr(part.host, member.name) for part in parts)
            for member in fields(usage.CpuTimes)
        }
    )
    pressure_s = {
        name: _total([before.pressure_s[name], *(part.pressure_s[name] for part in parts)]) for name in usage.PRESSURES
    }
    used = used_between(before, replace(after, host=host, pressure_s=pressure_s))
    exact_s = sum(part.cpu_ns or 0 for part in parts) / 1e9
    user_s, system_s = used.cpu.server_user_s or 0.0, used.cpu.server_system_s or 0.0
    if ticks_s := user_s + system_s:
        user_s, system_s = round(user_s * exact_s / ticks_s, 6), round(system_s * exact_s / ticks_s, 6)
    else:
        user_s = system_s = exact_s / 2
    return replace(used, cpu=replace(used.cpu, server_user_s=user_s, server_system_s=system_s))


def _total(values: Sequence[float | None]) -> float | None:
    """Return the sum of values, None where one is unknown."""
    known_values = [value for value in values if value is not None]
    return sum(known_values) if len(known_values) == len(values) else None


def with_slices(compared: Sliced, slices: Sequence[Slice], gate: SliceGate, rounds: Rounds) -> Sliced:
    """Return how an arm was measured, but for what the whole block knows; `compared` is what rests on the others."""
    return replace(
        compared,
        method=SLICES,
        rounds=len(slices),
        slice_s=rounds.slice_s,
        skip_s=rounds.skip_s,
        open_s=open_s(slices),
        tps_trimmed=trimmed_tps(slices),
        cpu_tick_s=1 / usage.TICKS_PER_S,
        positions=[int(count) for count in gate.positions()],
        places=[part.position for part in slices],
    )
