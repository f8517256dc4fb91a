"""Read counters, variables, engine reports and file sizes of a server around a load."""

import contextlib
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scripts.lib.host.machine_supplies import got_by
from scripts.measure.servers.families import Family

EVERY_S = 1.0
# A server that has just failed under load may never answer.
GIVE_UP_S = 2.0
Counters = dict[str, float]


@dataclass(frozen=True)
class CounterSample:
    """Counters at a moment of the monotonic clock."""

    monotonic_s: float
    counters: Counters


@contextlib.contextmanager
def sampled_counters(read: Callable[[], Counters] | None) -> Iterator[list[CounterSample]]:
    """Call `read` every second in a thread while the body runs; yield the growing list, empty without `read`.

    A second that passes while a `read` is still running has no sample. Raises what `read` raised, unless the body
    raises.
    """
    samples: list[CounterSample] = []
    if read is None:
        yield samples
        return
    over = threading.Event()
    failed: list[Exception] = []
    thread = threading.Thread(target=_sample, args=(read, samples, over, failed), daemon=True)
    thread.start()
    patience_s: float | None = GIVE_UP_S
    try:
        yield samples
        patience_s = None
    finally:
        over.set()
        thread.join(patience_s)
    if failed:
        raise failed[0]


def _sample(
    read: Callable[[], Counters], samples: list[CounterSample], over: threading.Event, failed: list[Exception]
) -> None:
    begin_s = time.monotonic()
    try:
        while not over.wait(EVERY_S - (time.monotonic() - begin_s) % EVERY_S):
            counters = read()
            samples.append(CounterSample(time.monotonic(), counters))
    except Exception as error:  # each driver has its own error classes; raised again after the body
        failed.append(error)


def sample_columns(samples: list[CounterSample], begin_s: float) -> dict[str, list]:
    """Return samples as columns; `second` counts from `begin_s` of the monotonic clock, as the run's `series` does.

    A counter that a sample lacks is None. Empty without samples.
    """
    if not samples:
        return {}
    names = dict.fromkeys(name for sample in samples for name in sample.counters)
    return {
        "second": [round(sample.monotonic_s - begin_s, 3) for sample in samples],
        **{name: [sample.counters.get(name) for sample in samples] for name in names},
    }


@dataclass(frozen=True)
class Edge:
    """A server at one moment: its counters, and its engine's own report, empty for a family without one."""

    counters: dict[str, float]
    report: str


def read_edge(family: Family, connection: Any) -> Edge:
    """Read a server's counters and its engine's report."""
    return Edge(family.counters(connection), family.engine_report(connection))


def edge_facts(before: Edge, after: Edge) -> dict[str, Any]:
    """Return the parts of a run's record with both edges: `counters`, and `engine_report` if the family has one."""
    known = [name for name in before.counters if name in after.counters]
    counters = {name: {"before": before.counters[name], "after": after.counters[name]} for name in known}
    reports = {"before": before.report, "after": after.report}
    return {"counters": counters, **({"engine_report": reports} if any(reports.values()) else {})}


def supply_facts(pid: int) -> dict[str, Any]:
    """Return the part `supplies` of a run's record: what a server has got that others on the machine may lack."""
    return {"supplies": asdict(got_by(pid))}


def variable_facts(family: Family, connection: Any, *private: Path) -> dict[str, dict[str, str]]:
    """Return the server's variables: `own_variables` name one of the run's `private` folders, `variables` do not.

    So `variables` are the same in every run of a variant.
    """
    every = family.variables(connection)
    folders = {str(path) for folder in private for path in (folder, folder.resolve())}
    own = {name: value for name, value in every.items() if any(folder in str(value) for folder in folders)}
    return {"variables": {name: every[name] for name in every if name not in own}, "own_variables": own}


def file_sizes(family: Family, data: Path, connection: Any) -> dict[str, dict[str, Any]]:
    """Return the sizes of a data directory's files per part: its kind, apparent_bytes and allocated_bytes.

    A part is a table with its indexes, named `database.table` or `schema.table`, a partition of one, named
    `database.table#partition`, or all files of a kind, named as the kind. A file that is removed meanwhile is left out.
    """
    found: dict[str, dict[str, Any]] = {}
    named = family.table_files(connection)
    for file, status in _files(data):
        kind, name = file_kind(family, file, named)
        taken = found.setdefault(name, {"kind": kind, "apparent_bytes": 0, "allocated_bytes": 0})
        taken["apparent_bytes"] += status.st_size
        taken["allocated_bytes"] += status.st_blocks * 512
    return dict(sorted(found.items()))


def _files(data: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield (path below `data`, status) of every regular file."""
    for folder, _, names in os.walk(data, onerror=_unless_gone):
        for path in (Path(folder, name) for name in names):
            with contextlib.suppress(FileNotFoundError):
                status = path.lstat()
                if stat.S_ISREG(status.st_mode):
                    yield str(path.relative_to(data)), status


def _unless_gone(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error


def file_kind(family: Family, file: str, named: dict[str, str]) -> tuple[str, str]:
    """Return (kind, part) of a file by its path below the data directory; `named` maps files to their tables."""
    for pattern, kind in family.FILE_KINDS:
        if match := pattern.fullmatch(file):
            if kind != "table":
                return kind, kind
            if name := _table(match.groupdict(), named):
                return kind, name
    return "other", "other"


def _table(found: dict[str, str], named: dict[str, str]) -> str | None:
    if "table" not in found:
        return named.get(found["stem"])
    partition = found.get("partition")
    return f"{found['schema']}.{found['table']}{f'#{partition}' if partition else ''}"
