"""Pattern files: a YAML file becomes a Pattern, or a list of everything that is wrong in it."""

import difflib
import re
import string
from collections.abc import Hashable, Iterable, Iterator
from pathlib import Path

import yaml

from scripts.commands.import_logs.pattern import MAPPING_KEYS, NUMBER_AXES, TEXT_AXES, Pattern
from scripts.lib.json_record import Json
from scripts.lib.wording import listing
from scripts.study.config.mistakes import suggestion

Keys = dict[str, Json]
KNOWN_AXES = TEXT_AXES + NUMBER_AXES
TEXT_KEYS = ("path", "regex", "variant", "workload", "reference", "title", "question", "date")
KEYS = (*TEXT_KEYS, *MAPPING_KEYS, "means", "skip_s")
DATE_FORMATS = ("mtime", "first_line")
DEFAULT_PATTERN = """\
# How the paths of sysbench logs are read. They are relative to the folder of the logs; the whole path must match, with
# or without the ending of a packed file. {variant} and {workload} stand for names, {clients} and {repetition} for whole
# numbers, any other name, such as {tier}, for a part of your own, * for anything without a slash. All names in this
# file are text as written, such as 01 and 8.10.
path: "{variant}/{workload}_{clients}_{repetition}.log"
# Instead of `path`, a regular expression of Python with groups of the same names:
# regex: "(?P<variant>[^/]+)/(?P<workload>oltp_.+)-t(?P<clients>[0-9]+)/run(?P<repetition>[0-9]+)/.*"
# Without {clients}, the number of threads in the log is used. Without {repetition}, every cell has one run, or those of
# one file in their order.
# The variant the others are compared with:
reference: baseline
# Names put together from parts of the path, or a fixed name. Parts that no name holds are added to the workload's, and
# the report gives a mean for each level of such a part:
# variant: "{product} {version}"
# workload: oltp_read_write
# Other names for the levels of a part. They are shown in the order of this list; all others follow by their numbers:
# rename: {tier: {Tier2G: 2 GB, Tier12G: 12 GB}, variant: {mysql-pgo: pgo}}
# order: {tier: [Tier2G, Tier12G]}
# Logs to compare, and logs to leave out, by parts as they are in the path, or by `path` itself; * is anything:
# only: {product: [mysql]}
# leave_out: {path: ["old/*", "*.md"]}
# Means over chosen client counts, each with a name of its own:
# means: {"8 and more": [8, 16, 32]}
# Seconds at the beginning of each log that do not count; it needs lines of intervals:
# skip_s: 60
# title: The title of the report
# question: The question that the measurement answers
# The time of a run: mtime (the time of the log's last write, if logs were copied with their times), or first_line (the
# log begins with a date). Without this key it is unknown.
# date: mtime
"""


