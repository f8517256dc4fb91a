"""The calls of sysbench that one text holds, and the record of each: only what the text contains."""

import hashlib
import math
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum

from scripts.commands.import_logs.pattern import LARGEST_NUMBER
from scripts.commands.import_logs.strangers import other_form, stranger
from scripts.commands.import_logs.texts import LogText, NotRead
from scripts.lib.json_record import Json
from scripts.lib.vocabulary import OPERATION_SHARES
from scripts.measure.engine import warnings
from scripts.measure.engine.run_record import Run
from scripts.measure.loadgen.output import VERSION, Output, Report, SysbenchFailed, SysbenchMisused, parse, percentile

STARTED = re.compile(r"^Threads started!$", re.MULTILINE)
THREADS = re.compile(r"^Number of threads: (\d+)$", re.MULTILINE)
TRANSACTIONS = re.compile(r"^ +transactions: +[1-9]", re.MULTILINE)
KEPT_RANKS = {round(100 * share) for share in OPERATION_SHARES.values()}
# What a window counts, and the rate of an interval's line that it is the sum of.
RATES = {"transactions": "tps", "queries": "qps", "errors": "errors_per_s", "reconnects": "reconnects_per_s"}
Window = dict[str, float | None]
SLACK = 1.1  # an interval is a little longer or shorter than its line says


class Note(StrEnum):
    """What was left out of a log that was read, or is special about it."""

    IMPOSSIBLE = "impossible"
    UNREAD_REPORTS = "unread_reports"
    OTHER_FORM = "other_form"
    EVENTS = "events"
    CHECKPOINTS = "checkpoints"
    TARGET_RATE = "target_rate"
    OTHER_PERCENTILE = "other_percentile"


@dataclass(frozen=True)
class LoggedCall:
    """One call of sysbench in a text: its number from 1, how many there are, its release, its text, the line before."""

    number: int
    of: int
    release: str
    text: str
    before: str

    @property
    def sha256(self) -> str:
        """The digest of its text."""
        return hashlib.sha256(self.text.encode("utf-8", "replace")).hexdigest()

    @property
    def clients(self) -> int | None:
        """The number of threads that sysbench printed, None if it printed none."""
        line = THREADS.search(self.text)
        return int(line[1]) if line else None


def calls(log: LogText) -> list[LoggedCall]:
    """Return the calls of `sysbench … run` in a text; calls of prepare or cleanup beside them are left out.

    Raises NotRead saying what the text is if it holds none.
    """
    versions = list(VERSION.finditer(log.text))
    if not versions:
        raise NotRead(stranger(log.text) or "it has no version line of sysbench 0.4.12, 0.5, 1.0 or 1.1")
    ends = [*(version.start() for version in versions[1:]), len(log.text)]
    parts = [
        (version[1], log.text[version.start() : end], _line_before(log, version.start()))
        for version, end in zip(versions, ends, strict=True)
    ]
    others = [stranger(text) for _, text, _ in parts]
    if all(others):
        raise NotRead(others[0])
    runs = [part for part, other in zip(parts, others, strict=True) if not other]
    return [LoggedCall(number, len(runs), *run) for number, run in enumerate(runs, 1)]


def _line_before(log: LogText, start: int) -> str:
    lines = log.text[:start].split()
    return log.text[:start].rstrip().rpartition("\n")[2] if lines else log.before


@dataclass(frozen=True)
class CallFacts:
    """What a call gives: the parts of the record that describe its run, and notes as code -> text."""

    facts: dict[str, Json]
    notes: dict[str, str]
    duration_s: float | None = None


def read_call(call: LoggedCall, skip_s: float = 0) -> CallFacts:
    """Return what a call of sysbench gives, without its first seconds; one without a result has the outcome `failed`.

    Raises NotRead if sysbench refused its command line, or if the text is no text of sysbench's.
    """
    if (count := len(STARTED.findall(call.text))) > 1:
        raise NotRead(f"it holds {count} calls of sysbench, expected a version line of sysbench before each")
    try:
        output = parse(call.text)
        dropped, reports = _sound_reports(output)
        window = measured_window(output)
        if skip_s:
            window = window_after(skip_s, reports)
            reports = tuple(report for report in reports if report.second > skip_s)
    except SysbenchMisused as error:
        raise NotRead(str(error)) from error
    except SysbenchFailed as error:
        if other := other_form(call.text):
            raise NotRead(f"it {other}") from error
        return CallFacts({"outcome": "failed", "reason": str(error)}, {})
    facts: dict[str, Json]
    facts = {"outcome": "ok", "reason": None, "window": dict[str, Json](window), "series": run_series(reports),
             "histogram": asdict(output.histogram) if output.histogram and not skip_s else None}  # fmt: skip
    return CallFacts(facts, dict(_notes(call.text, output, dropped)), output.totals.duration_s)


