"""Profiles of gcc: counter files, the compiles that looked for them, their warnings, and the functions counted.

Names of functions are not in counter files. They are read from gcc's own structures in the instrumented programs,
whose layout no manual promises: see `names_problem`.
"""

import mmap
import re
import struct
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

from scripts.build.compilation.audit import Complaints, ExecutedFunction, Unit, compiled_unit
from scripts.build.compilation.binary import demangled
from scripts.build.compilation.compiler_calls import CompilerCall, counter_name, sought_name, unit_name, uses_profile
from scripts.lib.build_records import Audit, SoughtName, TrainedProfile
from scripts.lib.host.made_environment import made_environment
from scripts.lib.host.process import output_of

HEADER_BYTES = 16
COUNTER_VALUES = re.compile(r"\s+\d+:((?: -?\d+)*)\s*$")
FUNCTION_RECORD = re.compile(r"FUNCTION ident=(\d+), lineno_checksum=0x([0-9a-f]+), cfg_checksum=0x([0-9a-f]+)")
# gcov-dump complains so about a file that is cut off or of another gcc, and ends with status 0 all the same.
DUMP_COMPLAINT = re.compile(r"record size mismatch|current version is|truncated|not a gcov|cannot open|unexpected")
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
    files = []
    for start in range(0, len(names), batch):
        files += _read_counter_file(folder, gcov_dump, names[start : start + batch])
    return files


def _read_counter_file(folder: Path, gcov_dump: str, names: list[str]) -> list[CounterFile]:
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
        file, _, dumped = line.partition(".gcda:")
        if values := COUNTER_VALUES.match(dumped):
            count += sum(map(int, values[1].split())) if arcs else 0
            continue
        if arcs:
            yield name, key, count
        count, arcs = 0, ":COUNTERS arcs" in dumped
        if match := FUNCTION_RECORD.search(dumped):
            name, key = f"{file}.gcda", (int(match[1]), int(match[2], 16), int(match[3], 16))
        elif DUMP_COMPLAINT.search(dumped):
            raise ValueError(f"{folder}/{file}.gcda: {dumped.strip()}; the counters are damaged or of another compiler")
    if arcs:
        yield name, key, count


