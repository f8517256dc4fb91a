"""Names of units: an object below the build tree, gcc's counter file for it, and what people call it."""

import posixpath
import re

from scripts.compile_records import CompilerCall

SUFFIX = re.compile(r"\.[^./]*$")
PROFILE_FOLDER = "-fprofile-use="
PREFIX_PATH = "-fprofile-prefix-path="


def counter_name(unit: str) -> str:
    """Return the name gcc gives the counter file of an object: its path, `/` as `#`, `..` as `^`, no suffix.

    The path is absolute, or relative to -fprofile-prefix-path (gcc's coverage_init and mangle_path, tried with gcc 12).
    """
    return "#".join("^" if part == ".." else part for part in SUFFIX.sub("", unit).split("/")) + ".gcda"


def unit_name(counter_file: str) -> str:
    """Return the unit a counter file belongs to as a path below the build tree, without what CMake adds to it."""
    parts = [".." if part in ("__", "^") else part for part in counter_file.removesuffix(".gcda").split("#")]
    kept = [part for part in parts if part != "CMakeFiles" and not part.endswith(".dir")]
    return posixpath.normpath("/".join(kept))


def directory(unit: str, depth: int = 2) -> str:
    """Return the first folders of a unit as `unit_name` gives it; a leading `src`, which says nothing, is left out."""
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
    output = _output(call) or call.unit
    if output.startswith("/") or PROFILE_FOLDER[:-1] in call.arguments:
        return SUFFIX.sub("", posixpath.join(call.folder, output)) + ".gcda"
    path, prefix = f"{call.folder}/{output}", _last(call.arguments, PREFIX_PATH)
    return counter_name(path.removeprefix(prefix).lstrip("/") if prefix and path.startswith(prefix) else path)


def uses_profile(call: CompilerCall) -> bool:
    """Tell whether a command line asks for a profile, and nothing after that takes it back."""
    asked = [argument for argument in call.arguments if re.match(r"-f(no-)?profile-use(=|$)", argument)]
    return bool(asked) and not asked[-1].startswith("-fno-")


def _output(call: CompilerCall) -> str:
    places = [place for place, argument in enumerate(call.arguments) if argument == "-o"]
    return call.arguments[places[-1] + 1] if places else ""


def _last(arguments: tuple[str, ...], start: str) -> str:
    return next((argument.removeprefix(start) for argument in reversed(arguments) if argument.startswith(start)), "")
