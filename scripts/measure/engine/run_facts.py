"""The facts of a run: those planned, and those measured in its window."""

from dataclasses import asdict
from typing import Any

from scripts.build.sources.kinds import RUNNING
from scripts.lib.host import priority, usage
from scripts.lib.host.machine_facts import Host
from scripts.lib.vocabulary import CountedBy
from scripts.measure.engine.run_record import NOT_MEASURED, Run
from scripts.measure.loadgen.output import SysbenchFailed, percentile, window
from scripts.measure.loadgen.run_sysbench import FinishedLoad, Moment
from scripts.measure.sql.times import totals_s

SHARES = {"p50_ms": 0.50, "p95_ms": 0.95, "p99_ms": 0.99}


def planned_facts(setting: Any, machine: Host, identity: dict[str, Any]) -> dict[str, Any]:
    """Return the facts known before anything is started."""
    generator = setting.remote.generator if setting.remote else setting.generator
    names = ("family", "release", "build", "build_id", "sha256")  # a failed build has no program
    return {
        **setting.place,
        "recipe": setting.recipe,
        "server": {"name": identity["server"], **{name: identity.get(name) for name in names}},
        "sysbench": {
            "version": generator.version,
            "path": generator.path,
            "sha256": generator.sha256,
            "text_file": setting.text.name,
        },
        # The host of a server that already runs is unknown; this machine has the load generator only.
        "host": {} if identity.get(RUNNING) else asdict(machine),
        "placement": asdict(setting.cpus),
        "nice": priority.nice(),
    }


def measured(finished: FinishedLoad, samples: list[tuple[Moment, usage.Sample]]) -> dict[str, Any]:
    """Return the facts of the window, which lies between the two sampled per-second reports.

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
    if output.histogram is None:
        raise SysbenchFailed("sysbench printed no histogram of its latencies, expected one: each call asks for it")
    stamps_s = [moment.monotonic_s for moment in finished.moments]
    stretch = window(output.reports, stamps_s, first.number - 1, last.number - 1)
    return {
        "counted_by": CountedBy.SYSBENCH,
        "times": {"window_started_at": first.epoch_s, "window_ended_at": last.epoch_s},
        "window": {
            **asdict(stretch),
            "latency_mean_ms": output.latency.mean_ms,
            **{name: percentile(output.histogram, share) for name, share in SHARES.items()},
            "errors": output.totals.errors,
            "reconnects": output.totals.reconnects,
        },
        "series": series(finished),
        **generators(finished),
        "histogram": asdict(output.histogram),
        **usage.usage_between(before, after),
    }


def generators(finished: FinishedLoad) -> dict[str, dict[str, float]]:
    """Return `generators`, the number of sysbench processes and how far their reports lay apart; empty for one."""
    if finished.processes == 1:
        return {}
    return {"generators": {"processes": finished.processes, "apart_s": round(finished.apart_s, 3)}}


def series(finished: FinishedLoad) -> dict[str, list]:
    """Return the per-second reports as columns."""
    reports = finished.output.reports
    return {
        "second": [report.second for report in reports],
        "tps": [report.tps for report in reports],
        "qps": [report.qps for report in reports],
        "p95_ms": [report.percentile_ms for report in reports],
        "errors_per_s": [report.errors_per_s for report in reports],
    }


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
