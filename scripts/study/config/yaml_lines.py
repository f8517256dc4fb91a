"""The text of YAML files: the line of each key, and values that YAML reads otherwise than they look."""

import json
import re
import unicodedata
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import yaml
from yaml.reader import Reader

from scripts.lib.host.address import without_logins
from scripts.lib.json_record import Json

# The deepest key there is, servers.NAME.sources.0.url.0, has six parts.
DEEPEST = 50
# A thousand variants with their options are 15 000. A few lines of aliases of aliases can stand for 10**9.
MOST_VALUES = 1_000_000
STUDY_EXPECTED = "expected a study: lines of `key: value`, as in config.yaml"
PRINTABLE_EXPECTED = "expected text of characters that can be shown"
NESTED = f"is nested too deep, {STUDY_EXPECTED}"


# Until they are checked, keys may be what else YAML has, and values may be dates.
Config = dict[str, Json]
Key = str | int
KeyPath = tuple[Key, ...]
# libyaml's loader is eight times faster, but not in every build of PyYAML, and it accepts a little more as YAML.
FAST = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
TEXT, MERGE = "tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"
NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
# Keys of a template: Snakemake runs the Python code in a config file that has the first.
TEMPLATE_KEYS = ("__use_yte__", "__definitions__", "__variables__")
KEY_BEFORE = re.compile(r"""[^#]*?([\w.-]+)["']?\s*:\s*([^:]*)""")
# Part of the parser's message -> the usual cause.
HINTS = {
    "mapping values are not allowed": "text with a colon in it stands in quotes",
    "cannot start any token": "text that begins so stands in quotes, and indentation is spaces",
    "found a tab character": "indentation is spaces",
    "could not find expected ':'": "a key needs its colon",
    "found unhashable key": "text that begins with a bracket or a brace stands in quotes",
}


class ConfigError(ValueError):
    """A config file that cannot be used; the text holds one line per mistake, addresses without their logins."""

    def __init__(self, text: str) -> None:
        super().__init__(without_logins(text))


@dataclass(frozen=True)
class Trap:
    """Text that YAML reads otherwise than it looks: the key path, its line, and what to write instead.

    Other mistakes at the path of a `misread` value follow from it and are not reported.
    """

    path: KeyPath
    line: int
    text: str
    misread: bool = True


@dataclass(frozen=True)
class Document:
    """One file: its name in messages, its content, and the tree of nodes with their lines."""

    name: str
    value: Json
    node: yaml.MappingNode | None = None
    traps: tuple[Trap, ...] = ()

    def line(self, path: KeyPath) -> int | None:
        """Return the line of a key or a list's item, None when the file has none."""
        nodes = self._find(path)
        return nodes[0].start_mark.line + 1 if nodes else None

    def written(self, path: KeyPath) -> str | None:
        """Return the text of a scalar written without quotes, None for any other value."""
        nodes = self._find(path)
        value = nodes[1] if nodes else None
        return str(value.value) if isinstance(value, yaml.ScalarNode) and not value.style else None

    def _find(self, path: KeyPath) -> tuple[yaml.Node, yaml.Node] | None:
        """Return the nodes of a key and its value; of a key written twice the last one's."""
        nodes: tuple[yaml.Node, yaml.Node] | None = (self.node, self.node) if self.node else None
        for part in path:
            if nodes is None:
                return None
            nodes = _named(nodes[1]).get(part)
        return nodes


@lru_cache(maxsize=64)
def _named(node: yaml.Node) -> dict[Key, tuple[yaml.Node, yaml.Node]]:
    return dict(_members(node))


def at(content: Json, path: KeyPath) -> Json:
    """Return the value at a key path, None where there is none."""
    for part in path:
        match content:
            case dict() if isinstance(part, str):
                content = content.get(part)
            case list() if isinstance(part, int) and part < len(content):
                content = content[part]
            case _:
                return None
    return content


def mapping(section: Json) -> Config:
    """Return a section, empty where it is no mapping."""
    return section if isinstance(section, dict) else {}


def _members(node: yaml.Node | None) -> Iterator[tuple[Key, tuple[yaml.Node, yaml.Node]]]:
    """Yield the parts of a mapping or a list: key or place, its node, the value's node."""
    match node:
        case yaml.MappingNode():
            yield from ((_key(key), (key, value)) for key, value in node.value)
        case yaml.SequenceNode():
            yield from ((index, (item, item)) for index, item in enumerate(node.value))


def _key(node: yaml.Node) -> Key:
    """Return a key as YAML reads it; a list, mapping or set as key by its place in the file."""
    if isinstance(node, yaml.ScalarNode):
        key: Key = node.value if node.tag in (TEXT, MERGE) else yaml.SafeLoader("").construct_object(node)
        if isinstance(key, Hashable):
            return key
    return f"{node.start_mark}"


def read(file: Path) -> Document:
    """Read a config file as Snakemake does. Raises ConfigError naming file and line, also when it holds no mapping."""
    text = _text(file)
    try:
        read_as_json = json.loads(text) if text.lstrip().startswith("{") else None
    except RecursionError as error:
        raise ConfigError(f"{shown(file)}: {NESTED}") from error
    except ValueError:
        read_as_json = None  # YAML may begin with a brace, too
    if read_as_json is None:
        return _whole(_document(file, text, yaml.SafeLoader))
    # JSON is YAML but for tabs, which it has between values only; some numbers are read otherwise.
    return replace(_document(file, text.replace("\t", " "), yaml.SafeLoader), value=read_as_json)


def read_text(file: Path) -> Document:
    """Read a YAML file of the checkout. Raises ConfigError naming file and line."""
    return _document(file, _text(file), FAST)