def _dumped(folder: Path, gcov_dump: str, names: list[str]) -> Iterator[str]:
    """Yield the lines of gcov-dump, hundreds of MiB for a large server. Raises ValueError when it fails."""
    with tempfile.TemporaryFile() as errors:
        command = [gcov_dump, "-l", *names]
        with subprocess.Popen(
            command, cwd=folder, env=made_environment(), stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process:
            yield from process.stdout or ()
        if process.returncode != 0:
            errors.seek(0)
            complaint = errors.read().decode(errors="replace").strip()[:500]
            raise ValueError(f"{folder}: {gcov_dump} cannot read the counters: {complaint}")


def is_whole(content: bytes) -> bool:
    """Return whether the records of a .gcda file fill it up to its closing zero word (gcov-io.h of gcc 12 and newer).

    gcov-dump does not notice a file that was cut off between two records. A record is tag, length in bytes, content;
    a negative length stands for counters that are all zero and not written.
    """
    position = HEADER_BYTES
    while position + 8 <= len(content):
        _tag, length = struct.unpack_from("=Ii", content, position)
        position += 8 + max(length, 0)
    return position == len(content) - 4 and content[position:] == bytes(4)


def summary(files: list[CounterFile]) -> TrainedProfile:
    """Return counts of files and functions, and of those with a counter above zero."""
    return TrainedProfile(
        files=len(files),
        files_nonzero=sum(bool(file.executed) for file in files),
        functions=sum(file.functions for file in files),
        functions_nonzero=sum(len(file.executed) for file in files),
    )


# struct gcov_fn_info of libgcov.h begins with a pointer, ident, line checksum and control-flow checksum.
FUNCTION_INFO = struct.Struct("=8xIII")
LAYOUT_TRIED_WITH = (12,)
SYMBOL_LINE = re.compile(r"^([0-9a-f]+) \w __gcov_\.(.+)$", re.M)
OPERATOR_NAME = re.compile(
    r"\boperator(?!\w)\s*(?:(?P<symbol>\(\)|\[\]|<=>|<<=?|>>=?|->\*?|[-+*/%^&|~!=<>,]=?|&&|\|\||\+\+|--)|(?P<type>[^(]+))"
)
LOAD_SEGMENT = re.compile(r"^\s*LOAD\s+(0x\w+)\s+(0x\w+)\s+0x\w+\s+(0x\w+)", re.M)


def names_problem(version: str) -> str | None:
    """Return why the names of counted functions are unknown with this gcc, None if its layout was tried."""
    if int(version.split(".")[0]) in LAYOUT_TRIED_WITH:
        return None
    tried = ", ".join(map(str, LAYOUT_TRIED_WITH))
    return f"the layout of counted functions in a program was tried with gcc {tried}, not with {version}"


def function_symbols(install: Path) -> dict[Key, str]:
    """Return the symbol of every instrumented function of the programs and libraries of an install tree.

    Only for a gcc without a `names_problem`: another layout would yield keys that no counter file has.
    """
    symbols: dict[Key, str] = {}
    for program in sorted(install.rglob("*")):
        if program.is_file() and not program.is_symlink() and _is_elf(program):
            symbols.update(_symbol_table(program))
    return symbols


def _is_elf(file: Path) -> bool:
    with file.open("rb") as stream:
        return stream.read(4) == b"\x7fELF"


def _symbol_table(program: Path) -> Iterator[tuple[Key, str]]:
    segments = [
        tuple(int(number, 16) for number in match.groups())
        for match in LOAD_SEGMENT.finditer(output_of(["readelf", "--program-headers", "--wide", program]))
    ]
    with program.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for match in SYMBOL_LINE.finditer(output_of(["nm", "--defined-only", program])):
            address = int(match[1], 16)
            for offset, start, size in segments:
                if start <= address <= start + size - FUNCTION_INFO.size:
                    yield FUNCTION_INFO.unpack_from(content, address - start + offset), match[2]


def is_public(symbol: str, key: Key) -> bool:
    """Return whether gcc identifies the function by its symbol alone, as it does unless it is local to a unit.

    The ident is then the CRC-32 of the symbol with its closing zero, without the top bit (coverage.c of gcc,
    coverage_compute_profile_id).
    """
    crc = 0
    for byte in symbol.encode() + b"\0":
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ (0x04C11DB7 if crc & 0x80000000 else 0)) & 0xFFFFFFFF
    return (crc & 0x7FFFFFFF or 1) == key[0]


def plain_name(function: str) -> str:
    """Return the qualified name of a C or C++ function without result, arguments, templates and lambdas within it.

    The compiler's warnings and c++filt write a function differently; of this part both make the same.
    """
    text = function.partition(" [with ")[0].replace("(anonymous namespace)", "{anonymous}")
    text = re.split(r"::[<{]lambda", text)[0]
    if match := OPERATOR_NAME.search(text):
        symbol = match["symbol"] or _without_templates(match["type"])
        return f"{_last_word(text[: match.start()])}operator{symbol.replace(' ', '')}"
    return _last_word(_without_templates(text).partition("(")[0])


def _last_word(text: str) -> str:
    return _without_templates(text).rpartition(" ")[2].lstrip("*&")


def _without_templates(text: str) -> str:
    """Return text without its parts in angle brackets."""
    outside, depth = [], 0
    for character in text:
        depth += character == "<"
        if not depth:
            outside.append(character)
        depth -= character == ">" and depth > 0
    return "".join(outside)


# Recognised by gcc's tags: builds compiled before the C locale was theirs hold messages in the user's language, whose
# quotes differ (those of gcc 12 in German, French and Swedish are here). One tag tells of files and of functions.
QUOTED = r"['‘»«”]\s?((?:(?!\.gcda).)*?)\s?['’«»”]"
MISSING_TAG = r".*\[-W(?:error=)?missing-profile\]"
MISMATCH_TAG = r".*\[-W(?:error=)?coverage-mismatch\]"
FILE_MISSING = re.compile(rf"\.gcda\W{MISSING_TAG}")
FUNCTION_MISSING = re.compile(QUOTED + MISSING_TAG)
MISMATCH = re.compile(rf"{MISMATCH_TAG}|coverage mismatch")
FUNCTION_MISMATCH = re.compile(QUOTED + MISMATCH_TAG)
COMPLAINTS = Complaints(FILE_MISSING, FUNCTION_MISSING, MISMATCH, FUNCTION_MISMATCH)


