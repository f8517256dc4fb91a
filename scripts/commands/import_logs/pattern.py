"""Patterns: how the path of a log gives variant, workload, clients, repetition and further axes."""

import fnmatch
import re
import signal
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from scripts.lib.wording import listing

TEXT_AXES, NUMBER_AXES = ("variant", "workload"), ("clients", "repetition")
MAPPING_KEYS = ("rename", "order", "only", "leave_out")
CHOICES = ("only", "leave_out")
MOST_LISTED = 12
LONGEST_MATCH_S = 1.0
LONGEST_NAME_BYTES = 150
MOST_CLIENTS = 1_000_000
LARGEST_NUMBER = 10**15
Names = dict[str, list[str]]
SortKey = tuple[tuple[int, int, str], ...]
# The first number in a sort key of a level that the pattern file writes; all others sort behind.
WRITTEN = 0


class TooSlow(ValueError):
    """An expression took longer than LONGEST_MATCH_S for one path."""


class BadName(ValueError):
    """A path gives a name or number that no run can have."""


class LeftOut(ValueError):
    """A path that `only` or `leave_out` of the pattern file leaves out."""


Parts = dict[str, str | None]


@dataclass(frozen=True)
class NamedRun:
    """The run that a path names: variant, workload, clients (None if the log gives them), repetition.

    `repetition` is None if the path has none. `axes` holds the levels of all further parts of the path, and of
    {workload} when it is a part of a longer name; `written` the names as they are before `rename`.
    """

    variant: str
    workload: str
    clients: int | None
    repetition: int | None
    axes: dict[str, str]
    written: dict[str, str]


@dataclass(frozen=True)
class Pattern:
    """A pattern file: the compiled expression, its text, how names are put together, and the study's description.

    `reference` is None if the file names none.
    """

    path: re.Pattern[str]
    written: str
    reference: str | None
    variant: str
    workload: str
    title: str | None
    question: str | None
    date: str | None
    rename: dict[str, dict[str, str]]
    order: Names
    only: Names
    leave_out: Names
    means: dict[str, list[int]]
    skip_s: float
    text: str

    def parts(self, *paths: str) -> Parts | None:
        """Return the parts of the first of these paths that matches, None of one that took no part; None if none does.

        Raises TooSlow.
        """
        for path in paths:
            with time_limit(path):
                match = self.path.fullmatch(path)
            if match:
                return match.groupdict()
        return None

    def choose(self, paths: Sequence[str], parts: Parts) -> None:
        """Raise LeftOut naming the key and the part by which a log, with any of its paths, is left out."""
        values = {"path": paths, **{name: (text or "",) for name, text in parts.items()}}
        for axis, globs in self.only.items():
            if axis in values and not _fits(values[axis], globs):
                raise LeftOut(f"left out by `only`: {axis}")
        for axis, globs in self.leave_out.items():
            if axis in values and _fits(values[axis], globs):
                raise LeftOut(f"left out by `leave_out`: {axis}")

    def place(self, parts: Parts) -> NamedRun:
        """Return the run that the parts of a path name; parts that took no part are left out of names.

        Raises BadName naming the part of the path, its value and what was expected.
        """
        texts = {name: _name(name, value) for name, value in parts.items()
                 if name not in NUMBER_AXES and (value is not None or name in TEXT_AXES)}  # fmt: skip
        numbers = {name: None if (text := parts.get(name)) is None else _number(name, text) for name in NUMBER_AXES}
        joined = {name for name in TEXT_AXES if getattr(self, name) != f"{{{name}}}"}
        levels = {name: text if name in joined else self.renamed(name, text) for name, text in texts.items()}
        written = {name: _filled(getattr(self, name), levels if name in joined else texts) for name in TEXT_AXES}
        names = {name: _name(name, self.renamed(name, text)) if name in joined else _filled(f"{{{name}}}", levels)
                 for name, text in written.items()}  # fmt: skip
        names = {name: _name(name, text) for name, text in names.items()}
        axes = {name: text for name, text in levels.items() if name not in TEXT_AXES or name in joined}
        return NamedRun(names["variant"], names["workload"], numbers["clients"], numbers["repetition"], axes, written)

    def renamed(self, axis: str, name: str) -> str:
        """Return the name to show of a level."""
        return self.rename.get(axis, {}).get(name, name)

    def rank(self, axis: str, level: str) -> SortKey:
        """Return the sort key of a level: as the pattern file writes them, then by the numbers inside the names."""
        written = [
            *(self.renamed(axis, name) for name in self.order.get(axis, [])),
            *self.rename.get(axis, {}).values(),
        ]
        return ((WRITTEN, written.index(level), ""),) if level in written else natural_key(level)

    def unmatched(self, levels: Mapping[str, set[str]]) -> Iterator[str]:
        """Yield a mistake per name of the file that no path has; `levels` holds the names of each part, and `path`."""
        for key in MAPPING_KEYS:
            for axis, names in getattr(self, key).items():
                known_levels = levels.get(axis, set())
                shown = {self.renamed(axis, name) for name in known_levels} if key == "order" else set()
                for name in names:
                    if name not in shown and not (
                        fnmatch.filter(known_levels, name) if key in CHOICES else name in known_levels
                    ):
                        yield f"{key}: {axis}: {name!r} matches nothing; there are {_some(known_levels)}"


