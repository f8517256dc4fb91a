"""Records of runs from sysbench logs: only the facts that a log and its path contain; all others are missing."""

import gzip
import math
import re
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from scripts import record
from scripts.commands.import_logs.files import files_below
from scripts.commands.import_logs.pattern import LARGEST_NUMBER, LeftOut, Pattern, Place, TooSlow, natural_key
from scripts.host.pool import in_batches
from scripts.loadgen.output import VERSION, Output, SysbenchFailed, SysbenchMisused, parse, percentile
from scripts.measure import warnings
from scripts.measure.facts import SHARES
from scripts.measure.record import Run
from scripts.vocabulary import RUN
from scripts.wording import brief, number, plural

T = TypeVar("T")
UNKNOWN = ("position", "run_number", "storage", "recipe", "host", "placement", "cpu", "pressure", "memory", "io")
UNTIMED = {"started_at": None, "ended_at": None}
STARTED = re.compile(r"^Threads started!$", re.MULTILINE)
PREFIXED = re.compile(r"^.+\bsysbench \d+\.\d+\S* \(using", re.MULTILINE)
THREADS = re.compile(r"^Number of threads: (\d+)$", re.MULTILINE)


class NotRead(ValueError):
    """A file that is not the log of one run; the text gives the reason."""


@dataclass(frozen=True)
class Log:
    """One log that could be read: its path below the folder, the levels of its further axes, the record of its run."""

    file: str
    facts: dict[str, Any]
    axes: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Refused:
    """One file that gave no log: its path below the folder, the reason, and whether the pattern leaves it out."""

    file: str
    reason: str
    left_out: bool = False
    slow: bool = False


@dataclass
class Tree:
    """What a folder holds: the logs, (file, reason) of files that could not be read, and of those left out."""

    logs: list[Log] = field(default_factory=list)
    unread: list[tuple[str, str]] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)


MOST_SLOW = 5
PROGRESS_S = 5.0
LARGEST_LOG_BYTES = 256 * 2**20
# What a damaged or strange file can cause; the reason names it, and the other files are read.
TROUBLES = (ValueError, OSError, EOFError, ArithmeticError, LookupError, zlib.error)


def read_tree(
    folder: Path, pattern: Pattern, without: Path | None = None, say: Callable[[str], None] = lambda _: None
) -> Tree:
    """Return the logs below a folder except `without`; every other entry stands among the unread or left out.

    Two logs of the same run are both rejected, because it is unknown which one counts, unless they are copies.
    `say` gets a line of progress every few seconds. Raises ValueError when the expression is too slow for many paths.
    """
    below, tree = files_below(folder), Tree()
    tree.unread += below.refused
    found: dict[tuple, list[Log]] = defaultdict(list)
    excepted = without and without.resolve()
    files = [name for name in below.files if not (excepted and (folder / name).resolve() == excepted)]
    slow = 0
    for outcome in _with_progress(in_batches(partial(_read_logs, folder, pattern), files), len(files), say):
        if isinstance(outcome, Log):
            found[tuple(outcome.facts[name] for name in RUN)].append(outcome)
            continue
        (tree.left_out if outcome.left_out else tree.unread).append((outcome.file, outcome.reason))
        slow += outcome.slow
        if slow >= MOST_SLOW:
            raise ValueError(f"{pattern.written}: {outcome.reason}, and for {slow - 1} others; write it simpler")
    for logs in found.values():
        _settle(logs, tree)
    tree.unread.sort(key=lambda each: natural_key(each[0]))
    return tree


def _read_logs(folder: Path, pattern: Pattern, files: Sequence[str]) -> list[Log | Refused]:
    """Return what each file gave. After MOST_SLOW slow paths the rest is left out: the caller gives up there."""
    outcomes: list[Log | Refused] = []
    slow = 0
    for file in files:
        try:
            outcomes.append(read_log(folder / file, file, pattern))
        except LeftOut as error:
            outcomes.append(Refused(file, str(error), left_out=True))
        except TROUBLES as error:
            outcomes.append(Refused(file, _reason(error), slow=isinstance(error, TooSlow)))
            slow += outcomes[-1].slow
        if slow >= MOST_SLOW:
            break
    return outcomes


