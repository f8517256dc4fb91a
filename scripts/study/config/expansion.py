"""Expansion of a study: its matrix to variants, and its section `small` laid over the rest."""

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from itertools import combinations, product

from scripts.lib.json_record import Json
from scripts.study.config.mistakes import Mistake
from scripts.study.config.yaml_lines import Config, Document, KeyPath, at, mapping

MATRIX_SECTION, FACTORS = "matrix", "factors"
MOST_VARIANTS = 200
Levels = dict[str, str]


def matrix_levels(config: Config) -> dict[str, Levels]:
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


def _factors(config: Config) -> dict[str, Config]:
    """Return the levels by factor; none unless all factors are mappings."""
    factors = mapping(at(config, (MATRIX_SECTION, FACTORS)))
    levels_of = {factor: mapping(levels) for factor, levels in factors.items() if isinstance(levels, dict)}
    return levels_of if len(levels_of) == len(factors) else {}


def expanded_matrix(config: Config) -> Config:
    """Return the config with the matrix's variants beside those it has: the matrix's keys, a level's options on top."""
    combined: Config = {variant: _variant(config, levels) for variant, levels in matrix_levels(config).items()}
    declared = config.get("variants", {})
    return {**config, "variants": {**declared, **combined}} if combined and isinstance(declared, dict) else config


def _variant(config: Config, levels: Levels) -> Config:
    base = {key: value for key, value in mapping(config[MATRIX_SECTION]).items() if key != FACTORS}
    parts = [base.get("options"), *(_factors(config)[factor][level] for factor, level in levels.items())]
    options: Config = {name: value for part in parts for name, value in mapping(part).items()}
    return {**base, **({"options": options} if options else {})}


def origin_of(config: Config, path: KeyPath) -> KeyPath:
    """Return the key path in the config as written of a key path in the expanded config."""
    return path if at(config, path[:2]) is not None else written_at(config, path)


def written_at(config: Config, path: KeyPath) -> KeyPath:
    """Return the matrix's key path behind a key path of one of its variants; other paths unchanged."""
    levels = matrix_levels(config).get(str(path[1])) if len(path) > 1 and path[0] == "variants" else None
    if levels is None:
        return path
    if path[2:3] == ("options",):
        for factor, level in levels.items():
            if path[3:4] and path[3] in mapping(_factors(config)[factor][level]):
                return (MATRIX_SECTION, FACTORS, factor, level, *path[3:])
    return (MATRIX_SECTION, *path[2:])


def matrix_mistakes(config: Config) -> Iterator[Mistake]:
    """Yield names used twice, options that two factors set, and too many combinations."""
    factors = _factors(config)
    where = (MATRIX_SECTION, FACTORS)
    for (first, levels), (second, other) in combinations(factors.items(), 2):
        for level in levels.keys() & other.keys():
            yield Mistake(
                (*where, second, level), f"{first} has a level of this name, too; variants are named after levels"
            )
        for option in _set_by(levels) & _set_by(other):
            yield Mistake((*where, second), f"sets {option}, as {first} does, and only one of them can")
    if (count := math.prod(map(len, factors.values()))) > MOST_VARIANTS:
        yield Mistake(where, f"{count} combinations, expected at most {MOST_VARIANTS}")
    for name in matrix_levels(config).keys() & mapping(config.get("variants")).keys():
        yield Mistake(("variants", name), "the matrix makes a variant of this name, too; rename or remove this one")


def _set_by(levels: Config) -> set[str]:
    return {option for level in levels.values() for option in mapping(level)}


SCALE, FULL, SMALL = "scale", "full", "small"
Setting = tuple[KeyPath, Json, Json]


def asked_scale(config: Config) -> str:
    """Return the scale a config asks for."""
    return SMALL if config.get(SCALE) == SMALL else FULL


def declared_scales(config: Config) -> tuple[str, ...]:
    """Return the scales a config has, or asks for."""
    return (FULL, SMALL) if isinstance(config.get(SMALL), dict) or asked_scale(config) == SMALL else (FULL,)


def scale_mistakes(config: Config) -> Iterator[Mistake]:
    """Yield a mistake if the study lacks the scale it asks for."""
    if asked_scale(config) == SMALL and SMALL not in config:
        yield Mistake((SCALE,), "'small', but the study has no key `small` that says what is smaller")


def states_key(small: Json, path: KeyPath) -> bool:
    """Return whether the section `small` has a value at a key path."""
    return bool(path) and (path[-1] in mapping(at(small, path[:-1])) or at(small, path) is not None)


def scaled(config: Config, documents: tuple[Document, ...]) -> Config:
    """Return the config at its small scale, under a name of its own; mappings merge, other values replace.

    Values of `--config` are kept: those that differ from the config files `documents`.
    """
    over = config.get(SMALL)
    if not isinstance(over, dict) or not isinstance(config.get("study"), str):
        return config
    # The content of all config files, a later one wins.
    written: Json = reduce(_merged, [document.value for document in documents]) if documents else config
    return {**mapping(_overlaid(config, over, written)), "study": f"{config['study']}-{SMALL}"}


def _overlaid(under: Json, over: Json, written: Json) -> Json:
    if isinstance(under, dict) and isinstance(over, dict):
        files = mapping(written)
        return {**under, **{key: _overlaid(under.get(key), value, files.get(key)) for key, value in over.items()}}
    return over if under == written else under


def _merged(under: Json, over: Json) -> Json:
    if isinstance(under, dict) and isinstance(over, dict):
        return {**under, **{key: _merged(under.get(key), value) for key, value in over.items()}}
    return over


def scale_settings(full: Config, small: Config) -> list[Setting]:
    """Return (key path, full, small) of every setting that the section `small` changes; None where it is not set.

    Both hold a config and its entries, the catalog's under them.
    """
    return [
        (path, at(full, path), at(small, path))
        for path in _leaves(mapping(small.get(SMALL)))
        if at(full, path) != at(small, path)
    ]


def _leaves(part: Config, path: KeyPath = ()) -> Iterator[KeyPath]:
    for key, value in part.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, (*path, key))
        else:
            yield (*path, key)
