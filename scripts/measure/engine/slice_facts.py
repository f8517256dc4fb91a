"""The facts of an arm measured in slices, from what its gate and the kernel counted."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Protocol

import numpy as np

from scripts.lib.host import usage
from scripts.lib.vocabulary import CountedBy
from scripts.measure.engine.run_facts import SHARES
from scripts.measure.engine.side_by_side import Slice
from scripts.measure.loadgen.output import Histogram, percentile
from scripts.measure.loadgen.slice_gate import SliceGate

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
    counted = np.sum([one.counted for one in slices], axis=0)
    busy_ns = np.sum([np.where(one.counted > 0, one.busy_ns, 0) for one in slices], axis=0)
    active = busy_ns > 0
    return float((counted[active] / busy_ns[active]).sum() * 1e9)


def trimmed_tps(slices: Sequence[Slice]) -> float:
    """Return the mean of the slices' TPS without the tenth of them at each end."""
    values = np.sort([one.tps for one in slices])
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
    return np.exp(values - values.mean(axis=1, keepdims=True))


def by_round(slices: Sequence[Slice], arms: Sequence[str]) -> list[list[float]]:
    """Return TPS of shape (rounds, arms) of the rounds in which each of the arms has a slice."""
    found: dict[int, dict[str, float]] = {}
    for one in slices:
        found.setdefault(one.round, {})[one.arm] = one.tps
    return [[each[arm] for arm in arms] for each in found.values() if each.keys() >= set(arms)]


def latency_facts(gate: SliceGate) -> tuple[dict[str, float | None], Histogram]:
    """Return the mean and the percentiles of latency that a gate counted, None without transactions; the histogram."""
    latency_ms, count = gate.latencies()
    histogram = Histogram(tuple(latency_ms), tuple(count))
    mean_ms = float(np.average(latency_ms, weights=count)) if count else None
    shares = {name: percentile(histogram, share) if count else None for name, share in SHARES.items()}
    return {"latency_mean_ms": mean_ms, **shares}, histogram


def window_facts(slices: Sequence[Slice], gate: SliceGate, rounds: Rounds) -> dict[str, Any]:
    """Return `times`, `window`, `series` and `histogram` of an arm; percentiles are those of its open time."""
    latency, histogram = latency_facts(gate)
    duration_s = sum(one.open_ns for one in slices) / 1e9
    elapsed_s = np.cumsum([one.open_ns for one in slices]) / 1e9
    return {
        "counted_by": CountedBy.GATE,
        "times": {"window_started_at": rounds.begin_s, "window_ended_at": rounds.end_s},
        "window": {
            "duration_s": duration_s,
            "transactions": sum(one.completed for one in slices),
            "tps": total_tps(slices),
            **latency,
        },
        "series": {
            "second": [round(float(second), 3) for second in elapsed_s],
            "tps": [round(one.tps, 3) for one in slices],
            "qps": [None] * len(slices),
            "p95_ms": [None] * len(slices),
            "errors_per_s": [None] * len(slices),
        },
        "histogram": asdict(histogram),
    }


class Spent(Protocol):
    """A part of an arm's open time: the server's CPU time in it, and the host's."""

    @property
    def cpu_ns(self) -> int | None:
        """The server's CPU time, None where it is unknown."""

    @property
    def host(self) -> usage.CpuTimes:
        """The host's CPU time."""

    @property
    def pressure_s(self) -> dict[str, float | None]:
        """The seconds in which something of the host waited."""


def usage_facts(slices: Sequence[Spent], before: usage.Sample, after: usage.Sample) -> dict[str, Any]:
    """Return the parts `cpu`, `pressure`, `memory` and `io` of an arm: of its open time, not of the whole rounds.

    The server's total CPU time is exact; its split into user and system has the kernel's tick.
    """
    host = usage.CpuTimes(
        **{
            each.name: getattr(before.host, each.name) + sum(getattr(one.host, each.name) for one in slices)
            for each in fields(usage.CpuTimes)
        }
    )
    pressure_s = {
        name: _total([before.pressure_s[name], *(one.pressure_s[name] for one in slices)]) for name in usage.PRESSURES
    }
    found = usage.usage_between(before, replace(after, host=host, pressure_s=pressure_s))
    cpu, exact_s = found["cpu"], sum(one.cpu_ns or 0 for one in slices) / 1e9
    ticks_s = cpu["server_user_s"] + cpu["server_system_s"]
    for name in ("server_user_s", "server_system_s"):
        cpu[name] = round(cpu[name] * exact_s / ticks_s, 6) if ticks_s else exact_s / 2
    return found


def _total(parts: Sequence[float | None]) -> float | None:
    """Return the sum of values, None where one is unknown."""
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def sliced_facts(slices: Sequence[Slice], gate: SliceGate, rounds: Rounds) -> dict[str, Any]:
    """Return `sliced` of an arm's record, but for what the whole block knows."""
    return {
        "method": "slices",
        "rounds": len(slices),
        "slice_s": rounds.slice_s,
        "skip_s": rounds.skip_s,
        "open_s": sum(one.open_ns for one in slices) / 1e9,
        "tps_trimmed": trimmed_tps(slices),
        "cpu_tick_s": 1 / usage.TICKS_PER_S,
        "positions": [int(count) for count in gate.positions()],
        "places": [one.place for one in slices],
    }
