"""Mistakes in the form of a config: the errors of the schema, by key, value and what was expected."""

import difflib
import re
import reprlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

from jsonschema import ValidationError

from scripts.lib.host.address import without_logins
from scripts.study.config.schema import Schema, Validator, expected, types_of
from scripts.study.config.yaml_lines import PRINTABLE_EXPECTED, Document, KeyPath, at, named_character


class _Short(reprlib.Repr):
    def repr_str(self, x: str, level: int) -> str:
        """Return a text shortened, after the logins in addresses, which the cut would hide from others, are out."""
        return super().repr_str(without_logins(x), level)


SHORT = _Short()
SHORT.maxstring = SHORT.maxother = 80
COMMAND_LINE = "--config"
# Control characters but tab and the end of a line, and what no file in XML or UTF-8 can hold.
UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
PLAIN = re.compile(r"\S+( \S+)*")


@dataclass(frozen=True)
class Mistake:
    """One mistake: its key path and text; `place` is file and line where the path alone does not lead to them."""

    path: KeyPath
    text: str
    place: tuple[str, int | None] | None = None


@dataclass(frozen=True)
class Places:
    """Where the keys of a study are written: the merged `config`, its files (a later one wins), the catalog's files.

    `origin` maps a key path of the config, whose scale and matrix are expanded, to the path as written.
    """

    config: dict[str, Any]
    files: tuple[Document, ...]
    catalog: tuple[Document, ...]
    origin: Callable[[KeyPath], KeyPath] = lambda path: path

    def line(self, mistake: Mistake) -> str:
        """Return a mistake as one line: file and line as far as they are known, key, text."""
        file, number = mistake.place or self.of(mistake.path)
        where = f"{file}:{number}: " if number else f"{file}: " if file else ""
        path = mistake.path if mistake.place else self.origin(mistake.path)
        return f"{where}{'.'.join(map(_part, path)) or '(top level)'}: {mistake.text}"

    def of(self, path: KeyPath) -> tuple[str, int | None]:
        """Return file and line of a key, or of the nearest key above it; without config files only the catalog's."""
        return self._written(self.origin(path))

    def _written(self, path: KeyPath) -> tuple[str, int | None]:
        for document in reversed(self.files):
            if number := document.line(path):
                return (COMMAND_LINE, None) if self._overridden(document, path) else (document.name, number)
        if at(self.config, path) is not None:
            return COMMAND_LINE if self.files else "", None
        for document in self.catalog if len(path) > 1 else ():
            if number := document.line(path):
                return document.name, number
        return self._written(path[:-1]) if len(path) > 1 else (self.files[-1].name if self.files else "", None)

    def _overridden(self, document: Document, path: KeyPath) -> bool:
        there, merged = at(document.value, path), at(self.config, path)
        return not isinstance(merged, dict) and repr(there) != repr(merged)

    def hint(self, path: KeyPath, value: Any, types: list[str]) -> str:
        """Return how YAML read a value of a wrong type, and how to write the meant one."""
        path = self.origin(path)
        if value is None:
            return "; nothing stands after the colon"
        if isinstance(value, str) and {"integer", "number"} & set(types) and _number(value) is not None:
            inside = len(path) > 1 and self._written(path)[0] == COMMAND_LINE
            instead = "a file given by --configfile can say it" if inside else f"write {_number(value)}"
            return f"; it was read as text, {instead}"
        documents = [document for document in (*reversed(self.files), *self.catalog) if document.line(path)]
        text = documents[0].written(path) if documents and at(documents[0].value, path) == value else None
        if text is None or "string" not in types or isinstance(value, str):
            return ""
        return f"; YAML reads {text} as {_shown(value)}, write '{text}' in quotes"


def _part(key: Any) -> str:
    text = str(key)
    return text if PLAIN.fullmatch(text) and text.isprintable() and len(text) <= SHORT.maxstring else SHORT.repr(text)


def _shown(value: Any) -> str:
    return f"the date {value}" if isinstance(value, date) else SHORT.repr(value)


def _number(text: str) -> int | float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return int(value) if value.is_integer() else value


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return `, did you mean ...?` with the nearest known name, else the list of known names."""
    names = sorted(known)
    if near := nearest(name, names):
        return f", did you mean {near!r}?"
    return f", expected one of {', '.join(map(_part, names))}" if names else ", and none is declared"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that a mistyped one is nearest to, None when none is near."""
    return next(iter(difflib.get_close_matches(str(name).lower(), known, n=1)), None)


