"""What the paths of other people's logs say: the pattern file of `make import`."""

import difflib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

TEXT, NUMBERS = ("variant", "workload"), ("clients", "repetition")
KEYS = ("path", "regex", "workload", "reference", "title", "question", "date")
DATES = ("mtime", "first_line")
DEFAULT = """\
# What the paths of sysbench logs say. They are relative to the folder of the logs, and the whole path must match.
# {variant} and {workload} stand for names, {clients} and {repetition} for numbers, * for anything without a slash.
path: "{variant}/{workload}_{clients}_{repetition}.log"
# In place of `path`, for what it cannot say, a regular expression of Python with groups of the same names:
# regex: "(?P<variant>[^/]+)/(?P<workload>oltp_.+)-t(?P<clients>[0-9]+)/run(?P<repetition>[0-9]+)/.*"
# Without {workload}, name it here. Without {clients}, the log's own number of threads counts. Without {repetition},
# a cell has one run.
# workload: oltp_read_write
# The variant the others are compared with:
reference: baseline
# title: What stands above the report
# question: What the measurement was to answer
# When a run was made: mtime (the log was last written at its end, and copied with its times), or first_line (the log
# begins with a date). Unknown when it is not given.
# date: mtime
"""


@dataclass(frozen=True)
class Pattern:
    """A pattern file: the compiled expression, how it is written, and what the user tells of the study."""

    path: re.Pattern[str]
    written: str
    reference: str
    workload: str | None
    title: str | None
    question: str | None
    date: str | None
    text: str

    def parts(self, path: str) -> dict[str, Any] | None:
        """Return variant, workload, clients and repetition of a path; clients is None where it does not tell them.

        None when the path does not match.
        """
        match = self.path.fullmatch(path)
        if not match:
            return None
        said = {"workload": self.workload, "clients": None, "repetition": 1, **match.groupdict()}
        return {**said, **{name: int(said[name]) for name in NUMBERS if said[name] is not None}}


def read(file: Path) -> Pattern:
    """Read a pattern file.

    Raises ValueError naming the file and every wrong key with its value and what was expected.
    """
    text = file.read_text(encoding="utf-8")
    try:
        given = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"{file}: not YAML: {error}") from error
    if not isinstance(given, dict):
        raise ValueError(f"{file}: {given!r}, expected keys with values, such as path: and reference:")
    mistakes = [*_mistakes(given), *_of_expression(given)]
    if mistakes:
        raise ValueError("\n".join(f"{file}: {mistake}" for mistake in mistakes))
    written = given.get("path") or given["regex"]
    told = {key: given.get(key) for key in ("workload", "title", "question", "date")}
    return Pattern(_compiled(given), written, given.get("reference", "baseline"), text=text, **told)


def _mistakes(given: dict[str, Any]) -> list[str]:
    found = []
    for key, value in given.items():
        near = difflib.get_close_matches(str(key), KEYS, 1)
        if key not in KEYS:
            meant = f"; did you mean {near[0]}?" if near else ""
            found.append(f"key {key!r}, expected one of {', '.join(KEYS)}{meant}")
        elif not isinstance(value, str) or not value:
            found.append(f"{key}: {value!r}, expected a text")
        elif key == "date" and value not in DATES:
            found.append(f"date: {value!r}, expected {' or '.join(DATES)}")
    return found


def _of_expression(given: dict[str, Any]) -> list[str]:
    named = [key for key in ("path", "regex") if isinstance(given.get(key), str)]
    if len(named) != 1:
        return [f"{' and '.join(named) or 'neither path nor regex'}, expected one of path and regex"]
    try:
        groups = set(_compiled(given).groupindex)
    except (ValueError, re.error) as error:
        return [f"{named[0]}: {given[named[0]]!r}: {error}"]
    known = set(TEXT + NUMBERS)
    lacking = {"variant"} - groups | ({"workload"} - groups if "workload" not in given else set())
    found = [f"{named[0]}: part {name!r}, expected {', '.join(TEXT + NUMBERS)}" for name in sorted(groups - known)]
    return found + [f"{named[0]}: {given[named[0]]!r} has no part {name!r}" for name in sorted(lacking)]


def _compiled(given: dict[str, Any]) -> re.Pattern[str]:
    return re.compile(given["regex"] if "regex" in given else _expression(given["path"]))


def _expression(template: str) -> str:
    """Return the regular expression of a template; a part that stands twice must have the same text twice."""
    pieces, seen = [], set()
    for piece in re.split(r"(\{\w*\}|\*)", template):
        name = piece[1:-1] if piece.startswith("{") else ""
        if name in seen:
            pieces.append(f"(?P={name})")
        elif name:
            pieces.append(f"(?P<{name}>{'[0-9]+' if name in NUMBERS else '[^/]+?'})")
        else:
            pieces.append("[^/]*" if piece == "*" else re.escape(piece))
        seen |= {name} - {""}
    return "".join(pieces)