def _with_progress(outcomes: Iterable[T], of: int, say: Callable[[str], None]) -> Iterator[T]:
    last = time.monotonic()
    for place, outcome in enumerate(outcomes):
        if time.monotonic() - last > PROGRESS_S:
            last = time.monotonic()
            say(f"[import] {number(place)} of {plural(of, 'file')} read")
        yield outcome


def _reason(error: BaseException) -> str:
    return brief(error.strerror if isinstance(error, OSError) and error.strerror else str(error) or repr(error))


def _settle(logs: list[Log], tree: Tree) -> None:
    """Add the logs of one run: the one, or none where several differ."""
    first, *others = logs
    if all(log.facts["imported"]["sha256"] == first.facts["imported"]["sha256"] for log in others):
        tree.logs.append(first)
        tree.unread += [(log.file, f"the same content as {first.file}, which is read") for log in others]
        return
    for log in logs:
        other = next(each for each in logs if each is not log)
        more = f" and {len(logs) - 2} more" if len(logs) > 2 else ""
        tree.unread.append((log.file, f"same run ({run_name(log.facts)}) as {other.file}{more}{_hint(log, other)}"))


def run_name(facts: dict[str, Any]) -> str:
    """Return the name of a run in words."""
    clients = plural(facts["clients"], "client")
    return f"{facts['variant']}, {facts['workload']}, {clients}, repetition {facts['repetition']}"


def _hint(log: Log, other: Log) -> str:
    pairs = zip(log.file.split("/"), other.file.split("/"), strict=False)
    pieces = next(((one, two) for one, two in pairs if one != two), None)
    return f"; the pattern reads no difference between {pieces[0]!r} and {pieces[1]!r}" if pieces else ""


def read_log(path: Path, file: str, pattern: Pattern) -> Log:
    """Return the log with the record of its run; a run in which sysbench failed has the outcome `failed`.

    Raises NotRead if the path does not match, if the text is not the output of one call of sysbench, if sysbench
    refused its command line, or if path and log differ in the number of clients; LeftOut, BadName and TooSlow as
    `Pattern.place`.
    """
    place = _place(file, pattern)
    text = log_text(path)
    _accept(text)
    clients = _clients(place.clients, text)
    times = UNTIMED
    try:
        output = parse(text)
        result = {"outcome": "ok", "reason": None, **measured_run(output)}
        times = _times(path, text, pattern.date, output.totals.duration_s)
    except SysbenchMisused as error:
        raise NotRead(str(error)) from error
    except SysbenchFailed as error:
        result = {"outcome": "failed", "reason": str(error)}
    run = {"variant": place.variant, "workload": place.workload, "clients": clients, "repetition": place.repetition}
    sysbench = {"version": VERSION.search(text)[1], "path": None, "sha256": None}
    origin = {"file": file, "sha256": record.file_sha256(path)}
    facts = {**run, **dict.fromkeys(UNKNOWN), "sysbench": sysbench, **result, "times": times, "imported": origin}
    # `not_measured` is left out: it holds for every log, and the report states it once.
    found = list(_warnings(Run.of(facts))) if result["outcome"] == "ok" else []
    return Log(file, {**facts, "warnings": found}, place.axes)


def _place(file: str, pattern: Pattern) -> Place:
    place = pattern.place(file)
    if place is None and file.endswith(".gz"):
        place = pattern.place(file.removesuffix(".gz"))
    if place is None:
        raise NotRead("its path does not match the pattern")
    return place


def _warnings(run: Run) -> Iterator[dict[str, Any]]:
    for check in warnings.CHECKS:
        yield from map(asdict, check(run))


def unpacked(path: Path) -> bytes:
    """Return the content of a log, unpacked if its name ends in .gz.

    Raises NotRead if it is larger than LARGEST_LOG_BYTES.
    """
    with gzip.open(path) if path.name.endswith(".gz") else path.open("rb") as stream:
        content = stream.read(LARGEST_LOG_BYTES + 1)
    if len(content) > LARGEST_LOG_BYTES:
        raise NotRead(f"it is larger than {LARGEST_LOG_BYTES // 2**20} MiB")
    return content


