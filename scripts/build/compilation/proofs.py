"""Proofs between builds of one server: they differ where they should, and only in what was declared."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from scripts.build.compilation.compiler_calls import CompilerCall
from scripts.build.compilation.compiler_flags import COMPILERS, RELOCATIONS
from scripts.lib.build_records import BuildFacts, Proof
from scripts.lib.json_record import canonical
from scripts.lib.recipe_models import StageKind

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
class Made:
    """A build: its facts, and the compiler's calls, None if it was not compiled."""

    facts: BuildFacts
    calls: tuple[CompilerCall, ...] | None

    @property
    def name(self) -> str:
        """Return the build's name."""
        return self.facts.build

    @property
    def stage(self) -> StageKind:
        """Return how it was made."""
        return StageKind(self.facts.stage or "")


def prove(builds: Iterable[Made]) -> list[Proof]:
    """Return all proofs between the builds of one server, stages included."""
    pairs = [Pair(*two) for two in combinations(sorted(builds, key=lambda build: build.name), 2)]
    return [proof for pair in pairs for proof in (pair.machine_code(), pair.same_but()) if proof]


def declared(facts: BuildFacts, without_profile: bool = False) -> str:
    """Return the declared flags of a build as text to compare, without those that BOLT needs in its input."""
    stage_flags = FOR_BOLT if facts.stage == StageKind.RELOCATABLE else set()
    shown = {
        key: [_steady(flag) for flag in facts.flags.values()[key] or [] if flag not in stage_flags]
        for key in ("common", "lto", "link", *(() if without_profile else ("profile",)))
    }
    bolt = [facts.bolt.input_build, facts.bolt.arguments]
    return canonical({**shown, "toolchain": [facts.toolchain.name, facts.toolchain.version], "bolt": bolt})


def _steady(argument: str) -> str:
    """Return an argument without its number of jobs."""
    return JOBS.sub(r"\1", argument)


@dataclass(frozen=True)
class Pair:
    """Two builds of one server."""

    first: Made
    second: Made

    @property
    def both(self) -> tuple[Made, Made]:
        """Return the two builds."""
        return self.first, self.second

    def declared_alike(self, without_profile: bool = False) -> bool:
        """Return whether both have the same declared flags, but for those of their profile."""
        return declared(self.first.facts, without_profile) == declared(self.second.facts, without_profile)

    def proof(self, kind: str, holds: bool, text: str) -> Proof:
        """Return a proof about the two."""
        return Proof(None, kind, tuple(build.name for build in self.both), holds, text)

    def machine_code(self) -> Proof | None:
        """Compare the machine code of two measured builds that are declared to differ."""
        if any(build.stage.is_stage or build.stage == StageKind.PREBUILT for build in self.both):
            return None
        if self.declared_alike():
            return None
        first, second = (str(build.facts.text_sha256) for build in self.both)
        if first != second:
            return self.proof("machine_code", True, f"different machine code (.text {first[:12]} and {second[:12]})")
        names = " and ".join(build.name for build in self.both)
        text = f"{names} are declared to differ but have the same machine code (.text {first[:12]})"
        return self.proof("machine_code", False, text)

    def same_but(self) -> Proof | None:
        """Compare two compiled builds of which one has another profile, or only what BOLT needs."""
        stages = {build.stage for build in self.both}
        if self.first.calls is None or self.second.calls is None or not stages <= COMPARED_BY_CALLS:
            return None
        if StageKind.RELOCATABLE in stages:
            alone = stages != {StageKind.RELOCATABLE} and self.declared_alike()
            return self.compared("bolt_only", "what BOLT needs of its input") if alone else None
        if self.declared_alike() or not self.declared_alike(without_profile=True):
            return None
        return self.compared("profile_only", "profile")

    def compared(self, kind: str, what: str) -> Proof:
        """Compare the command lines of two builds that should differ in `what` only."""
        differing = list(differences(*self.both))
        if not differing:
            units = len(_commands(self.first))
            return self.proof(kind, True, f"the same command lines of {units} objects and programs but for {what}")
        more = f"\n  and {len(differing) - FIRST} more" if len(differing) > FIRST else ""
        listed = "".join(f"\n  {text}" for text in differing[:FIRST])
        names = " and ".join(build.name for build in self.both)
        return self.proof(kind, False, f"{names} should differ in {what} only, but:{listed}{more}")


def differences(first: Made, second: Made) -> Iterator[str]:
    """Yield a sentence for each object or program whose command lines differ beyond profile flags and those of BOLT."""
    commands = {build.name: _commands(build) for build in (first, second)}
    for unit in sorted({*commands[first.name], *commands[second.name]}):
        lines_of = {name: units[unit] for name, units in commands.items() if unit in units}
        absent = [name for name in commands if name not in lines_of]
        if absent:
            yield f"{unit}: not made by {absent[0]}"
        elif lines_of[first.name] != lines_of[second.name]:
            yield f"{unit}: {_difference(lines_of)}"


def _difference(lines_of: dict[str, frozenset[tuple[str, ...]]]) -> str:
    words = {name: [part for line in sorted(lines) for part in line] for name, lines in lines_of.items()}
    others = dict(zip(words, reversed(words.values()), strict=True))
    only = {name: [part for part in parts if part not in others[name]] for name, parts in words.items()}
    texts = [f"only {name} has {' '.join(dict.fromkeys(parts))}" for name, parts in only.items() if parts]
    return "; ".join(texts) or "the same arguments in another order or number"


def _commands(build: Made) -> dict[str, frozenset[tuple[str, ...]]]:
    """Return object or program -> set of its command lines, without flags of profile, BOLT's input and trace."""
    lines: dict[str, set[tuple[str, ...]]] = {}
    for call in build.calls or ():
        lines.setdefault(call.unit, set()).add(tuple(_compared_words(call.arguments)))
    return {unit: frozenset(of_unit) for unit, of_unit in lines.items()}


def _compared_words(arguments: tuple[str, ...]) -> Iterator[str]:
    for argument, following in zip(arguments, (*arguments[1:], ""), strict=True):
        if argument in FOR_BOLT or PROFILE.match(argument) or (argument == "-mllvm" and PROFILE.match(following)):
            continue
        yield _steady(argument)


def demand(proofs: Iterable[Proof]) -> None:
    """Raise ValueError with all proofs that do not hold."""
    broken = [proof.text for proof in proofs if not proof.holds]
    if broken:
        raise ValueError("builds do not differ as declared:\n" + "\n".join(broken))
