"""Read what the compiler wrapper kept of each call: object, command line, warnings."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

EFFECTIVE = re.compile(r"-(O|f|m|g|std=|Wl,|D_FORTIFY|flto|pipe)")


@dataclass(frozen=True)
class CompilerCall:
    """One call: the object relative to the build tree, the argv, whether it linked, what the compiler said."""

    unit: str
    arguments: tuple[str, ...]
    links: bool
    said: str


def read_calls(records: Path, build: Path) -> list[CompilerCall]:
    """Return the successful calls recorded while compiling in `build`, in the order of their objects' names."""
    calls = [
        _read(record, build)
        for record in records.iterdir()
        if "." not in record.name and not record.with_name(f"{record.name}.failed").exists()
    ]
    return sorted(calls, key=lambda call: (call.unit, call.arguments))


def _read(record: Path, build: Path) -> CompilerCall:
    _cwd, output, *argv = record.read_text(encoding="utf-8", errors="surrogateescape").split("\0")[:-1]
    said = record.with_name(f"{record.name}.stderr")
    return CompilerCall(
        unit=output.removeprefix(f"{build}/"),
        arguments=tuple(argv),
        links=not {"-c", "-E", "-S", "-M", "-MM"} & set(argv),
        said=said.read_text(encoding="utf-8", errors="replace") if said.exists() else "",
    )


def units(calls: Iterable[CompilerCall]) -> list[CompilerCall]:
    """Return the calls that compiled a translation unit to an object file."""
    return [call for call in calls if "-c" in call.arguments]


def effective_arguments(calls: Iterable[CompilerCall]) -> list[str]:
    """Return, sorted, the arguments of these calls that bear on the code made: optimisation, machine, profile, link."""
    return sorted({argument for call in calls for argument in call.arguments if EFFECTIVE.match(argument)})