def _document(file: Path, text: str, kind: type) -> Document:
    node = None
    try:
        loader = kind(text)
        node = loader.get_single_node()
        _refuse_unbounded(shown(file), node)
        _refuse_template(shown(file), node)
        traps = tuple(_traps(node, ()))  # before merge keys are filled in, which would look like keys written twice
        return Document(shown(file), loader.construct_document(node) if node else None, node, traps)
    except ConfigError:
        raise
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        hint = next((f" ({hint})" for part, hint in HINTS.items() if part in str(error.problem)), "")
        begun = f"{error.context} begun in line {error.context_mark.line + 1}, " if error.context_mark else ""
        raise ConfigError(f"{shown(file)}:{line}: this is not YAML: {begun}{error.problem}{hint}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{shown(file)}: this is not YAML: {error}") from error
    except RecursionError as error:
        raise ConfigError(f"{shown(file)}: {NESTED}") from error
    except (ValueError, OverflowError) as error:
        raise ConfigError(f"{shown(file)}:{_unreadable_line(node)}: this is not YAML: {error}") from error


def _refuse_unbounded(name: str, root: yaml.Node | None) -> None:
    """Raise ConfigError for a tree that is too deep or too large; an alias counts at each use."""
    waiting, seen = [(root, 0)], 0
    while waiting:
        node, depth = waiting.pop()
        seen += 1
        if depth > DEEPEST:
            raise ConfigError(f"{name}: {NESTED}")
        if seen > MOST_VALUES:
            raise ConfigError(f"{name}: holds more than {MOST_VALUES} keys and values, aliases counted at each use")
        waiting += [(part, depth + 1) for part in _node_parts(node)]


def _refuse_template(name: str, root: yaml.Node | None) -> None:
    """Raise ConfigError for a key of a template at any depth, also one that is written with escapes."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            if key.value in TEMPLATE_KEYS:
                raise ConfigError(
                    f"{name}:{key.start_mark.line + 1}: {key.value}: this key makes a config file a template, whose "
                    "code Snakemake runs; expected a study without it"
                )
        waiting += reversed(_node_parts(node))


def _node_parts(node: yaml.Node | None) -> list[yaml.Node]:
    """Return the nodes inside a node; of a mapping also its keys."""
    match node:
        case yaml.MappingNode():
            return [part for pair in node.value for part in pair]
        case yaml.SequenceNode():
            return [*node.value]
    return []


def _unreadable_line(root: yaml.Node | None) -> int:
    """Return the line of the first value that cannot be constructed, such as a day that no month has."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, yaml.ScalarNode):
            try:
                yaml.SafeLoader("").construct_object(node)
            except (ValueError, OverflowError):
                return node.start_mark.line + 1
        waiting += reversed(_node_parts(node))
    return 1


def _text(file: Path) -> str:
    content = file.read_bytes()
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"{shown(file)}:{line}: byte 0x{content[error.start]:02x} is not UTF-8, expected text in UTF-8"
        ) from error
    if odd := Reader.NON_PRINTABLE.search(text):
        before, after = text[: odd.start()].rpartition("\n")[2], text[odd.start() :].partition("\n")[0]
        key = KEY_BEFORE.fullmatch(before)
        named = f"{key[1]}: {(key[2] + after).rstrip()!r}" if key else repr(before + after)
        line = text.count("\n", 0, odd.start()) + 1
        raise ConfigError(f"{shown(file)}:{line}: {named} holds {named_character(odd[0])}, {PRINTABLE_EXPECTED}")
    return text


def named_character(letter: str) -> str:
    """Return a character that cannot be printed by its kind and its code point."""
    kind = {"Cc": "control character", "Cs": "lone surrogate"}.get(unicodedata.category(letter), "character")
    return f"the {kind} U+{ord(letter):04X}"


def _whole(document: Document) -> Document:
    if not isinstance(document.value, dict):
        holds = "is empty" if document.value is None else f"holds a {type(document.value).__name__}"
        raise ConfigError(f"{document.name}: {holds}, {STUDY_EXPECTED}")
    return document


def shown(file: Path) -> str:
    """Return a path as messages name it: relative below the working directory."""
    here = Path.cwd()
    return str(file.relative_to(here) if file.is_absolute() and file.is_relative_to(here) else file)


def _traps(node: yaml.Node | None, path: KeyPath) -> Iterator[Trap]:
    """Yield keys written twice, keys that are no text, and numbers that are not what they look like."""
    first: dict[Key, int] = {}
    for part, (key, value) in _members(node):
        here, line = (*path, part), key.start_mark.line + 1
        if part in first and key.tag != MERGE:
            text = f"written a second time, after line {first[part]}; only the last counts: remove or rename one"
            yield Trap(here, line, text, misread=False)
        first.setdefault(part, line)
        if not isinstance(part, str) and key is not value:
            yield Trap(here, line, f"YAML reads the key {key.value} as {part!r}; write '{key.value}' in quotes")
        if isinstance(value, yaml.ScalarNode) and value.tag in NUMBERS and not value.style:
            yield from (Trap(here, value.start_mark.line + 1, text) for text in _misread(value))
        yield from _traps(value, here)


def _misread(node: yaml.ScalarNode) -> Iterator[str]:
    """Yield the message about a number that YAML 1.1 reads in base 8 or 60."""
    text, read_as = node.value, yaml.SafeLoader("").construct_object(node)
    if re.fullmatch(r"[-+]?0[0-7_]+", text):
        plain = int(text.replace("_", ""))
        yield f"YAML reads {text} as {read_as}, in base 8; write {plain}, or '{text}' as text"
    elif ":" in text:
        yield f"YAML reads {text} as {read_as}, in base 60; write {read_as}, or '{text}' as text"
