"""What compiler and linker were given, as sets side by side."""

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from scripts.tables import fact

Facts = dict[str, Any]
PARTS = {"compile": "compile_arguments", "link": "link_arguments"}


@dataclass(frozen=True)
class Arguments:
    """What builds were given: arguments all have, and those only some have, each with a mark a build."""

    part: str
    shared: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, tuple[bool, ...]], ...]
    without: str


def input_of(build: Facts, facts: Iterable[Facts]) -> Facts | None:
    """Return the facts of the build that BOLT made this one from; None for any other build, or when it is not there."""
    key = (build["server"], fact(build, "bolt.input_build"))
    return next((other for other in facts if (other["server"], other["build"]) == key), None)


def arguments(facts: list[Facts]) -> tuple[Arguments, ...]:
    """Return what compiler and linker were given in the builds of one server, as sets side by side."""
    return tuple(found for part in PARTS if (found := _side_by_side(part, facts)))


def _side_by_side(part: str, facts: list[Facts]) -> Arguments | None:
    found = {build["build"]: (input_of(build, facts) or build).get(PARTS[part]) for build in facts}
    known = {name: said for name, said in found.items() if said is not None}
    if not known:
        return None
    every = list(dict.fromkeys(argument for said in known.values() for argument in said))
    shared = [argument for argument in every if all(argument in said for said in known.values())]
    rows = [
        (argument, tuple(argument in said for said in known.values())) for argument in every if argument not in shared
    ]
    without = ", ".join(name for name, said in found.items() if said is None)
    return Arguments(part, shlex.join(shared), tuple(known), tuple(rows), without)


def configure_commands(facts: list[Facts]) -> list[tuple[str, str]]:
    """Return (builds, configure command), equal commands once."""
    by_command: dict[str, list[str]] = {}
    for build in facts:
        name = f"{build['build']} of {build['server']}"
        by_command.setdefault(shlex.join(build.get("configure_command") or []), []).append(name)
    return [(", ".join(names), command) for command, names in by_command.items() if command]
