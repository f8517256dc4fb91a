"""The text of YAML files: what is written on which line, and what YAML reads otherwise than it is meant."""

import json
import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

FILE_MIB_MAX = 1
# The deepest key there is, servers.NAME.sources.0.url.0, has six parts.
DEPTH_MAX = 20
# A thousand variants with their options are 15 000.
VALUES_MAX = 30_000
LIMITS_EXPECTED = "expected a study: lines of `key: value`, as in config.yaml"


class TooMuch(ValueError):
    """A config that is too deep or too large."""


def bounded_nodes(root: Any, inner: Callable[[Any], Iterable[Any]]) -> Any:
    """Return a tree that is neither too deep nor too large; `inner` gives the parts of a node. Else raises TooMuch.

    What is meant twice counts twice: a few lines of YAML aliases can stand for more than any memory holds, or for
    themselves.
    """
    left, seen = [(root, 0)], 0
    while left:
        node, depth = left.pop()
        seen += 1
        if depth > DEPTH_MAX:
            raise TooMuch(f"is nested more than {DEPTH_MAX} deep, {LIMITS_EXPECTED}")
        if seen > VALUES_MAX:
            raise TooMuch(f"holds more than {VALUES_MAX} keys and values, aliases counted at each use; expected fewer")
        left += [(part, depth + 1) for part in inner(node)]
    return root


def value_parts(value: Any) -> Iterable[Any]:
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


def limit_text(node: yaml.Node | None, error: Exception) -> str:
    """Return what to say behind a file's name of an error that reading its values met: line, if one is, and why."""
    match error:
        case TooMuch():
            return f": {error}"
        case RecursionError():
            return f": is nested too deep, {LIMITS_EXPECTED}"
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


KeyPath = tuple[Any, ...]
# libyaml's is eight times faster, but not in every build of PyYAML, and it takes a little more for YAML.
FAST = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
TEXT, MERGE = "tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"
NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
# What the parser says, and what it is about most of the time.
HINTS = {
    "mapping values are not allowed": "text with a colon in it stands in quotes",
    "cannot start any token": "text that begins so stands in quotes, and indentation is spaces",
    "found a tab character": "indentation is spaces",
    "could not find expected ':'": "a key needs its colon",
    "found unhashable key": "text that begins with a bracket or a brace stands in quotes",
}


class ConfigError(ValueError):
    """A config file that cannot be used; the text holds one line a mistake."""


@dataclass(frozen=True)
class Trap:
    """Something that YAML reads otherwise than it looks: the key path, its line, and what to write instead.

    Of what is `misread` nothing else needs to be said.
    """

    path: KeyPath
    line: int
    text: str
    misread: bool = True


@dataclass(frozen=True)
class Document:
    """One file: its name in messages, its content, and the tree of what is written where, if it is plain YAML."""

    name: str
    value: dict[str, Any]
    node: yaml.MappingNode | None = None
    traps: tuple[Trap, ...] = ()

    def line(self, path: KeyPath) -> int | None:
        """Return the line of a key or a list's item, None when the file has none."""
        return found[0].start_mark.line + 1 if (found := self._find(path)) else None

    def written(self, path: KeyPath) -> str | None:
        """Return the text of a value that stands without quotes, None when it is another thing."""
        found = self._find(path)
        plain = found is not None and isinstance(found[1], yaml.ScalarNode) and not found[1].style
        return found[1].value if plain else None

    @property
    def is_template(self) -> bool:
        """Tell whether Snakemake makes the config of it, so that its text is not what it becomes."""
        return "__use_yte__" in self.value

    def _find(self, path: KeyPath) -> tuple[yaml.Node, yaml.Node] | None:
        """Return the nodes of a key and its value, the last one where it is written twice."""
        found = (self.node, self.node) if self.node else None
        for part in path:
            if found is None:
                return None
            found = _named(found[1]).get(part)
        return found


@lru_cache(maxsize=64)
def _named(node: yaml.Node) -> dict[Any, tuple[yaml.Node, yaml.Node]]:
    return dict(_members(node))


def at(content: Any, path: KeyPath) -> Any:
    """Return what stands at a key path, None when nothing does."""
    for part in path:
        inside = isinstance(content, dict) and part in content
        inside |= isinstance(content, list) and isinstance(part, int) and part < len(content)
        if not inside:
            return None
        content = content[part]
    return content


def _members(node: yaml.Node) -> Iterator[tuple[Any, tuple[yaml.Node, yaml.Node]]]:
    """Yield the parts of a mapping or a list: key or place, its node, the value's node."""
    match node:
        case yaml.MappingNode():
            yield from ((_key(key), (key, value)) for key, value in node.value)
        case yaml.SequenceNode():
            yield from ((place, (item, item)) for place, item in enumerate(node.value))


