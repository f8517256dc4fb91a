"""Records of runs from other people's sysbench logs: only what a log and its path tell, the rest is missing."""

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
from scripts.vocabulary import RUN
from scripts.wording import brief

TEXT_AXES, NUMBER_AXES = ("variant", "workload"), ("clients", "repetition")
PATTERN_KEYS = ("path", "regex", "workload", "reference", "title", "question", "date")
DATE_FORMATS = ("mtime", "first_line")
DEFAULT_PATTERN = """\
# What the paths of sysbench logs say. They are relative to the folder of the logs, and the whole path must match.
# {variant} and {workload} stand for names, {clients} and {repetition} for numbers, * for anything without a slash.
path: "{variant}/{workload}_{clients}_{repetition}.log"
# In place of `path`, for what it cannot say, a regular expression of Python with groups of the same names:
# regex: "(?P<variant>[^/]+)/(?P<workload>oltp_.+)-t(?P<clients>[0-9]+)/run(?P<repetition>[0-9]+)/.*"
# Without {workload}, name it here. Without {clients}, the log's own number of threads counts. Without {repetition},
# a cell has one run.
# workload: oltp_read_write
# The variant the others are compared with:
reference: baseline
# title: What stands above the report
# question: What the measurement was to answer
# When a run was made: mtime (the log was last written at its end, and copied with its times), or first_line (the log
# begins with a date). Unknown when it is not given.
# date: mtime
"""


@dataclass(frozen=True)
class Pattern:
    """A pattern file: the compiled expression, how it is written, and what the user tells of the study."""

    path: re.Pattern[str]
    written: str
    reference: str
    workload: str | None
    title: str | None
    question: str | None
    date: str | None
    text: str

    def parts(self, path: str) -> dict[str, Any] | None:
        """Return variant, workload, clients and repetition of a path; clients is None where it does not tell them.

        None when the path does not match.
        """
        match = self.path.fullmatch(path)
        if not match:
            return None
        said = {"workload": self.workload, "clients": None, "repetition": 1, **match.groupdict()}
        return {**said, **{name: int(said[name]) for name in NUMBER_AXES if said[name] is not None}}


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
    told = {key: given.get(key) for key in ("workload", "title", "question", "date")}
    return Pattern(_compiled(given), written, given.get("reference", "baseline"), text=text, **told)


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
    """Return the regular expression of a template; a part that stands twice must have the same text twice."""
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
    """A file that cannot be taken for the log of one run; the text says why."""


@dataclass(frozen=True)
class Log:
    """One log that could be read: its path below the folder, and the record of its run."""

    file: str
    facts: dict[str, Any]


def read_tree(folder: Path, pattern: Pattern, without: Path | None = None) -> tuple[list[Log], list[tuple[str, str]]]:
    """Return the logs below a folder, and (file, reason) of every file that could not be read; `without` is skipped.

    Two logs of the same run are both not read: nobody can tell which one counts.
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
    """Return the record of the run a log tells of; one in which sysbench failed is a failed run.

    Raises NotRead when the path does not match, when the text is not that of one call of sysbench, when sysbench
    refused its command line, or when path and log differ in the number of clients.
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
    # `not_measured` is left out: nothing was, and the report says so once.
    return {**facts, "warnings": list(_warnings(facts)) if result["outcome"] == "ok" else []}


def _place(file: str, pattern: Pattern) -> dict[str, Any]:
    place = pattern.parts(file)
    if place is None:
        raise NotRead(f"its path does not match {pattern.written}")
    for name in TEXT_AXES:
        if not place[name] or "/" in place[name]:
            raise NotRead(f"its path gives the {name} {place[name]!r}, expected a name without a slash")
    return place


def _warnings(facts: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for check in warnings.CHECKS:
        yield from check(facts)


def _text(path: Path) -> str:
    content = path.read_bytes()
    if b"\0" in content:
        raise NotRead("it is no text")
    text = content.decode("utf-8", errors="replace").replace("\r\n", "\n")
    if not VERSION.search(text):
        raise NotRead("it has no line in which sysbench 0.5, 1.0 or 1.1 gives its version")
    if (calls := len(STARTED.findall(text))) > 1:
        raise NotRead(f"it holds {calls} calls of sysbench, expected one a file")
    return text


def _clients(said: int | None, text: str) -> int:
    found = THREADS.search(text)
    if not found and said is None:
        raise NotRead("neither its path nor a line `Number of threads:` tells the number of clients")
    if found and said not in (None, int(found[1])):
        raise NotRead(f"its path says {said} clients, the log {found[1]} threads")
    return said if said is not None else int(found[1])


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
    """Return the facts of a whole call, its first second included; percentiles are those it printed, or its histogram.

    Rates are transactions over the time sysbench says it took.
    """
    totals, latency, histogram = output.totals, output.latency, output.histogram
    if not totals.duration_s:
        raise SysbenchFailed("sysbench says that it took no time")
    told = {latency.percentile: latency.percentile_ms}
    printed = {name: told.get(round(100 * share)) for name, share in SHARES.items()}
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
    """Return the interval reports as columns; `p95_ms` is None where another percentile was asked for."""
    reports = output.reports
    return {
        "second": [report.second for report in reports],
        "tps": [report.tps for report in reports],
        "qps": [report.qps for report in reports],
        "p95_ms": [report.percentile_ms if report.percentile == 95 else None for report in reports],
        "errors_per_s": [report.errors_per_s for report in reports],
    }
