"""What differs between the sources a server declares and those that were fetched for it."""

from typing import Any

Values = tuple[Any, Any]


def against(recipe: dict[str, Any], first_kind: str, known: dict[str, Any]) -> dict[str, Values]:
    """Return key -> (fetched, declared) of what of a source recipe the record `known` of fetched sources contradicts.

    The recipe's checksum is that of the first of the declared sources, whose kind is `first_kind`; what was fetched
    from another kind has none to compare.
    """
    sums = {file["sha256"] for file in known.get("files", [])}
    found = {
        key: (known.get(key), value) for key, value in recipe.items() if key != "sha256" and known.get(key) != value
    }
    stated = recipe.get("sha256")
    if stated and known.get("kind") == first_kind and stated.lower() not in sums:
        found["sha256"] = (next(iter(sorted(sums)), None), stated)
    return found
