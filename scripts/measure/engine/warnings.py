"""Warnings about the figures of a run: fixed limits, each with its reason, and the runs beyond them."""

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from scripts.lib.vocabulary import TURNS
from scripts.lib.wording import plural
from scripts.measure.engine.run_parts import RunWarning
from scripts.measure.engine.run_record import NOT_MEASURED, Run

POINTS = (5, 120)
# The standard deviation of a normal distribution over its median absolute deviation.
MAD_TO_DEVIATION = 1.4826


def drift(tps: Sequence[float]) -> tuple[float | None, float]:
    """Return (change from first to last value, its standard error), both as shares of the median.

    The change is the Theil-Sen slope (median of all pairwise slopes) times the length; its error is that of a least
    squares slope with the residuals' median absolute deviation as noise. (None, 0) with under five values.
    """
    values = _thinned(tps, POINTS[1])
    middle = statistics.median(values) if values else 0.0
    if len(values) < POINTS[0] or middle <= 0:
        return None, 0.0
    slope = statistics.median((b - a) / (j - i) for (i, a), (j, b) in combinations(enumerate(values), 2))
    residuals = [value - slope * i for i, value in enumerate(values)]
    centre = statistics.median(residuals)
    noise = MAD_TO_DEVIATION * statistics.median(abs(residual - centre) for residual in residuals)
    return slope * (len(values) - 1) / middle, noise / middle * (12 / len(values)) ** 0.5


def drift_is_judged(tps: Sequence[float]) -> bool:
    """Return whether the per-second reports of a call show if its throughput drifted: the first is not counted."""
    return drift(tps[1:])[0] is not None


