"""Proofs between builds of one server: they differ where they should, and only in what was declared."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from scripts.build.compilation.compiler_calls import CompilerCall
from scripts.build.compilation.compiler_flags import COMPILERS, RELOCATIONS
from scripts.build.compilation.stages import PREBUILT
from scripts.lib.json_record import canonical
from scripts.lib.recipe_models import StageKind

Facts = dict[str, Any]
COMPARED_BY_CALLS = {StageKind.PLAIN, StageKind.OPTIMISED, StageKind.RELOCATABLE}
# Flags that only select the profile and the warnings about it.
PROFILE = re.compile(
    r"-f(no-)?profile-|-W(no-)?(error=)?(missing-profile|coverage-mismatch|profile-instr|backend-plugin)|-pgo-warn-"
)
# What BOLT needs of its input, with any compiler.
FOR_BOLT = {flag for compiler in COMPILERS.values() for flag in compiler.relocatable} | {*RELOCATIONS}
JOBS = re.compile(r"^(-flto|-Wl,--thinlto-jobs)=\d+$")
FIRST = 5


@dataclass(frozen=True)
class Proof:
    """One proof about two builds: machine_code (differs), profile_only, bolt_only (nothing else differs)."""

    kind: str
    builds: tuple[str, str]
    holds: bool
    text: str

    def facts(self) -> Facts:
        """Return the proof as a record has it."""
        return {**asdict(self), "builds": list(self.builds)}


@dataclass(frozen=True)
class Made:
    """A build: its facts, and the compiler's calls, None if it was not compiled."""

    facts: Facts
    calls: tuple[CompilerCall, ...] | None

    @property
    def name(self) -> str:
        """Return the build's name."""
        return self.facts["build"]


def prove(builds: Iterable[Made]) -> list[Proof]:
    """Return all proofs between the builds of one server, stages included."""
    pairs = list(combinations(sorted(builds, key=lambda made: made.name), 2))
    found = [proof for one, other in pairs for proof in (_machine_code(one, other), _same_but(one, other)) if proof]
    return found


def declared(facts: Facts, without_profile: bool = False) -> str:
    """Return the declared flags of a build as text to compare, without those that BOLT needs in its input."""
    flags, tools = facts.get("flags") or {}, facts.get("toolchain") or {}
    stage_flags = FOR_BOLT if facts["stage"] == StageKind.RELOCATABLE else set()
    kept = {
        key: [_steady(flag) for flag in flags.get(key, []) if flag not in stage_flags]
        for key in ("common", "lto", "link", *(() if without_profile else ("profile",)))
    }
    bolt = {key: facts["bolt"][key] for key in ("input_build", "arguments")} if facts.get("bolt") else None
    return canonical({**kept, "toolchain": [tools.get("name"), tools.get("version")], "bolt": bolt})


def _steady(argument: str) -> str:
    """Return an argument without its number of jobs."""
    return JOBS.sub(r"\1", argument)


def _machine_code(one: Made, other: Made) -> Proof | None:
    if any(StageKind(made.facts["stage"]).is_stage or made.facts["stage"] == PREBUILT for made in (one, other)):
        return None
    if declared(one.facts) == declared(other.facts):
        return None
    codes = [made.facts["text_sha256"] for made in (one, other)]
    differs = codes[0] != codes[1]
    text = f"different machine code (.text {codes[0][:12]} and {codes[1][:12]})"
    same = f"{one.name} and {other.name} are declared to differ but have the same machine code (.text {codes[0][:12]})"
    return Proof("machine_code", (one.name, other.name), differs, text if differs else same)


def _same_but(one: Made, other: Made) -> Proof | None:
    """Compare two compiled builds of which one has another profile, or only what BOLT needs."""
    stages = {one.facts["stage"], other.facts["stage"]}
    if one.calls is None or other.calls is None or not stages <= COMPARED_BY_CALLS:
        return None
    if StageKind.RELOCATABLE in stages:
        if stages == {StageKind.RELOCATABLE} or declared(one.facts) != declared(other.facts):
            return None
        return _compared("bolt_only", one, other, "what BOLT needs of its input")
    if declared(one.facts, without_profile=True) != declared(other.facts, without_profile=True):
        return None
    return None if declared(one.facts) == declared(other.facts) else _compared("profile_only", one, other, "profile")


def _compared(kind: str, one: Made, other: Made, what: str) -> Proof:
    found = list(differences(one, other))
    names = (one.name, other.name)
    if not found:
        units = len(_commands(one))
        return Proof(kind, names, True, f"the same command lines of {units} objects and programs but for {what}")
    more = f"\n  and {len(found) - FIRST} more" if len(found) > FIRST else ""
    listed = "".join(f"\n  {text}" for text in found[:FIRST])
    return Proof(kind, names, False, f"{names[0]} and {names[1]} should differ in {what} only, but:{listed}{more}")


def differences(one: Made, other: Made) -> Iterator[str]:
    """Yield a sentence for each object or program whose command lines differ beyond profile flags and those of BOLT."""
    commands = {made.name: _commands(made) for made in (one, other)}
    for unit in sorted({*commands[one.name], *commands[other.name]}):
        lines_of = {name: units[unit] for name, units in commands.items() if unit in units}
        absent = [name for name in commands if name not in lines_of]
        if absent:
            yield f"{unit}: not made by {absent[0]}"
        elif lines_of[one.name] != lines_of[other.name]:
            yield f"{unit}: {_difference(lines_of)}"


def _difference(lines_of: dict[str, frozenset[tuple[str, ...]]]) -> str:
    given = {name: [part for line in sorted(lines) for part in line] for name, lines in lines_of.items()}
    (one, first), (other, second) = given.items()
    only = {one: [part for part in first if part not in second], other: [part for part in second if part not in first]}
    texts = [f"only {name} has {' '.join(dict.fromkeys(parts))}" for name, parts in only.items() if parts]
    return "; ".join(texts) or "the same arguments in another order or number"


def _commands(made: Made) -> dict[str, frozenset[tuple[str, ...]]]:
    """Return object or program -> set of its command lines, without flags of profile, BOLT's input and trace."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for call in made.calls or ():
        found.setdefault(call.unit, set()).add(tuple(_kept(call.arguments)))
    return {unit: frozenset(lines) for unit, lines in found.items()}


def _kept(arguments: tuple[str, ...]) -> Iterator[str]:
    for place, argument in enumerate(arguments):
        following = arguments[place + 1] if place + 1 < len(arguments) else ""
        if argument in FOR_BOLT or PROFILE.match(argument) or (argument == "-mllvm" and PROFILE.match(following)):
            continue
        yield _steady(argument)


def demand(proofs: Iterable[Proof]) -> None:
    """Raise ValueError with all proofs that do not hold."""
    broken = [proof.text for proof in proofs if not proof.holds]
    if broken:
        raise ValueError("builds do not differ as declared:\n" + "\n".join(broken))
