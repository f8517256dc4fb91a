"""Which variants tell what a factor of a build does: those of one server whose builds differ in that factor only."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

from scripts.comparison import AA
from scripts.record import canonical

SAID = ("profile", "lto", "bolt", "flags", "debug_information", "toolchain")
PAIR = ("profile", "lto")
NAMES = {"lto": "LTO", "profile": "PGO", "bolt": "BOLT", "debug_information": "debug information"}
ALONE, TOGETHER, ON_TOP = range(3)


@dataclass(frozen=True)
class Contrast:
    """A sum of logs of variants' values: `terms` holds each variant with its sign, `rank` where it is shown."""

    factor: str
    formula: str
    server: str
    terms: tuple[tuple[str, int], ...]
    rank: tuple[int, int]


@dataclass(frozen=True)
class Arm:
    """One variant with the factors of its build; a factor it does not have is None."""

    variant: str
    server: str
    factors: dict[str, Any]

    def without(self, *names: str) -> dict[str, Any]:
        """Return the factors that are not named."""
        return {name: value for name, value in self.factors.items() if name not in names}

    def has(self, *names: str) -> tuple[bool, ...]:
        """Tell of each named factor whether the build has it."""
        return tuple(self.factors[name] is not None for name in names)


def groups(study: dict[str, Any]) -> list[list[Arm]]:
    """Return the variants with one server, the same options and storage, and a build whose factors are known.

    A build made elsewhere or with the published recipe differs in more than its factors and is left out, as is A/A.
    """
    found: dict[str, list[Arm]] = {}
    for name, arm in study["variants"].items():
        build = (study.get("builds") or {}).get(arm["build"]) or {}
        if name == AA or not build.get("toolchain") or build.get("published"):
            continue
        factors = {factor: build.get(factor) or None for factor in SAID}
        factors["flags"] = " ".join(build.get("flags") or []) or None
        factors["bolt"] = ", ".join(filter(None, (build.get("bolt"), build.get("bolt_toolchain")))) or None
        setting = canonical([arm["server"], arm.get("options") or {}, arm.get("storage")])
        found.setdefault(setting, []).append(Arm(name, arm["server"], factors))
    return list(found.values())


def contrasts(study: dict[str, Any]) -> list[Contrast]:
    """Return what can be said about factors: each alone, PGO with LTO, and each on top of others, in this order."""
    found = [each for group in groups(study) for each in (*_steps(group), *_together(group))]
    return sorted(found, key=lambda contrast: contrast.rank)


def _steps(group: list[Arm]) -> Iterator[Contrast]:
    """Yield the quotient of every two arms that differ in one factor: with it over without, else later over earlier."""
    for first, second in combinations(group, 2):
        differing = [name for name in SAID if first.factors[name] != second.factors[name]]
        if len(differing) == 1:
            factor = differing[0]
            lower, upper = (second, first) if second.factors[factor] is None else (first, second)
            base = _said(lower, group, without=factor)
            rank = (ON_TOP if base else ALONE, SAID.index(factor))
            yield _quotient(_step(factor, lower, upper, base, group), upper, lower, rank)


def _step(factor: str, lower: Arm, upper: Arm, base: str, group: list[Arm]) -> str:
    """Return what a step is called: PGO alone, PGO on top of LTO, clang-16 instead of gcc-12, with PGO."""
    name = _name(factor, upper, group)
    if lower.factors[factor] is None:
        return f"{name} on top of {base}" if base else f"{name} alone"
    changed = f"{name} instead of {_name(factor, lower, group)}"
    return f"{changed}, with {base}" if base else changed


def _together(group: list[Arm]) -> Iterator[Contrast]:
    """Yield PGO and LTO together over neither, and how much more or less that is than the product of each alone."""
    for lower, both in permutations(group, 2):
        if both.without(*PAIR) != lower.without(*PAIR) or lower.has(*PAIR) != (False, False):
            continue
        if both.has(*PAIR) != (True, True):
            continue
        base = _said(lower, group)
        names = f"{_name('profile', both, group)} and LTO"
        yield _quotient(f"{names} on top of {base}" if base else names, both, lower, (TOGETHER, 0))
        wanted = [{**lower.factors, name: both.factors[name]} for name in PAIR]
        alone = [next((arm for arm in group if arm.factors == factors), None) for factors in wanted]
        if all(alone):
            yield _interaction(f"{names}, with {base}" if base else names, both, lower, alone)


def _quotient(label: str, upper: Arm, lower: Arm, rank: tuple[int, int]) -> Contrast:
    terms = ((upper.variant, 1), (lower.variant, -1))
    return Contrast(label, f"{upper.variant} / {lower.variant}", lower.server, terms, rank)


def _interaction(names: str, both: Arm, neither: Arm, alone: list[Arm]) -> Contrast:
    terms = ((both.variant, 1), (neither.variant, 1), *((arm.variant, -1) for arm in alone))
    formula = f"{both.variant} · {neither.variant} / ({alone[0].variant} · {alone[1].variant})"
    return Contrast(f"interaction of {names}", formula, both.server, terms, (TOGETHER, 1))


def _name(factor: str, arm: Arm, group: list[Arm]) -> str:
    """Return a factor's name; its value too where the group has several: PGO (read)."""
    value = arm.factors[factor]
    if factor not in NAMES:
        return str(value)
    several = len({other.factors[factor] for other in group} - {None}) > 1
    return f"{NAMES[factor]} ({value})" if several else NAMES[factor]


def _said(arm: Arm, group: list[Arm], without: str = "") -> str:
    """Return the factors an arm has: `PGO + LTO`; the toolchain only where it is not the group's first."""
    usual = {"toolchain": group[0].factors["toolchain"]}
    kept = [name for name in SAID if name != without and arm.factors[name] not in (None, usual.get(name))]
    return " + ".join(_name(name, arm, group) for name in kept)
