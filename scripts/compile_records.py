"""Read what the compiler wrapper kept of each call: object, command line, warnings, objects linked."""

import gzip
import json
import os
import re
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from scripts.record import FORMAT

EFFECTIVE = re.compile(r"-(O|f|m|g|std=|Wl,|D_FORTIFY|flto|pipe)")
# The linker's trace of a member of an archive: (libx.a)x.o
MEMBER = re.compile(r"\((?P<archive>.*)\)(?P<member>[^()]+)$")
# A line of `nm -A` about the counters of a function: object, colon, address, letter, name
COUNTED = re.compile(r"^(?P<object>.*?):\s*[0-9a-f]+ \w __profc_(?P<function>.+)$", re.M)


@dataclass(frozen=True)
class CompilerCall:
    """One call: the object relative to the build tree, the argv, whether it linked, what the compiler said.

    `linked` names what the linker took in as it said it, paths within the build tree relative to it; `functions` are
    those that clang instrumented in the object, `folder` is where the compiler was called.
    """

    unit: str
    arguments: tuple[str, ...]
    links: bool
    said: str
    linked: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    folder: str = ""


def read_calls(records: Path, build: Path) -> list[CompilerCall]:
    """Return the successful calls recorded while compiling in `build`, in the order of their objects' names."""
    calls = [
        _read(record, build)
        for record in records.iterdir()
        if "." not in record.name and not record.with_name(f"{record.name}.failed").exists()
    ]
    return sorted(calls, key=lambda call: (call.unit, call.arguments))


def _read(record: Path, build: Path) -> CompilerCall:
    folder, output, *argv = record.read_text(encoding="utf-8", errors="surrogateescape").split("\0")[:-1]
    return CompilerCall(
        unit=output.removeprefix(f"{build}/"),
        arguments=tuple(argv),
        links=not {"-c", "-E", "-S", "-M", "-MM"} & set(argv),
        said=_text(record.with_name(f"{record.name}.stderr")),
        linked=tuple(_linked(_text(record.with_name(f"{record.name}.stdout")), Path(folder), build)),
        folder=folder,
    )


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""


def _linked(trace: str, folder: Path, build: Path) -> Iterable[str]:
    """Yield the objects of a linker's trace once each, those within the build tree relative to it."""
    for line in dict.fromkeys(trace.splitlines()):
        member = MEMBER.match(line)
        path = os.path.normpath(folder / (member["archive"] if member else line))
        yield path.removeprefix(f"{build}/") + (f"({member['member']})" if member else "")


def keep(calls: Iterable[CompilerCall], file: Path) -> None:
    """Write calls to a compressed JSON file; `kept` reads it."""
    text = json.dumps({"format": FORMAT, "calls": [asdict(call) for call in calls]}, ensure_ascii=True)
    file.write_bytes(gzip.compress(text.encode(), mtime=0))


def kept(file: Path) -> list[CompilerCall]:
    """Read the calls that `keep` wrote; before there was a format, it wrote the bare list."""
    found = json.loads(gzip.decompress(file.read_bytes()))
    entries = found["calls"] if isinstance(found, dict) else found
    return [CompilerCall(**{key: _frozen(value) for key, value in entry.items()}) for entry in entries]


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def with_functions(calls: Iterable[CompilerCall], build: Path, nm: str, batch: int = 200) -> list[CompilerCall]:
    """Return the calls with the functions that clang instrumented in their objects, as `nm` names their counters.

    An object that is no more has none. Raises CalledProcessError when `nm` cannot read one.
    """
    calls = list(calls)
    objects = sorted({call.unit for call in units(calls) if (build / call.unit).exists()})
    found: dict[str, list[str]] = {}
    for start in range(0, len(objects), batch):
        command = [nm, "-A", "--defined-only", *objects[start : start + batch]]
        told = subprocess.run(command, cwd=build, capture_output=True, text=True, check=True).stdout
        for match in COUNTED.finditer(told):
            found.setdefault(match["object"], []).append(match["function"])
    return [replace(call, functions=tuple(sorted(found.get(call.unit, [])))) for call in calls]


def units(calls: Iterable[CompilerCall]) -> list[CompilerCall]:
    """Return the calls that compiled a translation unit to an object file."""
    return [call for call in calls if "-c" in call.arguments]


def effective_arguments(calls: Iterable[CompilerCall]) -> list[str]:
    """Return, sorted, the arguments of these calls that bear on the code made: optimisation, machine, profile, link."""
    return sorted({argument for call in calls for argument in call.arguments if EFFECTIVE.match(argument)})
