"""What records say of failures, and their reasons without what differs, so that equal failures are told once."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from scripts.lib.parts import Part

T = TypeVar("T")
LEFT_OUT = "…"
PART = r"[^\s\"'`,;:()\[\]/]+"  # of a path
# Tried in order. A path keeps its last part, unless that has a digit.
PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (r"\d{4}-\d\d-\d\d[ T]?\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?Z\b| ?[+-]\d\d:?\d\d\b| [A-Z]{3,4}\b)?", LEFT_OUT),
        (r"\b\d{6} {1,2}\d{1,2}:\d\d:\d\d\b", LEFT_OUT),  # MySQL 5.5 and 5.6
        (r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?UTC\b| ?GMT\b)?", LEFT_OUT),
        (r"\b\d{4}-\d\d-\d\d\b", LEFT_OUT),
        (rf"(?<![\w./])(?:/|[\w.-]+/{PART}/)(?:{PART}/)*({PART})?", LEFT_OUT + r"/\1"),
        (rf"{LEFT_OUT}(?: \d+)(?= \[)", LEFT_OUT),  # the thread's number behind a time
        (r"\b0x[0-9A-Fa-f]+\b", LEFT_OUT),
        (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", LEFT_OUT),
        (r"\b(?:[0-9a-f]{12,}|(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,})\b", LEFT_OUT),
        (r"\b(?:tmp|pgobench)[-_]?\w*\d\w*\b", LEFT_OUT),
        (r"\[\d+(?::\d+)?\]", f"[{LEFT_OUT}]"),
        (
            r"\b((?:[Pp]rocess(?: id)?|[Pp][Ii][Dd]|[Tt]hread(?: id)?|[Cc]onnection|port|PID of)[ :=#]+)\d+",
            rf"\1{LEFT_OUT}",
        ),
        (r"\b(\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:]+\]):\d+\b", rf"\1:{LEFT_OUT}"),
        (r"\b\d+(?:\.\d+)?(?= ?(?:ms|µs|us|s|sec|seconds?|min)\b)", LEFT_OUT),
        (r"(?<![\w.-])\d{5,}(?![\w.])", LEFT_OUT),
    )
)


@dataclass(frozen=True, slots=True)
class FailureFacts(Part):
    """Why something failed: a code of `vocabulary.FailureKind`, and what the program said of it that failed.

    Records of earlier releases have it only for runs, and only where the code `comes_again`.
    """

    kind: str | None = None
    cause: str | None = None


def general(reason: str) -> str:
    """Return a reason without paths, times, process ids, addresses and random names: equal failures have equal ones."""
    text = reason
    for pattern, instead in PATTERNS:
        text = pattern.sub(instead, text)
    return re.sub(rf"{LEFT_OUT}/(?:{PART})?", _last_part, text)


def _last_part(path: re.Match[str]) -> str:
    return LEFT_OUT if re.search(r"\d", path[0]) else path[0]


@dataclass(frozen=True)
class Alike(Generic[T]):
    """Things that failed for one reason: that of the first, and all of them."""

    reason: str
    things: tuple[T, ...]


def alike(things: Iterable[T], reason_of: Callable[[T], str]) -> list[Alike[T]]:
    """Return things by their reasons, those with the most first; reasons that are the same in general are one."""
    groups: dict[str, list[T]] = {}
    for thing in things:
        groups.setdefault(general(reason_of(thing)), []).append(thing)
    ordered = sorted(groups.values(), key=len, reverse=True)
    return [Alike(reason_of(group[0]), tuple(group)) for group in ordered]


IN_FILE = re.compile(r"\s+in file \S+(?: line \d+)?")


def cause_text(cause: str) -> str:
    """Return what a server said of its end in a few words: without file, quotes and full stop."""
    return general(IN_FILE.sub("", cause)).translate({ord(sign): None for sign in "\"'`"}).rstrip(". ")
