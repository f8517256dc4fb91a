"""Counter files of gcc (.gcda), read through gcov-dump, the compiler's own reader of their format."""

import re
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HEADER_BYTES = 16
VALUES = re.compile(r"\s+\d+:((?: -?\d+)*)\s*$")
FUNCTION = re.compile(r"FUNCTION ident=(\d+), lineno_checksum=0x([0-9a-f]+), cfg_checksum=0x([0-9a-f]+)")
# What gcov-dump says of a file that is cut off or not its own; it ends with status 0 all the same.
COMPLAINT = re.compile(r"record size mismatch|current version is|truncated|not a gcov|cannot open|unexpected")
Key = tuple[int, int, int]


@dataclass(frozen=True)
class Counted:
    """A function that ran: its ident, line checksum and control-flow checksum, and the sum of its arc counters."""

    key: Key
    count: int


@dataclass(frozen=True)
class CounterFile:
    """One .gcda file: how many functions have counters, and those of them that ran."""

    name: str
    functions: int
    executed: tuple[Counted, ...]


def read_counters(folder: Path, gcov_dump: str, batch: int = 200) -> list[CounterFile]:
    """Read every .gcda file of a profile, in the order of their names.

    Raises ValueError naming a file that is truncated or that another compiler wrote.
    """
    names = sorted(path.name for path in folder.glob("*.gcda"))
    found = []
    for start in range(0, len(names), batch):
        found += _read(folder, gcov_dump, names[start : start + batch])
    return found


def _read(folder: Path, gcov_dump: str, names: list[str]) -> list[CounterFile]:
    functions: dict[str, int] = dict.fromkeys(names, 0)
    executed: dict[str, list[Counted]] = {name: [] for name in names}
    for name, key, count in _counted(folder, gcov_dump, names):
        functions[name] += 1
        if count:
            executed[name].append(Counted(key, count))
    for name in names:
        if not functions[name] or not is_whole((folder / name).read_bytes()):
            raise ValueError(f"{folder / name}: the counters are cut off; train again")
    return [CounterFile(name, functions[name], tuple(executed[name])) for name in names]


def _counted(folder: Path, gcov_dump: str, names: list[str]) -> Iterator[tuple[str, Key, int]]:
    """Yield file name, key and sum of arc counters of every function that has arc counters."""
    name, key, count, arcs = "", (0, 0, 0), 0, False
    for line in _dumped(folder, gcov_dump, names):
        file, _, told = line.partition(".gcda:")
        if values := VALUES.match(told):
            count += sum(map(int, values[1].split())) if arcs else 0
            continue
        if arcs:
            yield name, key, count
        count, arcs = 0, ":COUNTERS arcs" in told
        if match := FUNCTION.search(told):
            name, key = f"{file}.gcda", (int(match[1]), int(match[2], 16), int(match[3], 16))
        elif COMPLAINT.search(told):
            raise ValueError(f"{folder}/{file}.gcda: {told.strip()}; the counters are damaged or of another compiler")
    if arcs:
        yield name, key, count


def _dumped(folder: Path, gcov_dump: str, names: list[str]) -> Iterator[str]:
    """Yield what gcov-dump says, line by line: of a large server it is hundreds of MiB."""
    with tempfile.TemporaryFile() as errors:
        command = [gcov_dump, "-l", *names]
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=errors, text=True) as process:
            yield from process.stdout or ()
        if process.returncode != 0:
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip()[:500]
            raise ValueError(f"{folder}: {gcov_dump} cannot read the counters: {said}")


def is_whole(content: bytes) -> bool:
    """Tell whether the records of a .gcda file fill it up to the zero word at its end (gcov-io.h of gcc 12 and newer).

    gcov-dump does not miss records that were cut off between two of them. A record is tag, length in bytes, content;
    a negative length stands for counters that are all zero and not written.
    """
    position = HEADER_BYTES
    while position + 8 <= len(content):
        _tag, length = struct.unpack_from("=Ii", content, position)
        position += 8 + max(length, 0)
    return position == len(content) - 4 and content[position:] == bytes(4)


def summary(files: list[CounterFile]) -> dict[str, int]:
    """Return counts of files and functions, and of those with a counter above zero."""
    return {
        "files": len(files),
        "files_nonzero": sum(bool(file.executed) for file in files),
        "functions": sum(file.functions for file in files),
        "functions_nonzero": sum(len(file.executed) for file in files),
    }
