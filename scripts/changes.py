"""Differences between two recipes as changes of the keys that say so in a config file."""

from dataclasses import dataclass
from typing import Any

Recipe = dict[str, Any]
Values = tuple[Any, Any]
Path = tuple[str, ...]
# Path in a recipe, `*` for any last part -> kind and key of the change; names are filled in, `{key}` is the last part.
Keys = dict[Path, tuple[str, str]]
LONGEST_VALUE = 40
WHOLE = ("placement",)


@dataclass(frozen=True, order=True)
class Change:
    """One difference; `kind` is config, source, toolchain, script, code, or unknown where a recipe was not recorded."""

    kind: str
    key: str
    old: str = ""
    new: str = ""


def shown(value: Any) -> str:
    """Return a value as a line can hold it."""
    if value in (None, "", [], {}):
        return "nothing"
    match value:
        case bool():
            return str(value).lower()
        case list():
            text = " ".join(map(str, value))
        case dict():
            text = ", ".join(f"{key}: {shown(part)}" for key, part in value.items())
        case _:
            text = str(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def leaves(value: Any, path: Path = ()) -> dict[Path, Any]:
    """Return path -> value of everything in a recipe that is no mapping."""
    if not isinstance(value, dict) or not value or path == WHOLE:
        return {path: value}
    return {found: leaf for key, part in value.items() for found, leaf in leaves(part, (*path, key)).items()}


def differing(old: Recipe, new: Recipe) -> dict[Path, Values]:
    """Return path -> (old, new) of the leaves that two recipes do not share."""
    before, after = leaves(old), leaves(new)
    return {
        path: (before.get(path), after.get(path))
        for path in sorted({*before, *after})
        if before.get(path) != after.get(path)
    }


def keyed(moved: dict[Path, Values], keys: Keys, **names: str) -> set[Change]:
    """Return the changes of those leaves that have a key; the others follow from what a recipe stands on."""
    found = set()
    for path, values in moved.items():
        if chosen := keys.get(path) or keys.get((*path[:-1], "*")):
            found.add(Change(chosen[0], chosen[1].format(key=path[-1], **names), *map(shown, values)))
    return found


def known(found: set[Change]) -> set[Change]:
    """Leave out what is not known where something else is: it says why already."""
    told = {change for change in found if change.kind != "unknown"}
    return told or found
