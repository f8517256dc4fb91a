"""Expansion of a study: its matrix to variants, and its section `small` laid over the rest."""

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations, product
from typing import Any

from scripts.study.config.mistakes import Mistake
from scripts.study.config.yaml_lines import Document, KeyPath, at

MATRIX_SECTION, FACTORS = "matrix", "factors"
MOST_VARIANTS = 200
Levels = dict[str, str]


def matrix_levels(config: dict[str, Any]) -> dict[str, Levels]:
    """Return variant -> {factor: level} of every combination; the last factor changes first, as in a table.

    Empty without a matrix, or with one that cannot be expanded.
    """
    factors = _factors(config)
    if not factors or not math.prod(map(len, factors.values())) <= MOST_VARIANTS:
        return {}
    return combinations_of(factors)


def combinations_of(factors: Mapping[str, Iterable[str]]) -> dict[str, Levels]:
    """Return variant -> {factor: level} of every combination of the levels of factors."""
    combinations = product(*factors.values())
    return {".".join(map(str, levels)): dict(zip(factors, levels, strict=True)) for levels in combinations}


def _factors(config: dict[str, Any]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the levels by factor as far as they are mappings."""
    section = config.get(MATRIX_SECTION)
    factors = section.get(FACTORS) if isinstance(section, dict) else None
    if isinstance(factors, dict) and all(isinstance(levels, dict) for levels in factors.values()):
        return factors
    return {}


def expanded_matrix(config: dict[str, Any]) -> dict[str, Any]:
    """Return the config with the matrix's variants beside those it has: the matrix's keys, a level's options on top."""
    made = {variant: _variant(config, levels) for variant, levels in matrix_levels(config).items()}
    own = config.get("variants", {})
    return {**config, "variants": {**own, **made}} if made and isinstance(own, dict) else config


def _variant(config: dict[str, Any], levels: Levels) -> dict[str, Any]:
    base = {key: value for key, value in config[MATRIX_SECTION].items() if key != FACTORS}
    parts = [base.get("options"), *(config[MATRIX_SECTION][FACTORS][factor][level] for factor, level in levels.items())]
    options = {name: value for part in parts if isinstance(part, dict) for name, value in part.items()}
    return {**base, **({"options": options} if options else {})}


def origin_of(config: dict[str, Any], path: KeyPath) -> KeyPath:
    """Return the key path in the config as written of a key path in the expanded config."""
    return path if at(config, path[:2]) is not None else written_at(config, path)


def written_at(config: dict[str, Any], path: KeyPath) -> KeyPath:
    """Return the matrix's key path behind a key path of one of its variants; other paths unchanged."""
    levels = matrix_levels(config).get(path[1]) if len(path) > 1 and path[0] == "variants" else None
    if levels is None:
        return path
    if path[2:3] == ("options",):
        for factor, level in levels.items():
            own = config[MATRIX_SECTION][FACTORS][factor][level]
            if isinstance(own, dict) and path[3:4] and path[3] in own:
                return (MATRIX_SECTION, FACTORS, factor, level, *path[3:])
    return (MATRIX_SECTION, *path[2:])


def matrix_mistakes(config: dict[str, Any]) -> Iterator[Mistake]:
    """Yield names used twice, options that two factors set, and too many combinations."""
    factors, own = _factors(config), config.get("variants")
    where = (MATRIX_SECTION, FACTORS)
    for (first, one), (second, other) in combinations(factors.items(), 2):
        for level in one.keys() & other.keys():
            yield Mistake(
                (*where, second, level), f"{first} has a level of this name, too; variants are named after levels"
            )
        for option in _set_by(one) & _set_by(other):
            yield Mistake((*where, second), f"sets {option}, as {first} does, and only one of them can")
    if (count := math.prod(map(len, factors.values()))) > MOST_VARIANTS:
        yield Mistake(where, f"{count} combinations, expected at most {MOST_VARIANTS}")
    for name in matrix_levels(config).keys() & (own if isinstance(own, dict) else {}).keys():
        yield Mistake(("variants", name), "the matrix makes a variant of this name, too; rename or remove this one")


def _set_by(levels: dict[str, Any]) -> set[str]:
    return {option for level in levels.values() if isinstance(level, dict) for option in level}


SCALE, FULL, SMALL = "scale", "full", "small"
Setting = tuple[KeyPath, Any, Any]


def asked_scale(config: dict[str, Any]) -> str:
    """Return the scale a config asks for."""
    return SMALL if config.get(SCALE) == SMALL else FULL


def declared_scales(config: dict[str, Any]) -> tuple[str, ...]:
    """Return the scales a config has, or asks for."""
    return (FULL, SMALL) if isinstance(config.get(SMALL), dict) or asked_scale(config) == SMALL else (FULL,)


def scale_mistakes(config: dict[str, Any]) -> Iterator[Mistake]:
    """Yield a mistake if the study lacks the scale it asks for."""
    if asked_scale(config) == SMALL and SMALL not in config:
        yield Mistake((SCALE,), "'small', but the study has no key `small` that says what is smaller")


def states_key(small: Any, path: KeyPath) -> bool:
    """Return whether the section `small` has a value at a key path."""
    parent = at(small, path[:-1])
    return bool(path) and ((isinstance(parent, dict) and path[-1] in parent) or at(small, path) is not None)


def scaled(config: dict[str, Any], documents: tuple[Document, ...]) -> dict[str, Any]:
    """Return the config at its small scale, under a name of its own; mappings merge, other values replace.

    Values of `--config` are kept: those that differ from the config files `documents`.
    """
    over = config.get(SMALL)
    if not isinstance(over, dict) or not isinstance(config.get("study"), str):
        return config
    return {**_overlaid(config, over, _written_scale(config, documents)), "study": f"{config['study']}-{SMALL}"}


def _overlaid(under: Any, over: Any, written: Any) -> Any:
    if isinstance(under, dict) and isinstance(over, dict):
        known = written if isinstance(written, dict) else {}
        return {**under, **{key: _overlaid(under.get(key), value, known.get(key)) for key, value in over.items()}}
    return over if under == written else under


def _written_scale(config: dict[str, Any], documents: tuple[Document, ...]) -> dict[str, Any]:
    """Return the merged content of all config files, a later one wins; without files the config itself."""
    if not documents:
        return config
    merged: dict[str, Any] = {}
    for document in documents:
        merged = _merged_scale(merged, document.value)
    return merged


def _merged_scale(under: Any, over: Any) -> Any:
    if isinstance(under, dict) and isinstance(over, dict):
        return {**under, **{key: _merged_scale(under.get(key), value) for key, value in over.items()}}
    return over


def scale_settings(full: dict[str, Any], small: dict[str, Any]) -> list[Setting]:
    """Return (key path, full, small) of every setting that the section `small` changes; None where it is not set.

    Both hold a config and its entries, the catalog's under them.
    """
    return [
        (path, at(full, path), at(small, path))
        for path in _leaves(small.get(SMALL) or {})
        if at(full, path) != at(small, path)
    ]


def _leaves(part: dict[str, Any], path: KeyPath = ()) -> Iterator[KeyPath]:
    for key, value in part.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, (*path, key))
        else:
            yield (*path, key)