def odd_keys(content: Any, path: KeyPath = ()) -> Iterator[Mistake]:
    """Yield keys that are no text, such as `on`, `1` or nothing at all."""
    parts = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in parts:
        if isinstance(content, dict) and not isinstance(key, str):
            yield Mistake((*path, key), f"the key {key!r} is no text; write it in quotes")
        yield from odd_keys(value, (*path, key))


def odd_texts(content: Any, path: KeyPath = ()) -> Iterator[Mistake]:
    """Yield keys and values with characters that no file, command or page can hold as they are."""
    match content:
        case str() if odd := UNFIT.search(content):
            yield Mistake(path, f"{_shown(content)} holds {named_character(odd[0])}, {PRINTABLE_EXPECTED}")
        case dict():
            for key, value in content.items():
                odd = [*odd_texts(key, (*path, key))]
                yield from odd or odd_texts(value, (*path, key))
        case list():
            for place, item in enumerate(content):
                yield from odd_texts(item, (*path, place))


def with_text_keys(content: Any) -> Any:
    """Return a copy without the keys that are no text."""
    if isinstance(content, dict):
        return {key: with_text_keys(value) for key, value in content.items() if isinstance(key, str)}
    return [with_text_keys(item) for item in content] if isinstance(content, list) else content


def form(content: Any, schema: Schema, places: Places, prefix: KeyPath = ()) -> Iterator[Mistake]:
    """Yield everything the schema refuses; `prefix` is the key path of `content`."""
    for error in Validator(schema).iter_errors(content):
        for cause in _causes(error):
            yield from _explained(cause, places, schema, (*prefix, *cause.absolute_path))


def _causes(error: ValidationError) -> list[ValidationError]:
    """Return the errors inside the alternative that a mapping means, the error itself where that is unclear."""
    if error.validator != "oneOf" or not isinstance(error.instance, dict):
        return [error]
    meant = _meant(error.validator_value, error.instance)
    return [cause for cause in error.context if cause.relative_schema_path[0] in meant] if len(meant) == 1 else [error]


def _meant(alternatives: list[Schema], value: dict[str, Any]) -> list[int]:
    """Return the alternatives a mapping can mean: the only one that takes mappings, else those whose key it has."""
    takers = _takers(alternatives)
    return takers if len(takers) == 1 else [place for place in takers if alternatives[place]["required"][0] in value]


def _takers(alternatives: list[Schema]) -> list[int]:
    return [place for place, one in enumerate(alternatives) if one.get("type") == "object"]


def _explained(error: ValidationError, places: Places, whole: Schema, path: KeyPath) -> Iterator[Mistake]:
    schema, value = error.schema, error.instance
    match error.validator:
        case "additionalProperties":
            for name in value.keys() - schema["properties"].keys():
                yield Mistake((*path, name), f"unknown key{suggestion(name, schema['properties'])}")
        case "required":
            known = schema.get("properties") or whole["properties"]
            mistyped = {nearest(name, known) for name in value if name not in known}
            for name in [name for name in error.validator_value if name not in {*value, *mistyped}]:
                yield Mistake((*path, name), f"missing, expected {expected(known[name])}{_meaning(known[name])}")
        case "oneOf" if isinstance(value, dict) and (takers := _takers(error.validator_value)):
            kinds = [error.validator_value[place]["required"][0] for place in takers]
            near = next((suggestion(name, kinds) for name in value if name not in kinds), "")
            found = " and ".join(map(_part, value)) or "no key"
            yield Mistake(path, f"has {found}, expected one of {', '.join(kinds)}{near}")
        case _ if "propertyNames" in error.absolute_schema_path:
            yield Mistake((*path, value), f"the name {_shown(value)} cannot be used, expected {expected(schema)}")
        case _:
            types = [each for one in (schema, *schema.get("oneOf", [])) for each in types_of(one)]
            hint = places.hint(path, value, types)
            yield Mistake(path, f"{_shown(value)}, expected {expected(schema)}{hint}{_meaning(schema)}")


def _meaning(schema: Schema) -> str:
    first, dot, _ = schema.get("description", "").partition(". ")
    return f" ({first if dot else first.rstrip('.')})" if first else ""