def _thinned(values: Sequence[float], most: int) -> list[float]:
    step = -(-len(values) // most) if values else 1
    return [statistics.fmean(values[i : i + step]) for i in range(0, len(values), step)]


@dataclass(frozen=True)
class WarningLimit:
    """A limit: a value beyond `threshold` gives a warning with the `reason`, its effect on figures, and a `remedy`.

    Without a `unit`, a threshold under 1 is a share.
    """

    threshold: float | str
    reason: str
    remedy: str = ""
    unit: str = ""


THRESHOLDS = {
    "steal": WarningLimit(
        0.02, "the hypervisor gave the time to somebody else: throughput falls by the same share",
        "use a machine of its own, or more repetitions",
    ),
    "others": WarningLimit(
        0.05, "other programs or threads of the kernel ran: they take CPU time and caches from server and sysbench, "
        "and can make a difference between servers smaller",
        "stop other programs and services",
    ),
    "iowait": WarningLimit(
        0.10, "CPUs idled while a disk worked: the disk is part of what was measured",
        "enlarge the server's cache, or take a faster storage",
    ),
    "swap": WarningLimit(
        0.0, "memory was swapped out: an access to it takes as long as a disk does",
        "take less memory for the server, or turn swap off",
        unit="MiB",
    ),
    "oom_kills": WarningLimit(
        0, "the kernel killed programs for lack of memory: caches were emptied, the server may have lost processes",
        "take less memory for the server, or give the machine or its cgroup more",
        unit="processes",
    ),
    "governor": WarningLimit(
        "performance", "the clock rate follows the load, so two runs need not have the same one",
        "set the governor to performance",
    ),
    "client_share": WarningLimit(
        0.5, "the load generator used more CPU time than all else: gains of the server are diluted",
        "give the load generator fewer clients or cheaper statements",
    ),
    "client_full": WarningLimit(
        0.95, "the load generator's CPUs were full: it set the pace, and gains are understated",
        "give it more CPUs by the study's placement",
    ),
    "unsteady": WarningLimit(
        0.10, "throughput drifted within the window: warm-up was too short, or something changed",
        "raise warmup_s and measure_s",
    ),
    "errors": WarningLimit(
        0.01, "transactions were rolled back: they cost CPU time but are not counted as transactions",
        "spread the load over more rows, or read the server's log",
    ),
    "apart": WarningLimit(
        0.5, "what is added up as one second of several sysbench processes was not the same second",
        "give the load generator more CPUs by the study's placement",
    ),
    "clock": WarningLimit(
        0.5, "the machine's clock was set: durations are not affected, but how far apart runs lie is not known",
        "let the clock be slewed, not set, while a study runs",
        unit="s",
    ),
    "reconnects": WarningLimit(
        0.0, "connections broke and were made again: their cost is in the figures",
        "read the server's log",
    ),
}  # fmt: skip
DRIFT_ERRORS = 3.0


def with_warnings(run: Run) -> Run:
    """Return a run with the warnings about it, none for one that failed."""
    return run if run.failed else replace(run, warnings=warnings_of(run))


def warnings_of(run: Run) -> list[RunWarning]:
    """Return the warnings about a run that went well.

    A part that is None is not judged, because unmeasured is not the same as badly measured: it is named by a warning
    of its own, with the code `not_measured` and the list of names as its value.
    """
    raised = [warning for check in CHECKS for warning in check(run)]
    missing = sorted(_missing(run))
    if missing:
        why = "the server already ran, and nothing shows it" if run.running else "this machine does not report it"
        text = f"not measured, because {why}: {', '.join(missing)}"
        raised.append(RunWarning(NOT_MEASURED, text, missing))
    return raised


def _warning(code: str, value: float | str, what: str) -> RunWarning:
    limit = THRESHOLDS[code]
    return RunWarning(code, f"{what}; {limit.reason}", value, limit.threshold)


def _beyond(code: str, value: float, what: str) -> Iterator[RunWarning]:
    threshold = THRESHOLDS[code].threshold
    if not isinstance(threshold, str) and value > threshold:
        yield _warning(code, round(value, 4), what)


def _cpu_time(run: Run) -> Iterator[RunWarning]:
    cpu, duration_s = run.cpu, run.window.duration_s
    if run.running and duration_s:
        yield from _client_full(run, duration_s)
    if not cpu or duration_s is None or cpu.cpus is None:
        return
    # Interrupts are not the time of other programs: a disk raises them for the server's own writes.
    programs_s, client_s = _sum(cpu.host_user_s, cpu.host_system_s), _sum(cpu.client_user_s, cpu.client_system_s)
    server_s, busy_s = _sum(cpu.server_user_s, cpu.server_system_s), _sum(programs_s, cpu.host_irq_s)
    ours_s = _sum(server_s, client_s)
    others_s = None if programs_s is None or ours_s is None else programs_s - ours_s
    for code, seconds, who in (
        ("steal", cpu.host_steal_s, "the hypervisor took"),
        ("others", others_s, "all else took"),
        ("iowait", cpu.host_iowait_s, "waiting for disks took"),
    ):
        if seconds is not None:
            share = seconds / (duration_s * cpu.cpus)
            yield from _beyond(code, share, f"{who} {share:.1%} of the CPU time of the window")
    share = client_s / busy_s if busy_s and client_s is not None else 0.0
    yield from _beyond("client_share", share, f"sysbench used {share:.0%} of the CPU time used")
    yield from _client_full(run, duration_s)


def _sum(*values: float | None) -> float | None:
    """Return the sum of values, None where one is unknown."""
    values_known = [value for value in values if value is not None]
    return sum(values_known) if len(values_known) == len(values) else None


def _client_full(run: Run, duration_s: float) -> Iterator[RunWarning]:
    if run.generator_cpu_s is None or run.n_client_cpus is None:
        return
    share = run.generator_cpu_s / (duration_s * run.n_client_cpus)
    yield from _beyond("client_full", share, f"sysbench used {share:.0%} of its {run.n_client_cpus} CPUs")


def _memory(run: Run) -> Iterator[RunWarning]:
    used_mib, killed = run.memory.swap_used_mib_after or 0, run.memory.oom_kills or 0
    yield from _beyond("swap", used_mib, f"{used_mib:.0f} MiB of swap were in use")
    yield from _beyond("oom_kills", killed, f"{plural(killed, 'process', 'processes')} killed for lack of memory")


def _governor(run: Run) -> Iterator[RunWarning]:
    governor = run.host.governor
    if governor not in (None, THRESHOLDS["governor"].threshold):
        yield _warning("governor", governor, f"the CPU frequency governor was {governor}")


def _sysbench(run: Run) -> Iterator[RunWarning]:
    errors, reconnects, transactions = run.window.errors, run.window.reconnects, run.window.transactions
    if errors and transactions is not None:
        share = errors / (errors + transactions)
        yield from _beyond("errors", share, f"{errors} transactions ({share:.1%}) ended in an error")
    if reconnects:
        yield from _beyond("reconnects", reconnects, f"sysbench connected again {reconnects} times")


def _generators(run: Run) -> Iterator[RunWarning]:
    processes, apart_s = run.generators.processes, run.generators.apart_s
    if processes and apart_s is not None:
        what = f"the reports of {processes} sysbench processes lay {apart_s:.0%} of a second apart"
        yield from _beyond("apart", apart_s, what)


def _clock(run: Run) -> Iterator[RunWarning]:
    started_at, ended_at, duration_s = run.times.window_started_at, run.times.window_ended_at, run.window.duration_s
    # Slices of several arms lie between the two moments, so their distance is not the open time.
    if started_at is None or ended_at is None or duration_s is None:
        return
    if run.sliced.method in (None, TURNS):
        moved_s = ended_at - started_at - duration_s
        what = f"the clock moved by {moved_s:+.1f} s against the window of {duration_s:.1f} s"
        yield from _beyond("clock", abs(moved_s), what)


def _steadiness(run: Run) -> Iterator[RunWarning]:
    moved: float | None
    if run.sliced.drift is not None and run.sliced.drift_error is not None:
        # A change that all arms of a block share leaves their ratios as they are.
        moved, error, against = run.sliced.drift, run.sliced.drift_error, " beside the other servers of its block"
    else:
        # The first second holds the start of the threads, and is not in the window either.
        (moved, error), against = drift((run.series.tps or [])[1:]), ""
    if moved is not None and abs(moved) > DRIFT_ERRORS * error:
        for warning in _beyond("unsteady", abs(moved), f"throughput moved by {moved:+.0%} from start to end{against}"):
            yield replace(warning, value=round(moved, 4))


def _missing(run: Run) -> Iterator[str]:
    for name, part in {"cpu": run.cpu, "pressure": run.pressure, "memory": run.memory, "io": run.io}.items():
        unknown = [f"{name}.{key}" for key, value in part.values().items() if value is None]
        yield from unknown if part else [name]


CHECKS: tuple[Callable[[Run], Iterator[RunWarning]], ...] = (
    _cpu_time,
    _memory,
    _governor,
    _sysbench,
    _generators,
    _clock,
    _steadiness,
)
