"""JSON objects as frozen dataclasses: parts of records, read leniently, and parts of recipes, read strictly."""

import types
import typing
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from enum import StrEnum
from functools import cache
from typing import Self, TypeVar

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
T = TypeVar("T")
# Makes a value of the type of a field from JSON; the text says where it stands.
Reader = Callable[[typing.Any, str], object]
NEUTRAL: tuple[Json | tuple[()], ...] = (None, False, (), [], {}, "")


def per_class(function: Callable[[type], T]) -> Callable[[type], T]:
    """Return a function of a class that is computed once for each class."""
    return cache(function)


class JsonObject:
    """A frozen dataclass that JSON objects are read into.

    The type of a field may be another such class, an enum of texts, a named tuple that JSON has as a list, or a list,
    tuple or dict of these. A null counts as a missing value.
    """

    __slots__ = ()

    @classmethod
    def of(cls, facts: Mapping[str, object], where: str = "record") -> Self:
        """Return the object that a JSON object holds; keys without a field are ignored.

        Raises TypeError naming the key, `where` it stands, of an object or list that is something else.
        """
        if not isinstance(facts, Mapping):
            raise TypeError(f"{where}: {facts!r}, expected an object")
        readers, values = _readers(cls), dict[str, object]()
        for name, value in facts.items():
            if value is not None and name in readers:
                read = readers[name]
                values[name] = read(value, f"{where}.{name}") if read else value
        return cls(**values)


@dataclass(frozen=True, slots=True)
class Part(JsonObject):
    """An object of a record, whose fields all have a default. A Part without any value is false."""

    def __bool__(self) -> bool:
        """Return whether any field has a value."""
        # Most parts of imported runs are empty, and equality is several times as fast as looking at each field.
        nothing, has_value = _without_facts(type(self))
        return has_value if self == nothing else any(map(_has_value, self.values().values()))

    def values(self) -> dict[str, typing.Any]:
        """Return field name -> value, in the order of declaration."""
        return {name: getattr(self, name) for name in _readers(type(self))}

    def written_empty(self) -> Collection[str]:
        """Return the names of the fields that are written without a value as well; the default: all."""
        return _readers(type(self)).keys()

    @classmethod
    def unknown_keys(cls, facts: Mapping[str, object], where: str = "record") -> Iterator[str]:
        """Yield the dotted names of the keys of a JSON object, and of the objects in it, that have no field."""
        yield from _unknown(cls.of(facts, where), facts, where)


@dataclass(frozen=True, kw_only=True)
class Values(JsonObject):
    """A recipe, or an object in one. A field that may lack has a neutral value as its default."""

    def dump(self) -> dict[str, Json]:
        """Return the values as a JSON object, in the order of the fields.

        Neutral values are left out, so that a field added by a later release leaves old digests as they are.
        """
        values = ((name, _dumped(getattr(self, name))) for name in _readers(type(self)))
        return {name: value for name, value in values if value not in NEUTRAL}

    @classmethod
    def of(cls, facts: Mapping[str, object], where: str = "recipe") -> Self:
        """Return the recipe or object that `dump` made a JSON object of.

        Raises ValueError naming a key that is missing or that has no field, TypeError as for a record.
        """
        if unknown := facts.keys() - (names := _readers(cls)).keys():
            raise ValueError(f"{where}: unknown keys {', '.join(sorted(unknown))}, expected some of {', '.join(names)}")
        if missing := [name for name in _needed(cls) if facts.get(name) is None]:
            raise ValueError(f"{where}: no {', '.join(missing)} among the keys {', '.join(facts)}")
        return super().of(facts, where)


@per_class
def _readers(kind: type) -> dict[str, Reader | None]:
    """Return field name -> reader of its type, None where values are taken as they are."""
    kinds = typing.get_type_hints(kind)
    return {declared.name: _reader(kinds[declared.name]) for declared in fields(kind)}


@per_class
def _needed(kind: type) -> tuple[str, ...]:
    return tuple(declared.name for declared in fields(kind) if declared.default is declared.default_factory is MISSING)


@per_class
def _without_facts(part: type) -> tuple[Part, bool]:
    """Return the part whose fields all have their defaults, and whether one of them is a value."""
    nothing: Part = part()
    return nothing, any(map(_has_value, nothing.values().values()))


def _has_value(value: object) -> bool:
    return bool(value) if isinstance(value, Part) else value is not None and value != {}


def _reader(kind: object) -> Reader | None:
    if isinstance(kind, types.UnionType):
        kind = next(inner for inner in typing.get_args(kind) if inner is not types.NoneType)
    if isinstance(kind, type) and issubclass(kind, JsonObject):
        return kind.of
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return lambda value, _: kind(str(value))
    if isinstance(kind, type) and issubclass(kind, tuple):
        return _row_reader(kind)
    outer, arguments = typing.get_origin(kind), [part for part in typing.get_args(kind) if part is not ...]
    inner = _reader(arguments[-1]) if outer in (dict, list, tuple) else None
    return _collection_reader(outer, inner) if outer is tuple or inner else None


def _row_reader(kind: type[tuple[object, ...]]) -> Reader:
    names: tuple[str, ...] = getattr(kind, "_fields", ())

    def read(value: object, where: str) -> object:
        if not isinstance(value, list) or len(value) != len(names):
            raise TypeError(f"{where}: {value!r}, expected {', '.join(names)}")
        return kind(*value)

    return read


def _collection_reader(outer: type | None, inner: Reader | None) -> Reader:
    read = inner or (lambda value, _: value)

    def read_all(value: object, where: str) -> object:
        match value:
            case dict() if outer is dict:
                return {key: read(part, f"{where}.{key}") for key, part in value.items()}
            case list() | tuple() if outer is not dict:
                items = [read(item, f"{where}.{index}") for index, item in enumerate(value)]
                return tuple(items) if outer is tuple else items
        raise TypeError(f"{where}: {value!r}, expected {'an object' if outer is dict else 'a list'}")

    return read_all


def _dumped(value: "Values | tuple[Values | Json, ...] | Json") -> Json:
    if isinstance(value, Values):
        return value.dump()
    return [_dumped(item) for item in value] if isinstance(value, tuple) else value


def _unknown(value: object, facts: object, where: str) -> Iterator[str]:
    """Yield the names of the keys in JSON that the object read from it lacks."""
    fields_of = value.values() if isinstance(value, Part) else value
    if isinstance(facts, Mapping) and isinstance(fields_of, dict):
        for name, inner in facts.items():
            lacks = name not in fields_of
            yield from [f"{where}.{name}"] if lacks else _unknown(fields_of[name], inner, f"{where}.{name}")
    elif isinstance(facts, list) and isinstance(value, list):
        for index, inner in enumerate(facts):
            yield from _unknown(value[index], inner, f"{where}.{index}")
