"""Records of runs from the files below a folder: what stands in a log and its path, and nothing else."""

import hashlib
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar

import pandas as pd

from scripts.commands.import_logs.calls import CallFacts, LoggedCall, call_warnings, calls, read_call
from scripts.commands.import_logs.contents import LogContent, contents
from scripts.commands.import_logs.log_files import files_below
from scripts.commands.import_logs.pattern import LeftOut, Parts, Pattern, TooSlow, natural_key
from scripts.commands.import_logs.strangers import stranger
from scripts.commands.import_logs.texts import TROUBLES, NotRead, log_text, reason_of
from scripts.lib.host.parallel import in_batches
from scripts.lib.json_record import Json
from scripts.lib.wording import number, plural
from scripts.measure.engine.run_record import Run
from scripts.measure.loadgen.output import VERSION

T = TypeVar("T")
UNKNOWN = ("position", "run_number", "storage", "recipe", "host", "placement", "cpu", "pressure", "memory", "io")
UNTIMED: dict[str, Json] = {"started_at": None, "ended_at": None}
# Calls of one file and repetition are told apart below its number.
MOST_CALLS = 1000


@dataclass(frozen=True)
class Source:
    """Where a run was read: the file below the folder, the content of it, and the number of the call in that."""

    file: str
    content: str
    call: int


@dataclass(frozen=True)
class Log:
    """One run that could be read: how its log is named, the levels of its further axes, its record, and notes by code.

    `repetition` of the record is None where the path has none.
    """

    file: str
    facts: dict[str, Json]
    axes: dict[str, str]
    source: Source
    notes: dict[str, str]
    sha256: str

    @cached_property
    def run(self) -> Run:
        """The run that the record describes."""
        return Run.of(self.facts)


@dataclass(frozen=True)
class RefusedFile:
    """One file that gave no log: its path below the folder, the reason, and whether the pattern leaves it out.

    `unplaced` is output of sysbench whose path does not match.
    """

    file: str
    reason: str
    left_out: bool = False
    slow: bool = False
    unplaced: bool = False


@dataclass(frozen=True)
class Seen:
    """The names in a path that matches: levels of its parts as written, and the path."""

    levels: tuple[tuple[str, str], ...]


@dataclass
class Tree:
    """What a folder holds: the logs, (file, reason) of files that could not be read, and of those left out.

    `levels` holds the names of each part of the paths that match, and all paths as `path`; `unplaced` the names of the
    unread that are output of sysbench under a path that does not match.
    """

    logs: list[Log] = field(default_factory=list)
    unread: list[tuple[str, str]] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    unplaced: list[str] = field(default_factory=list)
    levels: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


MOST_SLOW = 5
PROGRESS_S = 5.0


def read_tree(
    folder: Path, pattern: Pattern, without: Path | None = None, say: Callable[[str], None] = lambda _: None
) -> Tree:
    """Return the logs below a folder except `without`; every other entry stands among the unread or left out.

    Two logs of the same run are both rejected, because it is unknown which one counts, unless they are copies.
    `say` gets a line of progress every few seconds. Raises ValueError when the expression is too slow for many paths,
    and when a name of the pattern file matches nothing.
    """
    below, tree = files_below(folder), Tree()
    tree.unread += below.refused
    excepted = without and without.resolve()
    files = [name for name in below.files if not (excepted and (folder / name).resolve() == excepted)]
    read = in_batches(partial(_read_files, folder, pattern), files)
    logs_of_run = _sorted_out(tree, _with_progress(read, len(files), say), pattern)
    if mistakes := list(pattern.unmatched(tree.levels)):
        raise ValueError("\n".join(mistakes))
    for logs in logs_of_run.values():
        _settle(logs, tree)
    tree.unread.sort(key=lambda refusal: natural_key(refusal[0]))
    return tree


Outcome = Log | RefusedFile | Seen
RunKey = tuple[str, str, int, int]  # variant, workload, clients, repetition


