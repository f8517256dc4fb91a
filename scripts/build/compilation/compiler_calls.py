"""Calls of the compiler while a server was built: the objects, arguments and warnings, and which units were linked.

A unit has three names: its object below the build tree, gcc's counter file, and a short path for people.
"""

import gzip
import json
import os
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from scripts.lib.host.process import output_of
from scripts.lib.json_record import FORMAT, LAST_BEFORE_BLOCKS
from scripts.lib.parts import JsonObject

EFFECTIVE_ARGUMENT = re.compile(r"-(O|f|m|g|std=|Wl,|D_FORTIFY|flto|pipe)")
# The linker's trace of a member of an archive: (libx.a)x.o
TRACED_MEMBER = re.compile(r"\((?P<archive>.*)\)(?P<member>[^()]+)$")
# A line of `nm -A` about the counters of a function: object, colon, address, letter, name
COUNTED_FUNCTION = re.compile(r"^(?P<object>.*?):\s*[0-9a-f]+ \w __profc_(?P<function>.+)$", re.M)


@dataclass(frozen=True)
class CompilerCall(JsonObject):
    """One call: the object relative to the build tree, the argv, whether it linked, the compiler's messages.

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
        member = TRACED_MEMBER.match(line)
        path = os.path.normpath(folder / (member["archive"] if member else line))
        yield path.removeprefix(f"{build}/") + (f"({member['member']})" if member else "")


def write_calls(calls: Iterable[CompilerCall], file: Path) -> None:
    """Write calls to a compressed JSON file; `read_kept_calls` reads it."""
    text = json.dumps({"format": FORMAT, "calls": [asdict(call) for call in calls]}, ensure_ascii=True)
    file.write_bytes(gzip.compress(text.encode(), mtime=0))


def read_kept_calls(file: Path) -> list[CompilerCall]:
    """Read the calls that `write_calls` wrote. Raises ValueError for the list without a format of earlier builds."""
    read = json.loads(gzip.decompress(file.read_bytes()))
    if not isinstance(read, dict):
        raise ValueError(
            f"{file}: a list without a format, expected an object with `format` and `calls`: the build was "
            f"compiled before there were blocks, and the last commit that reads it is {LAST_BEFORE_BLOCKS}; remove "
            f"{file.parent} to compile it again"
        )
    return [CompilerCall.of(call) for call in read["calls"]]


def with_functions(calls: Iterable[CompilerCall], build: Path, nm: str, batch: int = 200) -> list[CompilerCall]:
    """Return the calls with the functions that clang instrumented in their objects, read from the counters' symbols.

    A call whose object was removed has none. Raises CommandFailed when `nm` cannot read one.
    """
    calls = list(calls)
    objects = sorted({call.unit for call in compiled_units(calls) if (build / call.unit).exists()})
    by_object: dict[str, list[str]] = {}
    for start in range(0, len(objects), batch):
        listed = output_of([nm, "-A", "--defined-only", *objects[start : start + batch]], cwd=build)
        for match in COUNTED_FUNCTION.finditer(listed):
            by_object.setdefault(match["object"], []).append(match["function"])
    return [replace(call, functions=tuple(sorted(by_object.get(call.unit, [])))) for call in calls]


def compiled_units(calls: Iterable[CompilerCall]) -> list[CompilerCall]:
    """Return the calls that compiled a translation unit to an object file."""
    return [call for call in calls if "-c" in call.arguments]


def effective_arguments(calls: Iterable[CompilerCall]) -> list[str]:
    """Return, sorted, the arguments that affect the machine code: optimisation, machine, profile, link."""
    return sorted({argument for call in calls for argument in call.arguments if EFFECTIVE_ARGUMENT.match(argument)})


ARCHIVE_MEMBER = re.compile(r"(?P<archive>.*)\((?P<member>[^()]+)\)$")
SHARED_LIBRARY = re.compile(r"\.so(\.\d+)*$")


def linked_units(calls: Iterable[CompilerCall], server_file: str, install: Path) -> tuple[set[str] | None, int]:
    """Return the units (paths of their objects) linked into the server or an installed library, and the ambiguous.

    Archives are traced by the names of their members; several units that an archive's member may be are ambiguous:
    counted once a member, and none of them is called linked. None when no link was traced.
    """
    calls = list(calls)
    names = {path.name for path in install.rglob("*") if SHARED_LIBRARY.search(path.name)} | {
        posixpath.basename(server_file)
    }
    links = [call for call in calls if call.links and call.linked and posixpath.basename(call.unit) in names]
    if not links:
        return None, 0
    compiled = {call.unit for call in compiled_units(calls)}
    by_base = defaultdict(list)
    for unit in compiled:
        by_base[posixpath.basename(unit)].append(unit)
    linked, ambiguous = set(), 0
    for entry in {entry for call in links for entry in call.linked}:
        member = ARCHIVE_MEMBER.match(entry)
        candidates = _of_archive(member["archive"], by_base[member["member"]]) if member else [entry]
        ambiguous += len(candidates) > 1
        linked |= {unit for unit in candidates if unit in compiled} if len(candidates) == 1 else set()
    return linked, ambiguous


def _of_archive(archive: str, candidates: list[str]) -> list[str]:
    """Return the units that a member may be: of those below the archive's folder or in CMake's folder of its name."""
    folder, stem = posixpath.split(posixpath.splitext(archive)[0])
    target = f"/{stem.removeprefix('lib')}.dir/"
    for narrower in (
        [unit for unit in candidates if target in f"/{unit}" and unit.startswith(f"{folder}/" if folder else "")],
        [unit for unit in candidates if target in f"/{unit}"],
        [unit for unit in candidates if posixpath.dirname(unit) == folder],
        [unit for unit in candidates if unit.startswith(f"{folder}/")],
    ):
        if len(narrower) == 1 or (narrower and len(candidates) > len(narrower) > 1):
            return narrower
    return candidates


OBJECT_SUFFIX = re.compile(r"\.[^./]*$")
PROFILE_FOLDER = "-fprofile-use="
PREFIX_PATH = "-fprofile-prefix-path="


def counter_name(unit: str) -> str:
    """Return the name gcc gives the counter file of an object: its path, `/` as `#`, `..` as `^`, no suffix.

    The path is absolute, or relative to -fprofile-prefix-path (gcc's coverage_init and mangle_path, tried with gcc 12).
    """
    return "#".join("^" if part == ".." else part for part in OBJECT_SUFFIX.sub("", unit).split("/")) + ".gcda"


def unit_name(counter_file: str) -> str:
    """Return the unit a counter file belongs to as a path below the build tree, without what CMake adds to it."""
    parts = [".." if part in ("__", "^") else part for part in counter_file.removesuffix(".gcda").split("#")]
    folders_and_name = [part for part in parts if part != "CMakeFiles" and not part.endswith(".dir")]
    return posixpath.normpath("/".join(folders_and_name))


def unit_directory(unit: str, depth: int = 2) -> str:
    """Return the first folders of a unit as `unit_name` gives it; a leading `src` is left out."""
    folders = unit.removeprefix("src/").split("/")[:-1]
    return "/".join(folders[:depth]) or "."


def sought_name(call: CompilerCall) -> str:
    """Return the name of the counter file that a compile looks for in the folder of its profile.

    gcc writes the path of the object into it as the command line has it: relative ones with the folder of the call in
    front, absolute ones as they are, and then the file is in no folder of a profile (tried). A call without a profile
    is named as if the build tree had been cut off.
    """
    if not uses_profile(call) or not call.folder:
        return counter_name(call.unit)
    arguments = dict(zip(call.arguments, call.arguments[1:], strict=False))
    output = arguments.get("-o") or call.unit
    if output.startswith("/") or PROFILE_FOLDER[:-1] in call.arguments:
        return OBJECT_SUFFIX.sub("", posixpath.join(call.folder, output)) + ".gcda"
    prefixes = [word.removeprefix(PREFIX_PATH) for word in call.arguments if word.startswith(PREFIX_PATH)]
    path, prefix = f"{call.folder}/{output}", prefixes[-1] if prefixes else ""
    return counter_name(path.removeprefix(prefix).lstrip("/") if prefix and path.startswith(prefix) else path)


def uses_profile(call: CompilerCall) -> bool:
    """Return whether a command line uses a profile, with no later argument against it."""
    about_profile = [argument for argument in call.arguments if re.match(r"-f(no-)?profile-use(=|$)", argument)]
    return bool(about_profile) and not about_profile[-1].startswith("-fno-")