def profile_units(
    files: Iterable[CounterFile], calls: Iterable[CompilerCall], linked: set[str] | None, symbols: Mapping[Key, str]
) -> list[Unit]:
    """Return every unit of the profile and of the build.

    `linked` and `symbols` are the results of `linked_units` and `function_symbols`.

    A unit was optimised with its counters when its compile looked for that file, found it, and reported no mismatch.
    A function of a template that the linker dropped has no counters of its own; gcc warns per function.
    """
    counted = {file.name: file for file in files}
    compiled = {sought_name(call): call for call in calls}
    names = demangled(symbols[ran.key] for file in counted.values() for ran in file.executed if ran.key in symbols)
    top, compiled_names = _common_folder(counted), {_short_list(call) for call in compiled.values()}
    units = []
    for key in sorted({**counted, **compiled}):
        file, call = counted.get(key), compiled.get(key)
        name = _short_list(call) if call else unit_name(key.removeprefix(top))
        executed = _unit_functions(file, call, symbols, names) if file else ()
        why = _why(call, name in compiled_names) if executed else None
        unit = compiled_unit(name, call, linked, COMPLAINTS)
        units.append(replace(unit, counted=file is not None, executed=executed, why=why))
    return units


def _short_list(call: CompilerCall) -> str:
    return unit_name(counter_name(call.unit))


def _why(call: CompilerCall | None, name_known: bool) -> str | None:
    """Return why a unit with counters was not optimised with them, or None when it was."""
    if call is None:
        return "its counters have another name than the one sought" if name_known else "not compiled in this build"
    reasons = {
        "compiled without its profile": not uses_profile(call),
        "no counters file found": FILE_MISSING.search(call.said),
        "coverage mismatch": MISMATCH.search(call.said),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def _unit_functions(
    file: CounterFile, call: CompilerCall | None, symbols: Mapping[Key, str], names: Mapping[str, str]
) -> tuple[ExecutedFunction, ...]:
    """Return the functions of a unit that ran; one that a warning names is lost.

    gcc finds a public function by its symbol, so a warning that it is missing means another one of the same name.
    """
    warnings = call.said if call else ""
    not_found, mismatched = (
        {plain_name(function) for function in kind.findall(warnings)} for kind in (FUNCTION_MISSING, FUNCTION_MISMATCH)
    )

    def lost(symbol: str, key: Key) -> bool:
        plain = plain_name(names[symbol])
        return plain in mismatched or (plain in not_found and not is_public(symbol, key))

    warned, executed = bool(not_found or mismatched), []
    for ran in file.executed:
        symbol = symbols.get(ran.key)
        is_lost = symbol is not None and warned and lost(symbol, ran.key)
        executed.append(ExecutedFunction(symbol, names[symbol] if symbol else None, ran.count, lost=is_lost))
    return tuple(executed)


def _common_folder(names: Iterable[str]) -> str:
    """Return the build tree that begins the names of a profile written without -fprofile-prefix-path."""
    folders = [name.split("#")[:-1] for name in names if name.startswith("#")]
    return "".join(f"{part}#" for part in _common_start(*folders))


def _common_start(*lists: list[str]) -> list[str]:
    return [parts[0] for parts in takewhile(lambda parts: len(set(parts)) == 1, zip(*lists, strict=False))]


def names_compared(audit: Audit, files: Iterable[CounterFile], calls: Iterable[CompilerCall], first: int = 20) -> Audit:
    """Return an audit with the first names sought in vain, beside the nearest ones present, and counts of names."""
    present = {file.name for file in files}
    sought = {sought_name(call) for call in calls if uses_profile(call)}
    by_end = defaultdict(list)
    for name in sorted(present):
        by_end[_path_parts(name)[0]].append(name)
    lost = [SoughtName(name, _nearest(name, by_end[_path_parts(name)[0]])) for name in sorted(sought - present)]
    # Names that only miss their folder show the cause; units that were never linked have no counters anywhere.
    lost.sort(key=lambda pair: pair.present is None)
    counted = replace(audit, names_sought=len(sought), names_present=len(present), names_found=len(sought & present))
    return replace(counted, names=lost[:first])


def _path_parts(name: str) -> list[str]:
    """Return the parts of a counter file's name, the last one first."""
    return re.split("[#/]", name)[::-1]


def _nearest(name: str, candidates: list[str]) -> str | None:
    parts = _path_parts(name)
    return max(candidates, key=lambda candidate: len(_common_start(parts, _path_parts(candidate))), default=None)
