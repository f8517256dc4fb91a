"""The small scale of a study: its section `small` laid over the rest of it, and what that changes."""

from collections.abc import Iterator
from typing import Any

from scripts.config_mistakes import Mistake
from scripts.config_text import Document, KeyPath, at

SCALE, FULL, SMALL = "scale", "full", "small"
Setting = tuple[KeyPath, Any, Any]


def asked(config: dict[str, Any]) -> str:
    """Return the scale a config asks for."""
    return SMALL if config.get(SCALE) == SMALL else FULL


def sizes(config: dict[str, Any]) -> tuple[str, ...]:
    """Return the scales a config has, or asks for."""
    return (FULL, SMALL) if isinstance(config.get(SMALL), dict) or asked(config) == SMALL else (FULL,)


def mistakes(config: dict[str, Any]) -> Iterator[Mistake]:
    """Find a scale that the study does not have."""
    if asked(config) == SMALL and SMALL not in config:
        yield Mistake((SCALE,), "'small', but the study has no key `small` that says what is smaller")


def says(small: Any, path: KeyPath) -> bool:
    """Tell whether the section `small` has something at a key path."""
    parent = at(small, path[:-1])
    return bool(path) and ((isinstance(parent, dict) and path[-1] in parent) or at(small, path) is not None)


def laid(config: dict[str, Any], documents: tuple[Document, ...]) -> dict[str, Any]:
    """Return the config at its small scale, under a name of its own; mappings merge, other values replace.

    What `--config` gives stays: it is what differs from the config files `documents`.
    """
    over = config.get(SMALL)
    if not isinstance(over, dict) or not isinstance(config.get("study"), str):
        return config
    return {**_laid(config, over, _written(config, documents)), "study": f"{config['study']}-{SMALL}"}


def _laid(under: Any, over: Any, written: Any) -> Any:
    if isinstance(under, dict) and isinstance(over, dict):
        known = written if isinstance(written, dict) else {}
        return {**under, **{key: _laid(under.get(key), value, known.get(key)) for key, value in over.items()}}
    return over if under == written else under


def _written(config: dict[str, Any], documents: tuple[Document, ...]) -> dict[str, Any]:
    """Return the content of all config files, a later one wins; of a template only what became of it is known."""
    if not documents or any(document.is_template for document in documents):
        return config
    merged: dict[str, Any] = {}
    for document in documents:
        merged = _merged(merged, document.value)
    return merged


def _merged(under: Any, over: Any) -> Any:
    if isinstance(under, dict) and isinstance(over, dict):
        return {**under, **{key: _merged(under.get(key), value) for key, value in over.items()}}
    return over


def settings(full: dict[str, Any], small: dict[str, Any]) -> list[Setting]:
    """Return (key path, full, small) of every setting that the section `small` changes; None is said nowhere.

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