def _sorted_out(tree: Tree, outcomes: Iterable[list[Outcome]], pattern: Pattern) -> dict[RunKey, list[Log]]:
    """Put what was read into the tree, and return the logs by run. Raises ValueError for a slow expression."""
    logs_of_run: dict[RunKey, list[Log]] = defaultdict(list)
    slow = 0
    for outcome in (outcome for of_file in outcomes for outcome in of_file):
        match outcome:
            case Log():
                logs_of_run[outcome.run.key].append(outcome)
            case Seen():
                for part, level in outcome.levels:
                    tree.levels[part].add(level)
            case RefusedFile():
                (tree.left_out if outcome.left_out else tree.unread).append((outcome.file, outcome.reason))
                tree.unplaced += [outcome.file] if outcome.unplaced else []
                slow += outcome.slow
                if slow >= MOST_SLOW:
                    raise ValueError(
                        f"{pattern.written}: {outcome.reason}, and for {slow - 1} others; write it simpler"
                    )
    return logs_of_run


def _read_files(folder: Path, pattern: Pattern, files: Sequence[str]) -> list[list[Outcome]]:
    """Return what each file gave. After MOST_SLOW slow paths the rest is left out: the caller gives up there."""
    outcomes: list[list[Outcome]] = []
    slow = 0
    for file in files:
        outcomes.append(list(_read_file(folder, file, pattern)))
        slow += sum(isinstance(outcome, RefusedFile) and outcome.slow for outcome in outcomes[-1])
        if slow >= MOST_SLOW:
            break
    return outcomes


def _read_file(folder: Path, file: str, pattern: Pattern) -> Iterator[Outcome]:
    """Yield what the contents of a file give; an error of one content leaves the others."""
    try:
        with (folder / file).open("rb") as stream:
            for content in contents(stream, file):
                yield from _read_content(folder, file, content, pattern)
    except TROUBLES as error:
        yield RefusedFile(file, reason_of(error))


def _read_content(folder: Path, file: str, content: LogContent, pattern: Pattern) -> Iterator[Outcome]:
    try:
        yield Seen((("path", content.name),))
        if content.refused:
            raise NotRead(content.refused)
        parts = pattern.parts(*content.paths)
        if parts is None:
            pattern.choose((content.name, *content.paths), {})
            yield _unplaced(content)
            return
        yield Seen((*((name, text) for name, text in parts.items() if text), *_written(pattern, parts)))
        pattern.choose((content.name, *content.paths), parts)
        yield from read_content(folder / file, file, content, pattern, parts)
    except LeftOut as error:
        yield RefusedFile(content.name, str(error), left_out=True)
    except TROUBLES as error:
        yield RefusedFile(content.name, reason_of(error), slow=isinstance(error, TooSlow))


def _unplaced(content: LogContent) -> RefusedFile:
    try:
        text = log_text(content.head()).text
        kind = stranger(text)
    except NotRead as error:
        text, kind = "", str(error)
    reason = f"its path does not match the pattern{f'; {kind}' if kind else ''}"
    return RefusedFile(content.name, reason, unplaced=not kind and VERSION.search(text) is not None)


def _written(pattern: Pattern, parts: Parts) -> Iterator[tuple[str, str]]:
    """Yield the names that are put together from the parts, before they are renamed."""
    try:
        yield from pattern.place(parts).written.items()
    except ValueError:
        return  # `place` is asked again for the log itself, which is then refused with the reason


def _with_progress(outcomes: Iterable[T], of: int, say: Callable[[str], None]) -> Iterator[T]:
    last = time.monotonic()
    for done, outcome in enumerate(outcomes):
        if time.monotonic() - last > PROGRESS_S:
            last = time.monotonic()
            say(f"[import] {number(done)} of {plural(of, 'file')} read")
        yield outcome


def _settle(logs: list[Log], tree: Tree) -> None:
    """Add the logs of one run: the one, or none where several differ."""
    first, *others = logs
    if all(log.sha256 == first.sha256 for log in others):
        tree.logs.append(first)
        tree.unread += [(log.file, f"the same content as {first.file}, which is read") for log in others]
        return
    for log in logs:
        other = next(rival for rival in logs if rival is not log)
        more = f" and {len(logs) - 2} more" if len(logs) > 2 else ""
        tree.unread.append((log.file, f"same run ({run_name(*log.run.key)}) as {other.file}{more}{_hint(log, other)}"))


def run_name(variant: str, workload: str, clients: int, repetition: int) -> str:
    """Return the name of a run in words."""
    return f"{variant}, {workload}, {plural(clients, 'client')}, repetition {repetition}"


