"""Counters of a profile, and proof that a build used them."""

import posixpath
import re
import struct
import subprocess
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.compile_records import CompilerCall

THRESHOLD = 0.99
HEADER_BYTES = 16
ARCS = re.compile(r":\s+01a10000:\s+-?\d+:COUNTERS arcs (\d+) counts( \(all zero\))?")
# What gcov-dump says of a file that is cut off or not its own; it ends with status 0 all the same.
COMPLAINT = re.compile(r"record size mismatch|current version is|truncated|not a gcov|cannot open|unexpected")
FILE_MISSING = re.compile(r"profile count data file not found")
FUNCTION_MISSING = re.compile(r"profile for function '.*?' not found in profile data")
MISMATCH = re.compile(r"\[-Wcoverage-mismatch\]|coverage mismatch")


@dataclass(frozen=True)
class CounterFile:
    """One .gcda file: functions with counters, and those of them that ran."""

    name: str
    functions: int
    functions_nonzero: int


def read_counters(folder: Path, gcov_dump: str, batch: int = 200) -> list[CounterFile]:
    """Read every .gcda file of a profile through gcov-dump, the compiler's own reader of its format.

    Raises ValueError naming a file that is truncated or that another compiler wrote.
    """
    files = sorted(folder.glob("*.gcda"))
    found = []
    for start in range(0, len(files), batch):
        chosen = files[start : start + batch]
        answer = subprocess.run([gcov_dump, "-l", *map(str, chosen)], capture_output=True, text=True, check=False)
        if answer.returncode != 0:
            raise ValueError(f"{folder}: {gcov_dump} cannot read the counters: {answer.stderr.strip()[:500]}")
        found += _parse(answer.stdout, chosen)
    return found


def _parse(text: str, files: list[Path]) -> list[CounterFile]:
    functions: Counter[str] = Counter()
    nonzero: Counter[str] = Counter()
    for line in text.splitlines():
        file, _, told = line.partition(".gcda:")
        if COMPLAINT.search(told):
            raise ValueError(f"{file}.gcda: {told.strip()}; the counters are damaged or of another compiler")
        if match := ARCS.search(line):
            functions[f"{file}.gcda"] += 1
            nonzero[f"{file}.gcda"] += match.group(2) is None
    for path in files:
        if not functions[str(path)] or not is_whole(path.read_bytes()):
            raise ValueError(f"{path}: the counters are cut off; train again")
    return [CounterFile(path.name, functions[str(path)], nonzero[str(path)]) for path in files]


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


def summary(counters: list[CounterFile]) -> dict[str, int]:
    """Return counts of files and functions, and of those with a counter above zero."""
    return {
        "files": len(counters),
        "files_nonzero": sum(file.functions_nonzero > 0 for file in counters),
        "functions": sum(file.functions for file in counters),
        "functions_nonzero": sum(file.functions_nonzero for file in counters),
    }


def counter_name(unit: str) -> str:
    """Return the name gcc gives the counter file of an object: path below the build tree, `/` as `#`, no suffix."""
    return re.sub(r"\.[^./]*$", "", unit).replace("/", "#") + ".gcda"


def unit_name(counter_file: str) -> str:
    """Return the unit a counter file belongs to as a path below the build tree, without what CMake adds to it."""
    parts = [".." if part == "__" else part for part in counter_file.removesuffix(".gcda").split("#")]
    kept = [part for part in parts if part != "CMakeFiles" and not part.endswith(".dir")]
    return posixpath.normpath("/".join(kept))


def directory(counter_file: str, depth: int = 2) -> str:
    """Return the first folders of a unit; a leading `src`, which says nothing, is left out."""
    folders = unit_name(counter_file).removeprefix("src/").split("/")[:-1]
    return "/".join(folders[:depth]) or "."


def unmatched_reason(call: CompilerCall | None) -> str | None:
    """Return why a unit with counters was not optimised with them, or None when it was."""
    match call:
        case None:
            return "not compiled in this build"
        case CompilerCall(said=said) if FILE_MISSING.search(said):
            return "no counters file found"
        case CompilerCall(said=said) if MISMATCH.search(said):
            return "coverage mismatch"
    return None


def audit(counters: Iterable[CounterFile], calls: Iterable[CompilerCall], training: str) -> dict[str, Any]:
    """Compare the profile with what the compiler said while it used it.

    A unit counts as matched when its compile found its counters file and reported no mismatch. A function of a
    template that the linker dropped has no counters of its own; gcc says so per function, which is counted apart.
    """
    counters = list(counters)
    compiled = {counter_name(call.unit): call for call in calls}
    executed = [file for file in counters if file.functions_nonzero]
    reasons = {file.name: unmatched_reason(compiled.get(file.name)) for file in executed}
    matched = [name for name, reason in reasons.items() if reason is None]
    directories = Counter(directory(name) for name in reasons)
    matched_in = Counter(directory(name) for name in matched)
    return {
        "training": training,
        "units_with_counters": len(counters),
        "units_nonzero": len(executed),
        "units_matched": len(matched),
        "matched_share": len(matched) / len(executed) if executed else None,
        "threshold": THRESHOLD,
        "by_directory": [
            {"directory": name, "units_nonzero": count, "units_matched": matched_in[name]}
            for name, count in sorted(directories.items())
        ],
        "missing": [{"unit": unit_name(name), "why": reason} for name, reason in sorted(reasons.items()) if reason],
        "functions_not_found": sum(len(FUNCTION_MISSING.findall(call.said)) for call in compiled.values()),
        "mismatches": sum(bool(MISMATCH.search(call.said)) for call in compiled.values()),
    }


def demand_trained(facts: dict[str, Any]) -> None:
    """Refuse a profile without a counter above zero. Raises ValueError naming the training."""
    if not facts["functions_nonzero"]:
        raise ValueError(
            f"training {facts['training']} of {facts['server']}: all counters of {facts['files']} files are zero, "
            "so the load never reached the server"
        )


def demand(facts: dict[str, Any]) -> None:
    """Refuse a build that did not use its profile.

    Raises ValueError with the share found, the share expected and the units that are missing.
    """
    share = facts["matched_share"]
    if share is None:
        raise ValueError(f"profile {facts['training']}: no unit has a non-zero counter, so nothing was trained")
    if share < facts["threshold"]:
        named = "\n".join(f"  {entry['unit']}: {entry['why']}" for entry in facts["missing"][:20])
        raise ValueError(
            f"profile {facts['training']}: {facts['units_matched']} of {facts['units_nonzero']} executed units were "
            f"compiled with their counters ({share:.1%}, expected {facts['threshold']:.0%} or more). Missing:\n{named}"
        )
