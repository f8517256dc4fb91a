"""The matrix of a study: factors whose levels are combined into variants, each with each."""

import math
from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

from scripts.config_mistakes import Mistake
from scripts.config_text import KeyPath, at

SECTION, FACTORS = "matrix", "factors"
MOST_VARIANTS = 200
Levels = dict[str, str]


def arms(config: dict[str, Any]) -> dict[str, Levels]:
    """Return variant -> {factor: level} of every combination; the last factor changes first, as in a table.

    Nothing where there is no matrix, or none that can be expanded.
    """
    factors = _factors(config)
    if not factors or not math.prod(map(len, factors.values())) <= MOST_VARIANTS:
        return {}
    found = product(*factors.values())
    return {".".join(map(str, levels)): dict(zip(factors, levels, strict=True)) for levels in found}


def _factors(config: dict[str, Any]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the levels by factor as far as they are mappings."""
    section = config.get(SECTION)
    factors = section.get(FACTORS) if isinstance(section, dict) else None
    whole = isinstance(factors, dict) and all(isinstance(levels, dict) for levels in factors.values())
    return factors if whole else {}


def expanded(config: dict[str, Any]) -> dict[str, Any]:
    """Return the config with the matrix's variants beside those it has: the matrix's keys, a level's options on top."""
    made = {variant: _variant(config, levels) for variant, levels in arms(config).items()}
    own = config.get("variants", {})
    return {**config, "variants": {**own, **made}} if made and isinstance(own, dict) else config


def _variant(config: dict[str, Any], levels: Levels) -> dict[str, Any]:
    base = {key: value for key, value in config[SECTION].items() if key != FACTORS}
    parts = [base.get("options"), *(config[SECTION][FACTORS][factor][level] for factor, level in levels.items())]
    options = {name: value for part in parts if isinstance(part, dict) for name, value in part.items()}
    return {**base, **({"options": options} if options else {})}


def origin(config: dict[str, Any], path: KeyPath) -> KeyPath:
    """Return where a config that is not expanded says what stands at a key path; other paths as they are."""
    return path if at(config, path[:2]) is not None else written(config, path)


def written(config: dict[str, Any], path: KeyPath) -> KeyPath:
    """Return where the matrix says what stands at a key path of one of its variants; other paths as they are."""
    levels = arms(config).get(path[1]) if len(path) > 1 and path[0] == "variants" else None
    if levels is None:
        return path
    if path[2:3] == ("options",):
        for factor, level in levels.items():
            own = config[SECTION][FACTORS][factor][level]
            if isinstance(own, dict) and path[3:4] and path[3] in own:
                return (SECTION, FACTORS, factor, level, *path[3:])
    return (SECTION, *path[2:])


def mistakes(config: dict[str, Any]) -> Iterator[Mistake]:
    """Find what makes levels ambiguous: names used twice, options that two factors set, too many combinations."""
    factors, own = _factors(config), config.get("variants")
    where = (SECTION, FACTORS)
    for (first, one), (second, other) in combinations(factors.items(), 2):
        for level in one.keys() & other.keys():
            yield Mistake((*where, second, level), f"{first} has a level of this name, too; variants are told by them")
        for option in _set_by(one) & _set_by(other):
            yield Mistake((*where, second), f"sets {option}, as {first} does, and only one of them can")
    if (count := math.prod(map(len, factors.values()))) > MOST_VARIANTS:
        yield Mistake(where, f"{count} combinations, expected at most {MOST_VARIANTS}")
    for name in arms(config).keys() & (own if isinstance(own, dict) else {}).keys():
        yield Mistake(("variants", name), "the matrix makes a variant of this name, too; rename or remove this one")


def _set_by(levels: dict[str, Any]) -> set[str]:
    return {option for level in levels.values() if isinstance(level, dict) for option in level}