class _AsWritten(yaml.BaseLoader):
    """YAML whose scalars are texts as written: 01 and 8.10 are names."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Json]:
        """Return the mapping. Raises ConstructorError for a key that is written twice."""
        keys = [key.value for key, _ in node.value]
        for key, _ in node.value:
            if keys.count(key.value) > 1:
                raise yaml.constructor.ConstructorError(None, None, f"key {key.value!r} stands twice", key.start_mark)
        return super().construct_mapping(node, deep)


def read_pattern(file: Path) -> Pattern:
    """Read a pattern file.

    Raises ValueError naming the file and every wrong key with its value and what was expected.
    """
    text = _text(file)
    try:
        keys = yaml.load(text, Loader=_AsWritten)
    except yaml.YAMLError as error:
        raise ValueError(f"{file}: not YAML: {error}") from error
    if not isinstance(keys, dict):
        raise ValueError(f"{file}: {keys!r}, expected keys with values, such as path: and reference:")
    mistakes = [*_key_mistakes(keys), *_expression_mistakes(keys)]
    if mistakes:
        raise ValueError("\n".join(f"{file}: {mistake}" for mistake in mistakes))
    return _pattern(keys, text)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"PATTERN={file}: not a text in UTF-8 ({error}); expected a YAML file") from error
    except OSError as error:
        raise ValueError(f"PATTERN={file}: {error.strerror}; expected a YAML file on how paths are read") from error


def _pattern(keys: Keys, text: str) -> Pattern:
    texts = {key: value for key, value in keys.items() if isinstance(value, str)}
    compiled = _compiled(texts)
    groups = [name for name in compiled.groupindex if name not in NUMBER_AXES]
    joined = {name: texts.get(name, f"{{{name}}}") for name in TEXT_AXES}
    used = {part for template in joined.values() for part in _fields(template)}
    # Parts that no name holds belong to the load: two cells must not share a name.
    joined["workload"] = " ".join([joined["workload"], *(f"{{{name}}}" for name in groups if name not in used)])
    return Pattern(
        path=compiled,
        written=texts.get("path") or texts["regex"],
        reference=texts.get("reference"),
        variant=joined["variant"],
        workload=joined["workload"],
        title=texts.get("title"),
        question=texts.get("question"),
        date=texts.get("date"),
        rename={axis: {old: str(new) for old, new in _mapping(names).items()} for axis, names in _of(keys, "rename")},
        order={axis: _listed(names) for axis, names in _of(keys, "order")},
        only={axis: _listed(names) for axis, names in _of(keys, "only")},
        leave_out={axis: _listed(names) for axis, names in _of(keys, "leave_out")},
        means={name: list(map(int, _listed(counts))) for name, counts in _of(keys, "means")},
        skip_s=float(texts.get("skip_s", 0)),
        text=text,
    )


def _mapping(value: Json) -> Keys:
    return value if isinstance(value, dict) else {}


def _of(keys: Keys, key: str) -> Iterable[tuple[str, Json]]:
    return _mapping(keys.get(key)).items()


def _listed(names: Json) -> list[str]:
    """Return the texts of a list, or the only one."""
    return list(map(str, names)) if isinstance(names, list) else [str(names)]


def _fields(template: str) -> list[str]:
    return [field for _, field, *_ in string.Formatter().parse(template) if field is not None]


def _key_mistakes(keys: Keys) -> Iterator[str]:
    for key, value in keys.items():
        if key not in KEYS:
            yield f"unknown key {key!r}{suggestion(str(key), KEYS)}"
        elif key == "means":
            yield from _means_mistakes(value)
        elif key == "skip_s":
            yield from _skip_mistakes(value)
        elif key in MAPPING_KEYS:
            yield from _mapping_mistakes(key, value)
        elif not isinstance(value, str) or not value:
            yield f"{key}: {value!r}, expected a text"
        elif key == "date" and value not in DATE_FORMATS:
            yield f"date: {value!r}, expected {' or '.join(DATE_FORMATS)}"


def _means_mistakes(value: Json) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"means: {value!r}, expected names, each with a list of client counts"
        return
    for name, counts in value.items():
        if not (isinstance(counts, list) and counts and all(str(number).isdecimal() for number in counts)):
            yield f"means: {name}: {counts!r}, expected a list of client counts, such as [8, 16]"


def _skip_mistakes(value: Json) -> Iterator[str]:
    if not (isinstance(value, str) and re.fullmatch(r"[0-9]{1,6}(\.[0-9]+)?", value)):
        yield f"skip_s: {value!r}, expected seconds, such as 60"


def _mapping_mistakes(key: str, value: Json) -> Iterator[str]:
    inner = "a mapping from the name in the path to the name to show" if key == "rename" else "a list of names"
    if not isinstance(value, dict):
        yield f"{key}: {value!r}, expected parts of the path, each with {inner}"
        return
    for axis, names in value.items():
        scalars = names if isinstance(names, list) else names.values() if isinstance(names, dict) else [names]
        if isinstance(names, dict) != (key == "rename") or not all(isinstance(name, str) for name in scalars):
            yield f"{key}: {axis}: {names!r}, expected {inner}"


def _expression_mistakes(keys: Keys) -> list[str]:
    texts = {key: value for key in ("path", "regex") if isinstance(value := keys.get(key), str)}
    if len(texts) != 1:
        return [f"{' and '.join(texts) or 'neither path nor regex'}, expected one of path and regex"]
    (named,) = texts
    try:
        groups = set(_compiled(texts).groupindex)
    except (ValueError, re.error, OverflowError, RecursionError) as error:
        return [f"{named}: {keys[named]!r}: {error}"]
    return [*_group_mistakes(named, keys, groups), *_template_mistakes(keys, groups)]


def _group_mistakes(key: str, keys: Keys, groups: set[str]) -> Iterator[str]:
    for name in sorted(groups - set(KNOWN_AXES)):
        if near := difflib.get_close_matches(name.lower(), KNOWN_AXES, n=1, cutoff=0.8):
            yield f"{key}: part {name!r}, did you mean {near[0]!r}? A name of your own must be less like it"
        elif name == "path":
            yield f"{key}: part 'path', expected another name: this one stands for the whole path"
    for name in TEXT_AXES:
        if name not in groups and name not in keys:
            yield f"{key}: {keys[key]!r} has no part {name!r}, and no key {name}: names it"


def _template_mistakes(keys: Keys, groups: set[str]) -> Iterator[str]:
    texts = sorted(groups - set(NUMBER_AXES))
    for key in TEXT_AXES:
        try:
            unknown = [name for name in _fields(str(keys.get(key, ""))) if name not in texts]
        except ValueError as error:
            yield f"{key}: {keys[key]!r}: {error}"
            continue
        if unknown:
            yield f"{key}: {keys[key]!r} names {listing(unknown)}, expected parts of the path: {', '.join(texts)}"
    for key in MAPPING_KEYS:
        axes = {*groups, "path"} if key in ("only", "leave_out") else {*groups, *TEXT_AXES} - set(NUMBER_AXES)
        for axis, _ in _of(keys, key):
            if axis not in axes:
                yield f"{key}: {axis!r}, expected {', '.join(sorted(axes))}{suggestion(str(axis), tuple(axes))}"


def _compiled(texts: dict[str, str]) -> re.Pattern[str]:
    return re.compile(texts["regex"] if "regex" in texts else _expression(texts["path"]))


def _expression(template: str) -> str:
    """Return the regular expression of a template; a part that occurs twice must match the same text twice."""
    pieces, seen = [], set()
    for piece in re.split(r"(\{\w*\}|\*)", template):
        name = piece[1:-1] if piece.startswith("{") else ""
        if name in seen:
            pieces.append(f"(?P={name})")
        elif name:
            pieces.append(f"(?P<{name}>{'[0-9]+' if name in NUMBER_AXES else '[^/]+?'})")
        else:
            pieces.append("[^/]*" if piece == "*" else re.escape(piece))
        seen |= {name} - {""}
    return "".join(pieces)