def _key(node: yaml.Node) -> Any:
    """Return a key as YAML reads it; a list, a mapping or a set, which is no key of ours, as its place."""
    if isinstance(node, yaml.ScalarNode):
        key = node.value if node.tag in (TEXT, MERGE) else yaml.SafeLoader("").construct_object(node)
        if isinstance(key, Hashable):
            return key
    return f"{node.start_mark}"


def read(file: Path) -> Document:
    """Read a config file as Snakemake does. Raises ConfigError naming file and line, also when it holds no mapping."""
    text = _text(file)
    if text.lstrip().startswith("{"):
        try:
            return _whole(Document(shown(file), bounded_nodes(json.loads(text), value_parts)))
        except TooMuch as error:
            raise ConfigError(f"{shown(file)}{limit_text(None, error)}") from error
        except (ValueError, RecursionError):
            pass  # YAML may begin with a brace, too
    return _whole(_document(file, text, yaml.SafeLoader))


def read_text(file: Path) -> Document:
    """Read a YAML file of the checkout. Raises ConfigError naming file, line and what is wrong there."""
    return _document(file, _text(file), FAST)


def _document(file: Path, text: str, kind: type) -> Document:
    node = None
    try:
        loader = kind(text)
        node = bounded_nodes(loader.get_single_node(), node_parts)
        traps = tuple(_traps(node, ()))  # before merge keys are filled in, which would look like keys written twice
        return Document(shown(file), loader.construct_document(node) if node else None, node, traps)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        hint = next((f" ({hint})" for said, hint in HINTS.items() if said in str(error.problem)), "")
        begun = f"{error.context} begun in line {error.context_mark.line + 1}, " if error.context_mark else ""
        raise ConfigError(f"{shown(file)}:{mark.line + 1}: this is not YAML: {begun}{error.problem}{hint}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{shown(file)}: this is not YAML: {error}") from error
    except (ValueError, OverflowError, RecursionError) as error:
        raise ConfigError(f"{shown(file)}{limit_text(node, error)}") from error


def _text(file: Path) -> str:
    content = file.read_bytes()
    if (mib := len(content) / 2**20) > FILE_MIB_MAX:
        raise ConfigError(f"{shown(file)}: has {mib:.1f} MiB, expected a config file of at most {FILE_MIB_MAX} MiB")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"{shown(file)}:{line}: byte 0x{content[error.start]:02x} is not UTF-8, expected text in UTF-8"
        ) from error


def _whole(document: Document) -> Document:
    if not isinstance(document.value, dict):
        holds = "is empty" if document.value is None else f"holds a {type(document.value).__name__}"
        raise ConfigError(f"{document.name}: {holds}, expected a study: lines of `key: value`, as in config.yaml")
    return Document(document.name, document.value) if document.is_template else document


def shown(file: Path) -> str:
    """Return a path as messages name it: relative below the working directory."""
    here = Path.cwd()
    return str(file.relative_to(here) if file.is_absolute() and file.is_relative_to(here) else file)


def _traps(node: yaml.Node | None, path: KeyPath) -> Iterator[Trap]:
    """Find keys written twice, keys that are no text, and numbers that are not what they look like."""
    first: dict[Any, int] = {}
    for part, (key, value) in _members(node):
        here, line = (*path, part), key.start_mark.line + 1
        if part in first and key.tag != MERGE:
            text = f"written a second time, after line {first[part]}; YAML keeps only the last: remove or rename one"
            yield Trap(here, line, text, misread=False)
        first.setdefault(part, line)
        if not isinstance(part, str) and key is not value:
            yield Trap(here, line, f"YAML reads the key {key.value} as {part!r}; write '{key.value}' in quotes")
        if isinstance(value, yaml.ScalarNode) and value.tag in NUMBERS and not value.style:
            yield from (Trap(here, value.start_mark.line + 1, text) for text in _misread(value))
        yield from _traps(value, here)


def _misread(node: yaml.ScalarNode) -> Iterator[str]:
    """Tell a number that YAML 1.1 reads in base 8 or 60, and what to write instead."""
    text, read_as = node.value, yaml.SafeLoader("").construct_object(node)
    if re.fullmatch(r"[-+]?0[0-7_]+", text):
        plain = int(text.replace("_", ""))
        yield f"YAML reads {text} as {read_as}, in base 8; write {plain}, or '{text}' as text"
    elif ":" in text:
        yield f"YAML reads {text} as {read_as}, in base 60; write {read_as}, or '{text}' as text"
