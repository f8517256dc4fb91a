"""How large a config may be. What people and programs write is far below; what is above would only stop the machine."""

from collections.abc import Callable, Iterable
from typing import Any

import yaml

FILE_MIB_MAX = 1
# The deepest key there is, servers.NAME.sources.0.url.0, has six parts.
DEPTH_MAX = 20
# A thousand variants with their options are 15 000.
VALUES_MAX = 30_000
EXPECTED = "expected a study: lines of `key: value`, as in config.yaml"


class TooMuch(ValueError):
    """A config that is too deep or too large."""


def bounded(root: Any, inner: Callable[[Any], Iterable[Any]]) -> Any:
    """Return a tree that is neither too deep nor too large; `inner` gives the parts of a node. Else raises TooMuch.

    What is meant twice counts twice: a few lines of YAML aliases can stand for more than any memory holds, or for
    themselves.
    """
    left, seen = [(root, 0)], 0
    while left:
        node, depth = left.pop()
        seen += 1
        if depth > DEPTH_MAX:
            raise TooMuch(f"is nested more than {DEPTH_MAX} deep, {EXPECTED}")
        if seen > VALUES_MAX:
            raise TooMuch(f"holds more than {VALUES_MAX} keys and values, aliases counted at each use; expected fewer")
        left += [(part, depth + 1) for part in inner(node)]
    return root


def parts(value: Any) -> Iterable[Any]:
    """Return what a value holds; of a mapping also its keys."""
    if isinstance(value, dict):
        return [*value, *value.values()]
    return value if isinstance(value, list) else ()


def node_parts(node: yaml.Node | None) -> list[yaml.Node]:
    """Return what a node of YAML holds; of a mapping also its keys."""
    match node:
        case yaml.MappingNode():
            return [part for pair in node.value for part in pair]
        case yaml.SequenceNode():
            return node.value
    return []


def story(node: yaml.Node | None, error: Exception) -> str:
    """Return what to say behind a file's name of an error that reading its values met: line, if one is, and why."""
    match error:
        case TooMuch():
            return f": {error}"
        case RecursionError():
            return f": is nested too deep, {EXPECTED}"
    return f":{_unreadable(node)}: this is not YAML: {error}"


def _unreadable(node: yaml.Node | None) -> int:
    """Return the line of the first value that is not what it looks like, such as a day that no month has."""
    left = [node]
    while left:
        one = left.pop()
        if isinstance(one, yaml.ScalarNode):
            try:
                yaml.SafeLoader("").construct_object(one)
            except (ValueError, OverflowError):
                return one.start_mark.line + 1
        left += reversed(node_parts(one))
    return 1