def log_text(path: Path) -> str:
    """Return the text of a log, without blanks at the ends of its lines. Raises NotRead if it is empty or not text."""
    content = unpacked(path)
    if not content.strip():
        raise NotRead("it is empty")
    if b"\0" in content:
        raise NotRead("it is not text")
    text = content.decode("utf-8", errors="replace").replace("\r\n", "\n")
    return "\n".join(map(str.rstrip, text.split("\n")))


def _accept(text: str) -> None:
    if not VERSION.search(text):
        if PREFIXED.search(text):
            raise NotRead("its lines begin with a prefix, such as a time, before those of sysbench; remove it")
        raise NotRead("it has no version line of sysbench 0.5, 1.0 or 1.1")
    if (calls := len(STARTED.findall(text))) > 1:
        raise NotRead(f"it holds {calls} calls of sysbench, expected one per file")


def _clients(in_path: int | None, text: str) -> int:
    found = THREADS.search(text)
    if not found and in_path is None:
        raise NotRead("neither its path nor a line `Number of threads:` has the number of clients")
    if found and in_path not in (None, int(found[1])):
        raise NotRead(f"its path has {in_path} clients, the log {found[1]} threads")
    return in_path if in_path is not None else int(found[1])


def _times(path: Path, text: str, source: str | None, duration_s: float) -> dict[str, float | None]:
    match source:
        case "mtime":
            ended_at = path.stat().st_mtime
            return {"started_at": ended_at - duration_s, "ended_at": ended_at}
        case "first_line":
            started_at = _date(text.partition("\n")[0])
            return {"started_at": started_at, "ended_at": started_at and started_at + duration_s}
    return UNTIMED


def _date(line: str) -> float | None:
    try:
        found = pd.Timestamp(line.strip()) if re.search(r"\d{4}", line) else None
    except ValueError:
        return None
    return found.timestamp() if found is not None and not pd.isna(found) else None


def measured_run(output: Output) -> dict[str, Any]:
    """Return the facts of a whole call, its first second included; percentiles as printed, or from the histogram.

    Rates are transactions over the duration that sysbench printed.
    """
    totals, latency, histogram = output.totals, output.latency, output.histogram
    if not totals.duration_s:
        raise SysbenchFailed("sysbench printed a duration of 0 s")
    known = {latency.percentile: latency.percentile_ms}
    printed = {name: known.get(round(100 * share)) for name, share in SHARES.items()}
    counted = {name: percentile(histogram, share) for name, share in SHARES.items()} if histogram else {}
    window = {
        "duration_s": totals.duration_s,
        "transactions": totals.transactions,
        "tps": totals.transactions / totals.duration_s,
        "latency_mean_ms": latency.mean_ms,
        **printed,
        **counted,
        "errors": totals.errors,
        "reconnects": totals.reconnects,
    }
    series = run_series(output)
    _accept_sizes({**window, **{f"{name} of a second": max(filter(None, column), default=0)
                                for name, column in series.items()}})  # fmt: skip
    buckets = {"latency_ms": list(histogram.latency_ms), "count": list(histogram.count)} if histogram else None
    return {"window": window, "series": series, "histogram": buckets}


def _accept_sizes(values: dict[str, float | None]) -> None:
    for name, value in values.items():
        if value is not None and not (math.isfinite(value) and abs(value) <= LARGEST_NUMBER):
            raise NotRead(f"its {name} is {value:g}, expected at most {LARGEST_NUMBER:g}")


def run_series(output: Output) -> dict[str, list]:
    """Return the interval reports as columns; `p95_ms` is None where another percentile was printed."""
    reports = output.reports
    return {
        "second": [report.second for report in reports],
        "tps": [report.tps for report in reports],
        "qps": [report.qps for report in reports],
        "p95_ms": [report.percentile_ms if report.percentile == 95 else None for report in reports],
        "errors_per_s": [report.errors_per_s for report in reports],
    }