def _hint(log: Log, other: Log) -> str:
    pairs = zip(log.file.split("/"), other.file.split("/"), strict=False)
    pieces = next(((first, second) for first, second in pairs if first != second), None)
    return f"; the pattern reads no difference between {pieces[0]!r} and {pieces[1]!r}" if pieces else ""


def read_content(path: Path, file: str, content: LogContent, pattern: Pattern, parts: Parts) -> list[Outcome]:
    """Return what the calls of sysbench in one content give; a run in which sysbench failed has the outcome `failed`.

    Raises NotRead if the content is not the output of sysbench, BadName as `Pattern.place`.
    """
    named_run = pattern.place(parts)
    used: dict[int, int] = defaultdict(int)
    outcomes: list[Outcome] = []
    data = content.read()
    for call in calls(log_text(data)):
        name = content.name if call.of == 1 else f"{content.name}, call {call.number} of {call.of}"
        try:
            clients = _clients(named_run.clients, call)
            reading = read_call(call, pattern.skip_s)
        except NotRead as error:
            outcomes.append(RefusedFile(name, str(error)))
            continue
        used[clients] += 1
        run: dict[str, Json]
        run = {"variant": named_run.variant, "workload": named_run.workload, "clients": clients,
               "repetition": _repetition(named_run.repetition, used[clients])}  # fmt: skip
        sha256 = hashlib.sha256(data).hexdigest() if call.of == 1 else call.sha256
        times = _times(path if content.name == file else None, call, pattern.date, reading.duration_s)
        origin: dict[str, Json] = {"times": times, "imported": {"file": name, "sha256": sha256}}
        facts = {**run, **_record(call, reading), **origin}
        source = Source(file, content.name, call.number)
        outcomes.append(Log(name, facts, named_run.axes, source, reading.notes, sha256))
    return outcomes


def _record(call: LoggedCall, reading: CallFacts) -> dict[str, Json]:
    """Return what a record has of a call itself, with the warnings about it."""
    sysbench: Json = {"version": call.release, "path": None, "sha256": None}
    facts = {**dict.fromkeys(UNKNOWN), "sysbench": sysbench, **reading.facts}
    return {**facts, "warnings": call_warnings(Run.of(facts)) if facts["outcome"] == "ok" else []}


def _repetition(in_path: int | None, nth: int) -> int:
    """Return the number of a repetition, of several calls of one file and client count in their order."""
    if in_path is None or nth == 1:
        return nth if in_path is None else in_path
    return in_path * MOST_CALLS + nth


def _clients(in_path: int | None, call: LoggedCall) -> int:
    in_log = call.clients
    if in_log is not None and in_path not in (None, in_log):
        raise NotRead(f"its path has {in_path} clients, the log {in_log} threads")
    if in_path is not None:
        return in_path
    if in_log is None:
        raise NotRead("neither its path nor a line `Number of threads:` has the number of clients")
    return in_log


def _times(path: Path | None, call: LoggedCall, source: str | None, duration_s: float | None) -> dict[str, Json]:
    if duration_s is None:
        return UNTIMED
    match source:
        case "mtime" if path and call.number == call.of:
            ended_at = path.stat().st_mtime
            return {"started_at": ended_at - duration_s, "ended_at": ended_at}
        case "first_line":
            started_at = _date(call.before)
            return {"started_at": started_at, "ended_at": started_at and started_at + duration_s}
    return UNTIMED


def _date(line: str) -> float | None:
    try:
        date = pd.Timestamp(line.strip()) if re.search(r"\d{4}", line) else None
    except ValueError:
        return None
    return date.timestamp() if date is not None and not pd.isna(date) else None


def written_texts(folder: Path, file: str, labels: dict[Source, T]) -> Iterator[tuple[T, bytes]]:
    """Yield (label, bytes) per source of one file: a whole content, or the text of one of its calls."""
    with (folder / file).open("rb") as stream:
        for content in contents(stream, file):
            of_content = {source.call: what for source, what in labels.items() if source.content == content.name}
            if not of_content:
                continue
            data = content.read()
            file_calls = calls(log_text(data))
            for call in file_calls:
                if call.number in of_content:
                    yield of_content[call.number], data if call.of == 1 else call.text.encode("utf-8", "replace")