def _some(names: Iterable[str]) -> str:
    ordered = sorted(names, key=natural_key)
    more = [f"{len(ordered) - MOST_LISTED} more"] if len(ordered) > MOST_LISTED else []
    return listing([*ordered[:MOST_LISTED], *more]) if ordered else "none"


def _filled(template: str, levels: Mapping[str, str]) -> str:
    """Return a name put together from levels; a part without a level goes with the text between it and another."""
    text, absent_first = "", False
    for number, (literal, name, *_) in enumerate(string.Formatter().parse(template)):
        is_present = name is None or name in levels
        text += literal if not number or (is_present and not absent_first) else ""
        text += levels[name] if is_present and name is not None else ""
        absent_first = not is_present and (not number or absent_first)
    return text


def natural_key(text: str) -> SortKey:
    """Return a sort key in which numbers inside a text count as numbers: 2 GB before 12 GB."""
    pieces = re.split(r"([0-9]+)", text)
    return tuple((1, int(piece), "") if piece.isdecimal() else (2, 0, piece) for piece in pieces)


def _fits(values: Iterable[str], globs: list[str]) -> bool:
    return any(fnmatch.fnmatchcase(value, glob) for value in values for glob in globs)


def _name(axis: str, name: str | None) -> str:
    """Return a name that can be part of a path. Raises BadName for one that cannot."""
    if not name or "/" in name or name in (".", ".."):
        raise BadName(f"its path gives the {axis} {name!r}, expected a name without a slash, other than . and ..")
    if not name.isprintable() or len(name.encode("utf-8", "replace")) > LONGEST_NAME_BYTES:
        raise BadName(f"its path gives the {axis} {name!r}, expected up to {LONGEST_NAME_BYTES} printable characters")
    return name


def _number(axis: str, text: str) -> int:
    most = MOST_CLIENTS if axis == "clients" else LARGEST_NUMBER
    least = 1 if axis == "clients" else 0
    if not re.fullmatch("[0-9]{1,18}", text) or not least <= int(text) <= most:
        raise BadName(f"its path gives the {axis} {text!r}, expected a whole number from {least} to {most}")
    return int(text)


@contextmanager
def time_limit(path: str, seconds: float = LONGEST_MATCH_S) -> Iterator[None]:
    """Raise TooSlow naming the path if the body takes longer; matching checks for signals, so that this ends it."""

    def stop(*_: object) -> None:
        raise TooSlow(f"the expression took more than {seconds:g} s for its path {path!r}")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
