"""The difference of two recipes: path, old and new value; a digest that differs is followed to the recipe behind it."""

import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from scripts.lib.json_record import Json

RecipeValues = dict[str, Json]
Path = tuple[str, ...]
# From a digest to the recipe it was made of, None where none is recorded.
Lookup = Callable[[str], RecipeValues | None]
LONGEST_VALUE = 40
SHA256 = re.compile("[0-9a-f]{64}")
# Two recipes with the same values of these keys describe two versions of one thing.
NAMING_KEYS = ("server", "build", "training", "dataset")


@dataclass(frozen=True)
class RecipeDifference:
    """One difference; `path` is dotted, the recipes it passes through included: `build.toolchain.version`.

    `old` and `new` are short texts; both are None where a digest differs and the recipe behind it was not recorded.
    """

    path: str
    old: str | None = None
    new: str | None = None


def differences(old: RecipeValues, new: RecipeValues, earlier: Lookup, planned: Lookup) -> tuple[RecipeDifference, ...]:
    """Return what differs between two recipes, the own values first; recipe numbers of the code stand last.

    `earlier` finds recipes behind digests in `old`, `planned` those behind digests in `new`. One edit reaches a recipe
    by several ways and is listed once. Digests without recorded recipes are listed only where nothing else differs.
    """
    listed: dict[tuple[str, str, str], RecipeDifference] = {}
    unrecorded: list[RecipeDifference] = []
    waiting: deque[tuple[Path, RecipeValues, RecipeValues]] = deque([((), old, new)])
    while waiting:
        prefix, before, after = waiting.popleft()
        for path, was, now in differing_values(before, after):
            if (behind := _linked(path)) is None:
                key = (path[-1], short_value(was), short_value(now))
                listed.setdefault(key, RecipeDifference(".".join((*prefix, *path)), *key[1:]))
            elif was and now:
                way, recipe, recipe_now = (*prefix, *behind), earlier(str(was)), planned(str(now))
                if recipe is None or recipe_now is None:
                    unrecorded.append(RecipeDifference(".".join(way)))
                elif _same_thing(recipe, recipe_now):
                    waiting.append((way, recipe, recipe_now))
    return tuple(sorted(listed.values(), key=lambda difference: difference.path.endswith("recipe")) or unrecorded)


def differing_values(old: Json, new: Json, path: Path = ()) -> Iterator[tuple[Path, Json, Json]]:
    """Yield (path, old, new) of the values that two recipes do not share; None stands for a missing one.

    Of a list of named mappings the names are compared, then the mappings that both lists have.
    """
    if old == new:
        return
    before, after = _named(old), _named(new)
    if before and after:
        if [*before] != [*after]:
            yield path, [*before], [*after]
        for name in (name for name in before if name in after):
            yield from differing_values(before[name], after[name], (*path, name))
    elif isinstance(old, dict | None) and isinstance(new, dict | None):
        for key in {**(old or {}), **(new or {})}:
            yield from differing_values((old or {}).get(key), (new or {}).get(key), (*path, key))
    else:
        yield path, old, new


def _named(value: Json) -> RecipeValues:
    """Return the mappings of a list by their names, nothing of another value."""
    items = [item for item in value if isinstance(item, dict) and "name" in item] if isinstance(value, list) else []
    return {str(item["name"]): item for item in items} if isinstance(value, list) and len(items) == len(value) else {}


def _linked(path: Path) -> Path | None:
    """Return the path of the thing that a digest at this path names, None for another value."""
    *way, key = path
    if key != "digest" and not key.endswith("_digest"):
        return None
    return (*way, *filter(None, [key.removesuffix("digest").removesuffix("_")]))


def _same_thing(old: RecipeValues, new: RecipeValues) -> bool:
    return all(old.get(key) == new.get(key) for key in NAMING_KEYS)


def short_value(value: Json) -> str:
    """Return a value as part of a line; checksums and long values are shortened."""
    match value:
        case _ if value in (None, "", [], {}):
            return "nothing"
        case bool():
            return str(value).lower()
        case list():
            text = " ".join(map(str, value))
        case dict():
            text = ", ".join(f"{key}: {short_value(part)}" for key, part in value.items())
        case str() if SHA256.fullmatch(value):
            return value[:12]
        case _:
            text = str(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"
