"""What each workload sends, for the page: the statements of one event, alike ones in a row told once."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from scripts.comparison import AA
from scripts.wording import listing, plural

LITERAL = re.compile(r"'(?:[^']|'')*'|\d+")
LONGEST = 240


@dataclass(frozen=True)
class SentView:
    """The statements of one event of a workload, as (text, times) of each group; `note` says which server logged it."""

    summary: str
    note: str
    rows: tuple[tuple[str, str], ...]


def sent(study: dict[str, Any], records: Sequence[tuple[str, dict[str, Any]]]) -> dict[str, list[SentView]]:
    """Return workload -> what its event sends: once for all variants, or for each group that is sent the same."""
    told = {(facts["workload"], facts["variant"]): facts["statements"] for _, facts in records if "statements" in facts}
    found: dict[str, list[SentView]] = {}
    for workload in study["workloads"]:
        kinds: dict[tuple, dict[str, dict]] = {}
        for variant in (name for name in study["variants"] if name != AA):
            if logged := told.get((workload, variant)):
                kind = (logged["total"], *(form(text) for text in logged["sent"]))
                kinds.setdefault(kind, {})[variant] = logged
        found[workload] = [_view(alike, len(kinds)) for alike in kinds.values()]
    return found


def form(statement: str) -> str:
    """Return a statement without its values and the numbers of its tables: statements of one form are alike."""
    return LITERAL.sub("?", " ".join(statement.split()))


def _view(alike: dict[str, dict], kinds: int) -> SentView:
    variant, logged = next(iter(alike.items()))
    rest = logged["total"] - len(logged["sent"])
    rows = [(_short(text), times) for text, times in grouped(logged["sent"])]
    left = [(f"and {plural(rest, 'statement')} more", "")] if rest else []
    who = f" ({listing(list(alike))})" if kinds > 1 else ""
    note = f"Taken from the log of the server of {variant}; statements that differ only in values are shown once."
    summary = f"{plural(logged['total'], 'statement')} in one event{who}"
    return SentView(summary, note, (*((text, str(times)) for text, times in rows), *left))


def grouped(statements: Sequence[str]) -> list[tuple[str, int]]:
    """Return (first of them, how many) of every group of statements of one form that follow each other."""
    groups = (list(group) for _, group in groupby(statements, key=form))
    return [(group[0], len(group)) for group in groups]


def _short(statement: str) -> str:
    text = " ".join(statement.split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"
