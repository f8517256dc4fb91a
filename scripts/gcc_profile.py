"""What gcc made of a profile: counter files beside the compiles that looked for them, and what those said."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import takewhile
from typing import Any

from scripts.compile_records import CompilerCall
from scripts.gcc_counters import CounterFile, Key
from scripts.gcc_symbols import demangled, is_public, plain_name
from scripts.profile_units import Function, Unit
from scripts.unit_names import counter_name, sought_name, unit_name, uses_profile

QUOTED = r"['‘](.*?)['’]"
FILE_MISSING = re.compile(r"profile count data file not found")
FUNCTION_MISSING = re.compile(rf"profile for function {QUOTED} not found in profile data")
MISMATCH = re.compile(r"\[-W(?:error=)?coverage-mismatch\]|coverage mismatch")
FUNCTION_MISMATCH = re.compile(
    rf"(?:source locations for|number of counters in profile data for|control flow of) function {QUOTED} (?:have|does)"
)


def profile_units(
    files: Iterable[CounterFile], calls: Iterable[CompilerCall], linked: set[str] | None, symbols: Mapping[Key, str]
) -> list[Unit]:
    """Return every unit of the profile and of the build; `linked` and `symbols` as `linked_units`, `gcc_symbols` give.

    A unit was optimised with its counters when its compile looked for that file, found it, and reported no mismatch.
    A function of a template that the linker dropped has no counters of its own; gcc says so per function.
    """
    counted = {file.name: file for file in files}
    compiled = {sought_name(call): call for call in calls}
    names = demangled(symbols[ran.key] for file in counted.values() for ran in file.executed if ran.key in symbols)
    top, known = _common_folder(counted), {_shown(call) for call in compiled.values()}
    units = []
    for key in sorted({**counted, **compiled}):
        file, call = counted.get(key), compiled.get(key)
        name = _shown(call) if call else unit_name(key.removeprefix(top))
        executed = _functions(file, call, symbols, names) if file else ()
        why = _why(call, name in known) if executed else None
        units.append(_unit(name, call, linked, counted=file is not None, executed=executed, why=why))
    return units


def _unit(name: str, call: CompilerCall | None, linked: set[str] | None, **counters: Any) -> Unit:
    said = call.said if call else ""
    return Unit(
        name=name,
        compiled=call is not None,
        linked=call is not None and call.unit in linked if linked is not None else None,
        file_not_found=bool(FILE_MISSING.search(said)),
        functions_not_found=len(FUNCTION_MISSING.findall(said)),
        mismatch=bool(MISMATCH.search(said)),
        functions_mismatched=len(set(FUNCTION_MISMATCH.findall(said))),
        **counters,
    )


def _shown(call: CompilerCall) -> str:
    return unit_name(counter_name(call.unit))


def _why(call: CompilerCall | None, known: bool) -> str | None:
    """Return why a unit with counters was not optimised with them, or None when it was; `known` by its name alone."""
    if call is None:
        return "its counters have another name than the one sought" if known else "not compiled in this build"
    reasons = {
        "compiled without its profile": not uses_profile(call),
        "no counters file found": FILE_MISSING.search(call.said),
        "coverage mismatch": MISMATCH.search(call.said),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def _functions(
    file: CounterFile, call: CompilerCall | None, symbols: Mapping[Key, str], names: Mapping[str, str]
) -> tuple[Function, ...]:
    """Return the functions of a unit that ran, lost when a warning names them.

    gcc finds a public function by its symbol, so a warning that it is not there means another one of the same name.
    """
    said = call.said if call else ""
    not_found, mismatched = (
        {plain_name(function) for function in kind.findall(said)} for kind in (FUNCTION_MISSING, FUNCTION_MISMATCH)
    )

    def lost(symbol: str, key: Key) -> bool:
        plain = plain_name(names[symbol])
        return plain in mismatched or (plain in not_found and not is_public(symbol, key))

    warned, found = bool(not_found or mismatched), []
    for ran in file.executed:
        symbol = symbols.get(ran.key)
        told = symbol is not None and warned and lost(symbol, ran.key)
        found.append(Function(symbol, names[symbol] if symbol else None, ran.count, lost=told))
    return tuple(found)


def _common_folder(names: Iterable[str]) -> str:
    """Return what the names of a profile written without -fprofile-prefix-path start with: their build tree."""
    folders = [name.split("#")[:-1] for name in names if name.startswith("#")]
    return "".join(f"{part}#" for part in _common_start(*folders))


def _common_start(*lists: list[str]) -> list[str]:
    return [parts[0] for parts in takewhile(lambda parts: len(set(parts)) == 1, zip(*lists, strict=False))]


def names_compared(
    files: Iterable[CounterFile], calls: Iterable[CompilerCall], first: int = 20
) -> tuple[list[dict[str, str | None]], dict[str, int]]:
    """Return names sought in vain beside the nearest ones present (same end), the first ones, and counts."""
    present = {file.name for file in files}
    sought = {sought_name(call) for call in calls if uses_profile(call)}
    by_end = defaultdict(list)
    for name in sorted(present):
        by_end[_parts(name)[0]].append(name)
    lost = [{"sought": name, "present": _nearest(name, by_end[_parts(name)[0]])} for name in sorted(sought - present)]
    # Those that only miss their folder show the cause; units that were never linked have no counters anywhere.
    lost.sort(key=lambda pair: pair["present"] is None)
    counts = {"sought": len(sought), "present": len(present), "found": len(sought & present)}
    return lost[:first], {f"names_{key}": count for key, count in counts.items()}


def _parts(name: str) -> list[str]:
    """Return the parts of a counter file's name, the last one first."""
    return re.split("[#/]", name)[::-1]


def _nearest(name: str, candidates: list[str]) -> str | None:
    parts = _parts(name)
    return max(candidates, key=lambda candidate: len(_common_start(parts, _parts(candidate))), default=None)
