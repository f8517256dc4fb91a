"""Which units went into a server and the libraries it may load, as the linker told."""

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from scripts.compile_records import CompilerCall, units

MEMBER = re.compile(r"(?P<archive>.*)\((?P<member>[^()]+)\)$")
LIBRARY = re.compile(r"\.so(\.\d+)*$")


def linked_units(calls: Iterable[CompilerCall], server_file: str, install: Path) -> tuple[set[str] | None, int]:
    """Return the units (paths of their objects) linked into the server or an installed library, and the ambiguous.

    Archives are traced by the names of their members; several units that an archive's member may be are ambiguous:
    counted once a member, and none of them is called linked. None when no link was traced.
    """
    calls = list(calls)
    names = {path.name for path in install.rglob("*") if LIBRARY.search(path.name)} | {posixpath.basename(server_file)}
    links = [call for call in calls if call.links and call.linked and posixpath.basename(call.unit) in names]
    if not links:
        return None, 0
    compiled = {call.unit for call in units(calls)}
    by_base = defaultdict(list)
    for unit in compiled:
        by_base[posixpath.basename(unit)].append(unit)
    found, ambiguous = set(), 0
    for entry in {entry for call in links for entry in call.linked}:
        member = MEMBER.match(entry)
        candidates = _of_archive(member["archive"], by_base[member["member"]]) if member else [entry]
        ambiguous += len(candidates) > 1
        found |= {unit for unit in candidates if unit in compiled} if len(candidates) == 1 else set()
    return found, ambiguous


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
