"""JSON objects as frozen dataclasses: a misspelt name is an error, a missing value is None."""

import types
import typing
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Self, TypeVar

T = TypeVar("T")


def per_class(function: Callable[[type], T]) -> Callable[[type], T]:
    """Return a function of a class that is computed once for each class."""
    return cache(function)


@dataclass(frozen=True, slots=True)
class Part:
    """An object of a record.

    A subclass declares its fields, each with a default for a missing or null value. The type of a field may be another
    Part, a named tuple that JSON has as a list, or a list or dict of these. A Part without any value is false.
    """

    def __bool__(self) -> bool:
        """Return whether any field has a value."""
        # Most parts of imported runs are empty, and equality is several times as fast as looking at each field.
        nothing, has_value = _without_facts(type(self))
        return has_value if self == nothing else any(_has_value(getattr(self, name)) for name in _names(type(self)))

    def values(self) -> dict[str, Any]:
        """Return field name -> value, in the order of declaration."""
        return {name: getattr(self, name) for name in _names(type(self))}

    def written_empty(self) -> Collection[str]:
        """Return the names of the fields that are written without a value as well; the default: all."""
        return _names(type(self))

    @classmethod
    def of(cls, facts: Mapping[str, Any], where: str = "record") -> Self:
        """Return the part that a JSON object holds; keys without a field are ignored.

        Raises TypeError naming the key, `where` it stands, of an inner object or list that is something else.
        """
        present = {name: kind for name, kind in _kinds(cls).items() if facts.get(name) is not None}
        return cls(**{name: _read(kind, facts[name], f"{where}.{name}") for name, kind in present.items()})

    @classmethod
    def unknown_keys(cls, facts: Mapping[str, Any], where: str = "record") -> Iterator[str]:
        """Yield the dotted names of the keys of a JSON object, and of the objects in it, that have no field."""
        kinds = _kinds(cls)
        for name, value in facts.items():
            yield from _unknown(kinds[name], value, f"{where}.{name}") if name in kinds else [f"{where}.{name}"]


@per_class
def _names(part: type) -> tuple[str, ...]:
    return tuple(declared.name for declared in fields(part))


@per_class
def _without_facts(part: type) -> tuple[Part, bool]:
    """Return the part whose fields all have their defaults, and whether one of them is a value."""
    nothing: Part = part()
    return nothing, any(_has_value(getattr(nothing, name)) for name in _names(part))


@per_class
def _kinds(part: type) -> dict[str, Any]:
    return {name: _without_none(kind) for name, kind in typing.get_type_hints(part).items()}


def _without_none(kind: Any) -> Any:
    """Return the kind of a value that may be None, of which there is only one."""
    kinds = [inner for inner in typing.get_args(kind) if inner is not types.NoneType]
    return kinds[0] if isinstance(kind, types.UnionType) and len(kinds) == 1 else kind


def _has_value(value: Any) -> bool:
    return bool(value) if isinstance(value, Part) else value is not None and value != {}


def _is_part(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Part)


def _is_row(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")


@cache
def _inner(kind: Any) -> tuple[type | None, Any]:
    """Return (dict or list, kind of its values) of a collection of Parts or rows, (None, None) of every other kind."""
    outer, inner = typing.get_origin(kind), (typing.get_args(kind) or (None,))[-1]
    holds_parts = outer in (dict, list) and (_is_part(inner) or _is_row(inner) or _inner(inner) != (None, None))
    return (outer, inner) if holds_parts else (None, None)


def _read(kind: Any, value: Any, where: str) -> Any:
    outer, inner = _inner(kind)
    if _is_part(kind):
        outer = dict
    if _is_row(kind):
        outer = list
    if outer is not None and not isinstance(value, outer):
        raise TypeError(f"{where}: {value!r}, expected {'an object' if outer is dict else 'a list'}")
    if _is_part(kind):
        return kind.of(value, where)
    if _is_row(kind):
        return _row(kind, value, where)
    if outer is dict:
        return {key: _read(inner, inner_value, f"{where}.{key}") for key, inner_value in value.items()}
    if outer is list:
        return [_read(inner, inner_value, f"{where}.{index}") for index, inner_value in enumerate(value)]
    return value


def _row(kind: Any, values: list[Any], where: str) -> Any:
    if len(values) != len(kind._fields):
        raise TypeError(f"{where}: {values!r}, expected {', '.join(kind._fields)}")
    return kind(*values)


def _unknown(kind: Any, value: Any, where: str) -> Iterator[str]:
    outer, inner = _inner(kind)
    if value is None:
        return
    if _is_part(kind):
        yield from kind.unknown_keys(value, where)
    elif outer is not None:
        for key, inner_value in value.items() if outer is dict else enumerate(value):
            yield from _unknown(inner, inner_value, f"{where}.{key}")
