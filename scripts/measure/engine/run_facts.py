"""The parts of a run's record that are measured in its window, and the run that failed."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from scripts.lib.failure_reasons import FailureFacts
from scripts.lib.host import usage
from scripts.lib.parts import Part
from scripts.lib.vocabulary import OPERATION_SHARES, CountedBy
from scripts.measure.engine.machine_parts import Memory, Pressure
from scripts.measure.engine.run_parts import (
    CpuFacts,
    Generators,
    HistogramFacts,
    Io,
    Operation,
    Series,
    TimesFacts,
    WindowFacts,
)
from scripts.measure.engine.run_record import FAILED, NOT_MEASURED, Run
from scripts.measure.loadgen.output import Histogram, SysbenchFailed, percentile, read_operations, window
from scripts.measure.loadgen.run_sysbench import FinishedLoad, Moment
from scripts.measure.servers.server import ServerFailed
from scripts.measure.sql.times import totals_s


@dataclass(frozen=True, slots=True)
class Used(Part):
    """The resources that server, load generator and machine used in a window."""

    cpu: CpuFacts = field(default_factory=CpuFacts)
    pressure: Pressure = field(default_factory=Pressure)
    memory: Memory = field(default_factory=Memory)
    io: Io = field(default_factory=Io)


def used_between(before: usage.Sample, after: usage.Sample) -> Used:
    """Return the resources used between two samples."""
    return Used.of(usage.usage_between(before, after))


def failed_run(planned: Run, failure: ServerFailed | SysbenchFailed) -> Run:
    """Return the run that ended by a failure, with the code of its cause and what the server said of it."""
    cause = FailureFacts(failure.cause.code, failure.cause.text)
    return replace(planned, outcome=FAILED, reason=str(failure), failure=cause)


def refused_run(planned: Run, reason: str) -> Run:
    """Return the run that is not measured for a reason."""
    return replace(planned, outcome=FAILED, reason=reason)


def printed_run(run: Run, finished: FinishedLoad, samples: list[tuple[Moment, usage.Sample]]) -> Run:
    """Return a run with its window, which lies between the two sampled per-second reports.

    Percentiles are those of the whole measuring call, from its histogram. Raises SysbenchFailed when a sample is
    missing.
    """
    if len(samples) != 2:
        raise SysbenchFailed(
            f"sysbench printed {len(finished.moments)} per-second reports, expected one for each second: it stopped "
            "early, could not keep up with so many clients, or its script prints into these lines"
        )
    (first, before), (last, after) = samples
    output = finished.output
    if (histogram := output.histogram) is None:
        raise SysbenchFailed("sysbench printed no histogram of its latencies, expected one: each call asks for it")
    stamps_s = [moment.monotonic_s for moment in finished.moments]
    stretch = window(output.reports, stamps_s, first.number - 1, last.number - 1)
    return replace(
        run,
        counted_by=CountedBy.SYSBENCH,
        times=TimesFacts(window_started_at=first.epoch_s, window_ended_at=last.epoch_s),
        window=WindowFacts(
            *(stretch.duration_s, stretch.transactions, stretch.tps, output.latency.mean_ms),
            *percentiles_ms(histogram),
            errors=output.totals.errors,
            reconnects=output.totals.reconnects,
        ),
        series=series(finished),
        generators=generators(finished),
        histogram=HistogramFacts(list(histogram.latency_ms), list(histogram.count)),
        **used_between(before, after).values(),
    )


def percentiles_ms(histogram: Histogram) -> tuple[float, float, float]:
    """Return the latencies of OPERATION_SHARES. Raises ValueError for a histogram without transactions."""
    p50_ms, p95_ms, p99_ms = (percentile(histogram, share) for share in OPERATION_SHARES.values())
    return p50_ms, p95_ms, p99_ms


def operations(text: Path) -> dict[str, Operation]:
    """Return the operations of a load by name, from its output; empty for a script without them."""
    return {name: Operation.of(figures) for name, figures in read_operations(text).items()}


def generators(finished: FinishedLoad) -> Generators:
    """Return the number of sysbench processes and how far their reports lay apart, without values for one process."""
    return Generators(finished.processes, round(finished.apart_s, 3)) if finished.processes > 1 else Generators()


def series(finished: FinishedLoad) -> Series:
    """Return the per-second reports as columns."""
    reports = finished.output.reports
    return Series(
        second=[report.second for report in reports],
        tps=[report.tps for report in reports],
        qps=[report.qps for report in reports],
        p95_ms=[report.percentile_ms for report in reports],
        errors_per_s=[report.errors_per_s for report in reports],
    )


def line(run: Run, number: int, total: int) -> str:
    """Return the line about a run for the user, the one of this `number` among `total` runs to measure."""
    head = f"[run {number} of {total}] {run.variant} {run.workload} {run.clients} clients"
    head += f" repetition {run.repetition}: "
    if run.failed:
        return head + f"FAILED, {(run.reason or '').partition(chr(10))[0]}"
    doubtful = sorted({str(warning.code) for warning in run.warnings} - {NOT_MEASURED})
    return head + _gist(run) + (f" (see {', '.join(doubtful)})" if doubtful else "")


def _gist(run: Run) -> str:
    if run.timed_sql:
        totals = totals_s(run.timed_sql.executions or [])
        return ", ".join(f"{cache} {seconds:.3f} s" for cache, seconds in totals.items())
    return f"{run.window.tps:.0f} TPS, p95 {run.window.p95_ms:.2f} ms"
