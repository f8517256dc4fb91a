"""What the columns of one run hold that its record does not hold as such."""

from typing import Any


def fact(facts: dict[str, Any], where: str) -> Any:
    """Return the value at a dotted path, None when it or anything on the way is missing."""
    value: Any = facts
    for key in where.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value
