"""Profiles of clang: counters of functions, the compiles that used them, and their warnings."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from scripts.build.compilation.audit import Complaints, ExecutedFunction, Unit, compiled_unit
from scripts.build.compilation.binary import demangled
from scripts.build.compilation.compiler_calls import CompilerCall, counter_name, unit_name, uses_profile
from scripts.build.compilation.compiler_flags import MERGED
from scripts.lib.build_records import TrainedProfile
from scripts.lib.host.process import CommandFailed, output_of

HEAD = re.compile(r"  (\S.*):$")
COUNTS = re.compile(r"    (?:Block counts: \[(?P<blocks>[\d, ]*)\]|Function count: (?P<entry>\d+))")
FUNCTION_MISSING = re.compile(r"no profile data available for function (\S+)")
FUNCTION_MISMATCH = re.compile(r"function control flow change detected \(hash mismatch\) (\S+)", re.I)
MISMATCH = re.compile(r"hash mismatch|\[-W(?:error=)?profile-instr-out-of-date\]")
COMPLAINTS = Complaints(None, FUNCTION_MISSING, MISMATCH, FUNCTION_MISMATCH)
# Clang puts these of a local function's name into `_` when it names its counters (LLVM's InstrProf.cpp).
NO_SYMBOL = re.compile(r"[-:;<>/\"']")


def read_functions(folder: Path, profdata: str) -> dict[str, int]:
    """Return function -> sum of its counters; the name of a local function begins with its source file.

    Raises ValueError when llvm-profdata, which belongs to the compiler that wrote the profile, cannot read it.
    """
    merged = folder / MERGED
    command = [profdata, "show", "--all-functions", "--counts", str(merged)]
    try:
        shown = output_of(command)
    except CommandFailed as failure:
        raise ValueError(f"{merged}: {profdata} cannot read the counters: {failure}; train again") from failure
    return dict(_parsed(shown.splitlines()))


def _parsed(lines: Iterable[str]) -> Counter[str]:
    """Return name -> sum of counters; functions of one name in several programs are counted as one."""
    sums: Counter[str] = Counter()
    name = ""
    for line in lines:
        if match := COUNTS.match(line):
            sums[name] += sum(int(count) for count in (match["blocks"] or match["entry"] or "0").split(", "))
        elif match := HEAD.match(line):
            name = match[1]
            sums[name] += 0
    return sums


def summary(functions: dict[str, int]) -> TrainedProfile:
    """Return counts of files and functions, and of those with a counter above zero."""
    ran = sum(count > 0 for count in functions.values())
    return TrainedProfile(files=1, files_nonzero=int(ran > 0), functions=len(functions), functions_nonzero=ran)


def profile_units(
    functions: dict[str, int],
    calls: Iterable[CompilerCall],
    instrumented: Iterable[CompilerCall],
    linked: set[str] | None,
) -> list[Unit]:
    """Return every unit of both builds; the functions of a unit are those that it has in the instrumented build.

    A function in several units (inline, of a template) is one in the profile: the first unit counts it, and it is lost
    when any of them lost it.
    """
    compiled = {call.unit: call for call in calls}
    by_symbol = {NO_SYMBOL.sub("_", name): name for name in functions}
    of_units = {call.unit: list(_held(call, by_symbol)) for call in instrumented}
    ran = _executed(functions, of_units, {unit: _warned(call.said) for unit, call in compiled.items()})
    return [
        _unit(unit, compiled.get(unit), linked, counted=bool(of_units.get(unit)), executed=ran.get(unit, ()))
        for unit in sorted({**compiled, **of_units})
    ]


def _executed(
    functions: dict[str, int], of_units: dict[str, list[str]], warned: dict[str, set[str]]
) -> dict[str, tuple[ExecutedFunction, ...]]:
    """Return the functions that ran by unit."""
    owners: dict[str, list[str]] = {}
    for unit in sorted(of_units):
        for name in of_units[unit]:
            owners.setdefault(name, []).append(unit)
    names = demangled(_symbol(name) for name, count in functions.items() if count)

    def judged(name: str, unit: str) -> ExecutedFunction:
        symbol = _symbol(name)
        lost = any(symbol in warned.get(owner, ()) for owner in owners[name])
        return ExecutedFunction(symbol, names[symbol], functions[name], lost=lost, again=owners[name][0] != unit)

    return {unit: tuple(judged(name, unit) for name in of_units[unit] if functions[name]) for unit in of_units}


def _held(call: CompilerCall, by_symbol: dict[str, str]) -> Iterator[str]:
    """Yield the functions of the profile that a unit has; its symbols end with a hash where copies may differ."""
    for symbol in dict.fromkeys(call.functions):
        for plain in (symbol, re.sub(r"\.\d+$", "", symbol)):
            if plain in by_symbol:
                yield by_symbol[plain]
                break


def _symbol(name: str) -> str:
    return re.split("[:;]", name)[-1]


def _warned(warnings: str) -> set[str]:
    return {*FUNCTION_MISSING.findall(warnings), *FUNCTION_MISMATCH.findall(warnings)}


def _unit(
    unit: str, call: CompilerCall | None, linked: set[str] | None, counted: bool, executed: tuple[ExecutedFunction, ...]
) -> Unit:
    compiled = compiled_unit(unit_name(counter_name(unit)), call, linked, COMPLAINTS)
    return replace(compiled, counted=counted, executed=executed, why=_why(call, executed) if executed else None)


def _why(call: CompilerCall | None, executed: Iterable[ExecutedFunction]) -> str | None:
    """Return why a unit was not optimised with its counters, or None when it was."""
    if call is None:
        return "not compiled in this build"
    symbols = {function.symbol for function in executed}
    reasons = {
        "compiled without its profile": not uses_profile(call),
        "hash mismatch": symbols & set(FUNCTION_MISMATCH.findall(call.said)),
        "no counters found": symbols & set(FUNCTION_MISSING.findall(call.said)),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)
