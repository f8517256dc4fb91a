"""Records of runs from sysbench logs: only the facts that a log and its path contain; all others are missing."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from scripts import record
from scripts.config.mistakes import suggestion
from scripts.loadgen.output import VERSION, Output, SysbenchFailed, SysbenchMisused, parse, percentile
from scripts.measure import warnings
from scripts.measure.facts import SHARES
from scripts.measure.record import Run
from scripts.vocabulary import RUN
from scripts.wording import brief

TEXT_AXES, NUMBER_AXES = ("variant", "workload"), ("clients", "repetition")
PATTERN_KEYS = ("path", "regex", "workload", "reference", "title", "question", "date")
DATE_FORMATS = ("mtime", "first_line")
DEFAULT_PATTERN = """\
# How the paths of sysbench logs are read. They are relative to the folder of the logs; the whole path must match.
# {variant} and {workload} stand for names, {clients} and {repetition} for numbers, * for anything without a slash.
path: "{variant}/{workload}_{clients}_{repetition}.log"
# Instead of `path`, a regular expression of Python with groups of the same names:
# regex: "(?P<variant>[^/]+)/(?P<workload>oltp_.+)-t(?P<clients>[0-9]+)/run(?P<repetition>[0-9]+)/.*"
# Without {workload}, name it here. Without {clients}, the number of threads in the log is used. Without {repetition},
# every cell has one run.
# workload: oltp_read_write
# The variant the others are compared with:
reference: baseline
# title: The title of the report
# question: The question that the measurement answers
# The time of a run: mtime (the time of the log's last write, if logs were copied with their times), or first_line (the
# log begins with a date). Without this key it is unknown.
# date: mtime
"""


@dataclass(frozen=True)
class Pattern:
    """A pattern file: the compiled expression, its text, and the keys that describe the study."""

    path: re.Pattern[str]
    written: str
    reference: str
    workload: str | None
    title: str | None
    question: str | None
    date: str | None
    text: str

    def parts(self, path: str) -> dict[str, Any] | None:
        """Return variant, workload, clients (None if not in the path) and repetition of a path.

        Returns None if the path does not match.
        """
        match = self.path.fullmatch(path)
        if not match:
            return None
        parts = {"workload": self.workload, "clients": None, "repetition": 1, **match.groupdict()}
        return {**parts, **{name: int(parts[name]) for name in NUMBER_AXES if parts[name] is not None}}


def read_pattern(file: Path) -> Pattern:
    """Read a pattern file.

    Raises ValueError naming the file and every wrong key with its value and what was expected.
    """
    text = file.read_text(encoding="utf-8")
    try:
        given = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"{file}: not YAML: {error}") from error
    if not isinstance(given, dict):
        raise ValueError(f"{file}: {given!r}, expected keys with values, such as path: and reference:")
    mistakes = [*_pattern_mistakes(given), *_of_expression(given)]
    if mistakes:
        raise ValueError("\n".join(f"{file}: {mistake}" for mistake in mistakes))
    written = given.get("path") or given["regex"]
    described = {key: given.get(key) for key in ("workload", "title", "question", "date")}
    return Pattern(_compiled(given), written, given.get("reference", "baseline"), text=text, **described)


def _pattern_mistakes(given: dict[str, Any]) -> list[str]:
    found = []
    for key, value in given.items():
        if key not in PATTERN_KEYS:
            found.append(f"unknown key {key!r}{suggestion(str(key), PATTERN_KEYS)}")
        elif not isinstance(value, str) or not value:
            found.append(f"{key}: {value!r}, expected a text")
        elif key == "date" and value not in DATE_FORMATS:
            found.append(f"date: {value!r}, expected {' or '.join(DATE_FORMATS)}")
    return found


def _of_expression(given: dict[str, Any]) -> list[str]:
    named = [key for key in ("path", "regex") if isinstance(given.get(key), str)]
    if len(named) != 1:
        return [f"{' and '.join(named) or 'neither path nor regex'}, expected one of path and regex"]
    try:
        groups = set(_compiled(given).groupindex)
    except (ValueError, re.error) as error:
        return [f"{named[0]}: {given[named[0]]!r}: {error}"]
    known = set(TEXT_AXES + NUMBER_AXES)
    lacking = {"variant"} - groups | ({"workload"} - groups if "workload" not in given else set())
    found = [
        f"{named[0]}: part {name!r}, expected {', '.join(TEXT_AXES + NUMBER_AXES)}" for name in sorted(groups - known)
    ]
    return found + [f"{named[0]}: {given[named[0]]!r} has no part {name!r}" for name in sorted(lacking)]


def _compiled(given: dict[str, Any]) -> re.Pattern[str]:
    return re.compile(given["regex"] if "regex" in given else _expression(given["path"]))


def _expression(template: str) -> str:
    """Return the regular expression of a template; a part that occurs twice must match the same text twice."""
    pieces, seen = [], set()
    for piece in re.split(r"(\{\w*\}|\*)", template):
        name = piece[1:-1] if piece.startswith("{") else ""
        if name in seen:
            pieces.append(f"(?P={name})")
        elif name:
            pieces.append(f"(?P<{name}>{'[0-9]+' if name in NUMBER_AXES else '[^/]+?'})")
        else:
            pieces.append("[^/]*" if piece == "*" else re.escape(piece))
        seen |= {name} - {""}
    return "".join(pieces)


UNKNOWN = ("position", "run_number", "storage", "recipe", "host", "placement", "cpu", "pressure", "memory", "io")
UNTIMED = {"started_at": None, "ended_at": None}
STARTED = re.compile(r"^Threads started!$", re.MULTILINE)
THREADS = re.compile(r"^Number of threads: (\d+)$", re.MULTILINE)


class NotRead(ValueError):
    """A file that is not the log of one run; the text gives the reason."""


@dataclass(frozen=True)
class Log:
    """One log that could be read: its path below the folder, and the record of its run."""

    file: str
    facts: dict[str, Any]


def read_tree(folder: Path, pattern: Pattern, without: Path | None = None) -> tuple[list[Log], list[tuple[str, str]]]:
    """Return the logs below a folder except `without`, and (file, reason) of every file that could not be read.

    Two logs of the same run are both rejected, because it is unknown which one counts.
    """
    found: dict[tuple, list[Log]] = defaultdict(list)
    refused = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path != without):
        file = path.relative_to(folder).as_posix()
        try:
            log = Log(file, read_log(path, file, pattern))
        except (NotRead, OSError) as error:
            refused.append((file, brief(str(error))))
        else:
            found[tuple(log.facts[name] for name in RUN)].append(log)
    for key, logs in found.items():
        files = [log.file for log in logs]
        refused += [(file, f"same run {key} as {_others(files, file)}") for file in files if len(files) > 1]
    return [logs[0] for logs in found.values() if len(logs) == 1], sorted(refused)


def _others(files: list[str], file: str) -> str:
    others = [name for name in files if name != file]
    return others[0] + (f" and {len(others) - 1} more" if len(others) > 1 else "")


def read_log(path: Path, file: str, pattern: Pattern) -> dict[str, Any]:
    """Return the record of the run in a log; a run in which sysbench failed has the outcome `failed`.

    Raises NotRead if the path does not match, if the text is not the output of one call of sysbench, if sysbench
    refused its command line, or if path and log differ in the number of clients.
    """
    place = _place(file, pattern)
    text = _text(path)
    place["clients"] = _clients(place["clients"], text)
    times = UNTIMED
    try:
        output = parse(text)
        result = {"outcome": "ok", "reason": None, **measured_run(output)}
        times = _times(path, text, pattern.date, output.totals.duration_s)
    except SysbenchMisused as error:
        raise NotRead(str(error)) from error
    except SysbenchFailed as error:
        result = {"outcome": "failed", "reason": str(error)}
    sysbench = {"version": VERSION.search(text)[1], "path": None, "sha256": None}
    origin = {"file": file, "sha256": record.file_sha256(path)}
    facts = {**place, **dict.fromkeys(UNKNOWN), "sysbench": sysbench, **result, "times": times, "imported": origin}
    # `not_measured` is left out: it holds for every log, and the report states it once.
    return {**facts, "warnings": list(_warnings(Run.of(facts))) if result["outcome"] == "ok" else []}


def _place(file: str, pattern: Pattern) -> dict[str, Any]:
    place = pattern.parts(file)
    if place is None:
        raise NotRead(f"its path does not match {pattern.written}")
    for name in TEXT_AXES:
        if not place[name] or "/" in place[name]:
            raise NotRead(f"its path gives the {name} {place[name]!r}, expected a name without a slash")
    return place


def _warnings(run: Run) -> Iterator[dict[str, Any]]:
    for check in warnings.CHECKS:
        yield from map(asdict, check(run))


def _text(path: Path) -> str:
    content = path.read_bytes()
    if b"\0" in content:
        raise NotRead("it is not text")
    text = content.decode("utf-8", errors="replace").replace("\r\n", "\n")
    if not VERSION.search(text):
        raise NotRead("it has no version line of sysbench 0.5, 1.0 or 1.1")
    if (calls := len(STARTED.findall(text))) > 1:
        raise NotRead(f"it holds {calls} calls of sysbench, expected one per file")
    return text


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
    return {
        "window": {
            "duration_s": totals.duration_s,
            "transactions": totals.transactions,
            "tps": totals.transactions / totals.duration_s,
            "latency_mean_ms": latency.mean_ms,
            **printed,
            **counted,
            "errors": totals.errors,
            "reconnects": totals.reconnects,
        },
        "series": run_series(output),
        "histogram": asdict(histogram) if histogram else None,
    }


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