def _notes(text: str, output: Output, dropped: list[Report]) -> Iterator[tuple[str, str]]:
    if dropped:
        seconds = ", ".join(f"{report.second:g} s" for report in dropped[:4])
        note = f"{len(dropped)} of {len(output.reports)} intervals impossible, left out: that at {seconds}"
        yield Note.IMPOSSIBLE, note
    if output.unread_reports:
        yield Note.UNREAD_REPORTS, f"{output.unread_reports} lines of intervals are in a form that is not read"
    if not output.reports and (form := other_form(text)):
        yield Note.OTHER_FORM, f"its intervals: {form}; the totals are"
    if not TRANSACTIONS.search(text):
        yield Note.EVENTS, "it prints events, and no transactions"
    if output.summaries > 1:
        yield Note.CHECKPOINTS, f"{output.summaries} summaries, by checkpoints: counts added up, no percentile"
    rank = output.latency.percentile
    if not output.histogram and output.summaries == 1 and rank not in KEPT_RANKS:
        yield Note.OTHER_PERCENTILE, f"percentile {rank}" if rank else "no percentile"
    if output.target_rate:
        yield Note.TARGET_RATE, f"{output.target_rate} per second"


def _sound_reports(output: Output) -> tuple[list[Report], tuple[Report, ...]]:
    """Return (impossible, sound) reports: none can hold more transactions than the whole call."""
    impossible: list[Report] = []
    sound: list[Report] = []
    before = 0.0
    for report in output.reports:
        step_s, before = report.second - before, report.second
        most = SLACK * output.totals.transactions + report.clients
        rates = (report.tps, report.qps, report.percentile_ms, report.errors_per_s, report.reconnects_per_s)
        is_sound = all(_sound(rate) for rate in rates if rate is not None) and report.tps * max(step_s, 0) <= most
        (sound if is_sound else impossible).append(report)
    return impossible, tuple(sound)


def _sound(value: float) -> bool:
    return math.isfinite(value) and abs(value) <= LARGEST_NUMBER


def measured_window(output: Output) -> Window:
    """Return the figures of a whole call, its first second included; percentiles as printed, or from the histogram.

    Rates are transactions over the duration that sysbench printed. Raises SysbenchFailed for a call without a result.
    """
    totals, latency, histogram = output.totals, output.latency, output.histogram
    if not totals.duration_s:
        raise SysbenchFailed("sysbench printed a duration of 0 s")
    if not totals.transactions:
        raise SysbenchFailed(f"0 transactions in {totals.duration_s:g} s")
    by_percentile = {latency.percentile: latency.percentile_ms}
    printed = {name: by_percentile.get(round(100 * share)) for name, share in OPERATION_SHARES.items()}
    counted = {name: percentile(histogram, share) for name, share in OPERATION_SHARES.items()} if histogram else {}
    window = {
        "duration_s": totals.duration_s,
        "transactions": totals.transactions,
        "tps": totals.transactions / totals.duration_s,
        "latency_mean_ms": latency.mean_ms,
        **printed,
        **counted,
        "errors": totals.errors,
        "reconnects": totals.reconnects,
        "queries": totals.queries,
    }
    for name, value in window.items():
        if value is not None and not _sound(value):
            raise SysbenchFailed(f"sysbench printed impossible totals: {name} {value:g}")
    return window


def window_after(skip_s: float, reports: tuple[Report, ...]) -> Window:
    """Return the figures of the intervals that begin after the first `skip_s` seconds of a call.

    Latencies are unknown: those printed are of the whole call. Raises NotRead where no interval begins so late.
    """
    begins_s = [0.0, *(report.second for report in reports)]
    counted = [(report, report.second - begin_s) for begin_s, report in zip(begins_s, reports, strict=False)
               if begin_s >= skip_s and report.second > begin_s]  # fmt: skip
    if not counted:
        raise NotRead(
            f"skip_s: no line of an interval begins after {skip_s:g} s; sysbench prints them with --report-interval"
        )

    def total(rate: str) -> float | None:
        sums = [None if (value := getattr(report, rate)) is None else value * step_s for report, step_s in counted]
        counted_values = [value for value in sums if value is not None]
        return sum(counted_values) if len(counted_values) == len(sums) else None

    duration_s = sum(step_s for _, step_s in counted)
    counts = {name: None if (value := total(rate)) is None else round(value) for name, rate in RATES.items()}
    tps = sum(report.tps * step_s for report, step_s in counted) / duration_s
    return {"duration_s": duration_s, "tps": tps, **counts, **dict.fromkeys(("latency_mean_ms", *OPERATION_SHARES))}


def run_series(reports: tuple[Report, ...]) -> dict[str, Json]:
    """Return the interval reports as columns; `p95_ms` is None where another percentile was printed."""
    return {
        "second": [report.second for report in reports],
        "tps": [report.tps for report in reports],
        "qps": [report.qps for report in reports],
        "p95_ms": [report.percentile_ms if report.percentile == 95 else None for report in reports],
        "errors_per_s": [report.errors_per_s for report in reports],
    }


def call_warnings(run: Run) -> list[Json]:
    """Return the warnings about a run that went well, without `not_measured`, which holds for every log."""
    return [asdict(warning) for check in warnings.CHECKS for warning in check(run)]
