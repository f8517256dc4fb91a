"""Mistakes in the form of a config: the errors of the schema, by key, value and what was expected."""

import difflib
import re
import reprlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date

from pydantic import ValidationError

from scripts.lib.host.address import without_logins
from scripts.lib.json_record import Json
from scripts.study.config.declared_study import ENTRIES, StudyDeclaration
from scripts.study.config.scalars import ConfigKeys
from scripts.study.config.schema import Schema, alternative, expected, inner, resolved, types_of
from scripts.study.config.yaml_lines import (
    PRINTABLE_EXPECTED,
    Config,
    Document,
    Key,
    KeyPath,
    at,
    mapping,
    named_character,
)


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

    config: Config
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
        in_file, merged = at(document.value, path), at(self.config, path)
        return not isinstance(merged, dict) and repr(in_file) != repr(merged)

    def hint(self, path: KeyPath, value: Json, types: list[str]) -> str:
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


def _part(key: Key) -> str:
    text = str(key)
    return text if PLAIN.fullmatch(text) and text.isprintable() and len(text) <= SHORT.maxstring else SHORT.repr(text)


def _shown(value: Json | Key) -> str:
    return f"the date {value}" if isinstance(value, date) else SHORT.repr(value)


def _number(text: str) -> int | float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return int(value) if value.is_integer() else value


def suggestion(name: Key, candidates: Iterable[str]) -> str:
    """Return `, did you mean ...?` with the nearest known name, else the list of known names."""
    names = sorted(candidates)
    if near := nearest(name, names):
        return f", did you mean {near!r}?"
    return f", expected one of {', '.join(map(_part, names))}" if names else ", and none is declared"


def nearest(name: Key, candidates: Iterable[str]) -> str | None:
    """Return the known name that a mistyped one is nearest to, None when none is near."""
    return next(iter(difflib.get_close_matches(str(name).lower(), candidates, n=1)), None)


def _parts(content: Json) -> Iterator[tuple[Key, Json]]:
    """Yield the values of a mapping or a list, with their keys or places."""
    match content:
        case dict():
            yield from content.items()
        case list():
            yield from enumerate(content)


def odd_keys(content: Json, path: KeyPath = ()) -> Iterator[Mistake]:
    """Yield keys that are no text, such as `on`, `1` or nothing at all."""
    for key, value in _parts(content):
        if isinstance(content, dict) and not isinstance(key, str):
            yield Mistake((*path, key), f"the key {key!r} is no text; write it in quotes")
        yield from odd_keys(value, (*path, key))


def odd_texts(content: Json | Key, path: KeyPath = ()) -> Iterator[Mistake]:
    """Yield keys and values with characters that no file, command or page can hold as they are."""
    if isinstance(content, str) and (unfit := UNFIT.search(content)):
        yield Mistake(path, f"{_shown(content)} holds {named_character(unfit[0])}, {PRINTABLE_EXPECTED}")
    for key, value in _parts(content):
        odd = [*odd_texts(key, (*path, key))]
        yield from odd or odd_texts(value, (*path, key))


def with_text_keys(content: Config, unfit: re.Pattern[str] | None = None) -> Config:
    """Return a copy without the keys that are no text, nor those in which a pattern is found."""
    fit = [key for key in content if isinstance(key, str) and not (unfit and unfit.search(key))]
    return {key: _with_text_keys(content[key], unfit) for key in fit}


def _with_text_keys(value: Json, unfit: re.Pattern[str] | None) -> Json:
    if isinstance(value, list):
        return [_with_text_keys(item, unfit) for item in value]
    return with_text_keys(value, unfit) if isinstance(value, dict) else value


def form(content: Config, places: Places) -> Iterator[Mistake]:
    """Yield everything the models refuse of a config whose entries are laid over the catalog's."""
    content = with_text_keys(content, UNFIT)  # pydantic has no place for an error in a key that is no UTF-8
    try:
        StudyDeclaration.model_validate(content)
        errors = []
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=False)
    needs = [*needed_keys(content)]
    if not errors and not needs:
        return
    schema = resolved()
    refused = [RefusedKey(schema, content, error["type"], error["loc"]) for error in errors]
    refused += [RefusedKey(schema, content, "missing", path) for path in needs]
    unknown = {key.path for key in refused if key.kind == "extra_forbidden"}
    for key in refused:
        if key.kind != "missing" or not key.is_mistyped(unknown):
            yield Mistake(key.path, key.text(places))


def needed_keys(content: Config) -> Iterator[KeyPath]:
    """Yield the key paths that are missing because of another key of their mapping."""
    yield from (need for need in _needed(StudyDeclaration, content))
    for kind, model in ENTRIES.items():
        for name, entry in mapping(content.get(kind)).items():
            yield from ((kind, name, *path) for path in (_needed(model, entry) if isinstance(entry, dict) else ()))


def _needed(model: type[ConfigKeys], entry: Config) -> Iterator[KeyPath]:
    for need in model.NEEDS:
        key, value = need.when or (need.without, None)
        default = None if need.without else model.model_fields[key].default
        if entry.get(key, default) == value:
            yield from ((name,) for name in need.keys if name not in entry)


class RefusedKey:
    """An error of pydantic's: its key path, the value there and its schema, as far as the place of the error leads."""

    def __init__(self, schema: Schema, content: Json, kind: str, location: KeyPath) -> None:
        self.kind, self.is_name = kind, False
        self.path: KeyPath = ()
        self.parent, self.schema, self.value = schema, schema, content
        for part in location:
            if part == "[key]":
                self.is_name, self.schema = True, self.parent["propertyNames"]
            elif "oneOf" in self.schema:
                # This part names the alternative.
                self.schema = alternative(self.schema, self.value) or self.schema
            else:
                self.parent, self.schema = self.schema, inner(self.schema, part) or {}
                self.path, self.value = (*self.path, part), at(self.value, (part,))

    def is_mistyped(self, unknown: set[KeyPath]) -> bool:
        """Return whether one of the unknown keys beside a missing one means it."""
        neighbours = [path[-1] for path in unknown if path[:-1] == self.path[:-1]]
        return self.path[-1] in {nearest(name, self.parent["properties"]) for name in neighbours}

    def text(self, places: Places) -> str:
        """Return what was found, what was expected, what may be meant, and what the key means."""
        if self.kind == "extra_forbidden":
            return f"unknown key{suggestion(self.path[-1], self.parent['properties'])}"
        if self.kind == "missing":
            return f"missing, expected {expected(self.schema)}{_meaning(self.schema)}"
        if self.is_name:
            return f"the name {_shown(self.path[-1])} cannot be used, expected {expected(self.schema)}"
        if self.kind.startswith("union_tag") and isinstance(self.value, dict):
            return self._alternatives()
        types = [name for part in (self.schema, *self.schema.get("oneOf", [])) for name in types_of(part)]
        hint = places.hint(self.path, self.value, types)
        return f"{_shown(self.value)}, expected {expected(self.schema)}{hint}{_meaning(self.schema)}"

    def _alternatives(self) -> str:
        kinds = [part["required"][0] for part in self.schema["oneOf"]]
        names = list(mapping(self.value))
        near = next((suggestion(name, kinds) for name in names if name not in kinds), "")
        stated = " and ".join(map(_part, names)) or "no key"
        return f"has {stated}, expected one of {', '.join(kinds)}{near}"


def _meaning(schema: Schema) -> str:
    first, dot, _ = schema.get("description", "").partition(". ")
    return f" ({first if dot else first.rstrip('.')})" if first else ""
