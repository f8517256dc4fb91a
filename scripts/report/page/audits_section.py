"""The audits of profiles: how much of the code that ran in training was optimised with its profile."""

import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from scripts.lib.host.outcome import has_failed
from scripts.lib.json_record import part
from scripts.lib.wording import NOTHING, listing, missing, number, percent, plural
from scripts.report.page.document import (
    Facts,
    Fold,
    Head,
    Heading,
    PageBlock,
    Prose,
    Table,
    Verbatim,
    grid,
    table_row,
    word_heads,
)

UNKNOWN = "unknown"
MOST_UNFOLDED = 9  # directories
COLUMNS = {
    "units_compiled": "units compiled", "units_linked": "linked", "units_with_counters": "with counters",
    "units_nonzero": "ran in training", "units_matched": "optimised with it", "mismatches": "mismatches",
    "functions_executed": "functions that ran", "functions_matched": "of them optimised",
}  # fmt: skip
BOLT: dict[str, tuple[str, Callable]] = {
    "version": ("BOLT", str), "training": ("training", str), "input_build": ("made from", str),
    "functions_stale": ("functions whose profile does not fit", number),
}  # fmt: skip


def counted_audits(audits: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the audits that have counts: a failed build is never audited, its record of an audit has none."""
    return [audit for audit in audits if "matched_share" in audit or not has_failed(audit)]


def audit_of(build: dict[str, Any], audits: Iterable[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the audit of a build's compiler profile; that of a bolted build is the audit of its input."""
    names = (build["build"], part(build, "bolt").get("input_build"))
    found = {audit["build"]: audit for audit in audits if audit["server"] == build["server"]}
    return next((found[name] for name in names if name in found), None)


def is_lost(audit: dict[str, Any]) -> bool:
    """Return whether less of the profile was used than the audit demands."""
    return not (audit.get("matched_share") or 0) >= audit.get("threshold", 1)


def executed_share(audit: dict[str, Any]) -> str:
    """Return the sentence on how much of the code that ran in training was optimised with its profile."""
    share = audit.get("executed_share_optimised")
    if missing(share):
        return "What share of the code that ran in training was optimised with its profile is unknown."
    return f"{percent(share)} of the code that ran in training was optimised with its profile."


def units_text(audit: dict[str, Any]) -> str:
    """Return in words how many of the units that ran in training were compiled with their counters."""
    counted = f"{number(audit.get('units_matched'))} of {number(audit.get('units_nonzero'))} units that ran in training"
    least = f", least {percent(audit['threshold'], 0)}" if "threshold" in audit else ""
    return f"{counted} were compiled with their counters ({percent(audit.get('matched_share'))}{least})"


def audit_blocks(facts: list[dict[str, Any]], audits: Iterable[dict[str, Any]]) -> list[PageBlock]:
    """Return every audit; the audit of an input of BOLT names the builds made from it."""
    return [block for audit in audits for block in _audit_blocks(audit, facts)]


def _made_from(audit: dict[str, Any], facts: list[dict[str, Any]]) -> str:
    keys = [(build["server"], part(build, "bolt").get("input_build"), build.get("stage")) for build in facts]
    key = (audit["server"], audit["build"], "bolted")
    names = [build["build"] for build, found in zip(facts, keys, strict=True) if found == key]
    return f", the input of {listing(names)}" if names else ""


def _counted(audit: dict[str, Any]) -> str:
    if missing(audit.get("functions_executed")):
        return units_text(audit)
    functions = [number(audit.get(key)) for key in ("functions_matched", "functions_executed")]
    return f"{units_text(audit)}, and {functions[0]} of {functions[1]} functions that ran were optimised with theirs"


def _audit_blocks(audit: dict[str, Any], facts: list[dict[str, Any]]) -> Iterator[PageBlock]:
    """Yield one audit; a profile of which less was used than the audit demands is said to be lost."""
    lost = is_lost(audit)
    sentence = f"{executed_share(audit)} Training {audit.get('training', UNKNOWN)}: {_counted(audit)}."
    yield Heading(f"Profile used by {audit['build']} of {audit['server']}{_made_from(audit, facts)}")
    yield Prose(f"The profile is lost. {sentence}" if lost else sentence, "worse" if lost else "")
    if text := _names_text(audit):
        yield Prose(text)
    if names := _names(audit):
        yield grid(("counter file sought", "nearest one present"), names, 2)
    table = directory_table(audit)
    yield Fold(f"By directory: {len(table.rows) - 1}", (table,), is_open=len(table.rows) <= MOST_UNFOLDED)
    if unknown := [COLUMNS[key] for key in COLUMNS if key not in _known(audit)]:
        yield Prose(f"Unknown: {listing(unknown)}.", "quiet")
    yield Prose(_warnings(audit))
    if functions := [_function(entry) for entry in audit.get("top_functions") or []]:
        heads = ("function", "unit", "optimised", "count", "share")
        yield Fold(f"The {len(functions)} most executed functions in training", (grid(heads, functions, 3),))
    if lacking := [(str(entry["unit"]), str(entry["why"])) for entry in audit.get("missing") or []]:
        yield Fold(f"Without counters: {len(lacking)}", (grid(("unit", "why"), lacking, 2),))


def _parts(audit: dict[str, Any]) -> list[dict[str, Any]]:
    return [*(audit.get("by_directory") or []), {**audit, "directory": "in all"}]


def _known(audit: dict[str, Any]) -> list[str]:
    return [key for key in COLUMNS if any(not missing(part.get(key)) for part in _parts(audit))]


def directory_table(audit: dict[str, Any]) -> Table:
    """Return the counts of an audit by directory, their sums last; unknown counts have no column."""
    known = _known(audit)
    names = (*(COLUMNS[key] for key in known), "of the units that ran", "of the code that ran")
    rows = [
        table_row(part["directory"], *(number(part.get(key)) for key in known), *_shares(part))
        for part in _parts(audit)
    ]
    rows[-1] = replace(rows[-1], style="total")
    return Table((*word_heads("directory"), *map(Head, names)), tuple(rows), style="audit", labels=0)


def _shares(part: dict[str, Any]) -> tuple[str, str]:
    ran, matched = part.get("units_nonzero"), part.get("units_matched")
    of_units = percent(matched / ran) if ran and not missing(matched) else NOTHING
    return of_units, percent(part.get("executed_share_optimised"))


def _warnings(audit: dict[str, Any]) -> str:
    """Return the sentence on the compiler's warnings: missing profiles of both kinds, and counters of other code."""
    kinds = {
        "files_not_found": ("no counters file for", "unit"), "functions_not_found": ("no counters for", "function"),
        "mismatches": ("counters of other code in", "unit"),
        "functions_mismatched": ("counters of other code in", "function"),
    }  # fmt: skip
    counted = [
        f"{words} " + (f"an unknown number of {noun}s" if missing(audit.get(key)) else plural(audit[key], noun))
        for key, (words, noun) in kinds.items()
    ]
    return f"The compiler reported {listing(counted)}."


def _function(entry: dict[str, Any]) -> tuple[str, ...]:
    name, unit = (str(entry.get(key) or UNKNOWN) for key in ("function", "unit"))
    optimised = {True: "yes", False: "no"}.get(entry.get("optimised"), UNKNOWN)
    return name, unit, optimised, number(entry.get("count")), percent(entry.get("share"))


def _names(audit: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return (name of a counter file sought, nearest name present) for a profile that was not found."""
    pairs = audit.get("names") or []
    return tuple((str(pair["sought"]), str(pair.get("present") or "none like it")) for pair in pairs)


def _names_text(audit: dict[str, Any]) -> str:
    if missing(audit.get("names_sought")):
        return ""
    counted = [number(audit.get(f"names_{key}")) for key in ("found", "sought", "present")]
    return f"{counted[0]} of {counted[1]} counter files sought were found; {counted[2]} are there."


def bolt_blocks(facts: Iterable[dict[str, Any]]) -> list[PageBlock]:
    """Return BOLT's messages about its profile per optimised build."""
    profiled = [each for each in facts if each.get("stage") == "bolted" or part(each, "bolt").get("functions_profiled")]
    return [block for build in profiled for block in _bolt(build)]


def _bolt(build: dict[str, Any]) -> Iterator[PageBlock]:
    facts = build.get("bolt") or {}
    profiled, total = facts.get("functions_profiled"), facts.get("functions_total")
    share = f" ({percent(profiled / total)})" if total and not missing(profiled) else ""
    branches = facts.get("branches_profiled_share")
    sentence = f"{number(profiled)} of {number(total)} functions{share} had a profile; "
    of_branches = "an unknown share" if missing(branches) else percent(branches)
    sentence += f"of the executed branches, {of_branches} lie in functions whose profile fits the code."
    yield Heading(f"BOLT's profile in {build['build']} of {build['server']}")
    yield Prose(sentence)
    yield Facts([(label, _plain(facts.get(key), write)) for key, (label, write) in BOLT.items()])
    if arguments := shlex.join(facts.get("arguments") or []):
        yield Verbatim(arguments, "arguments")


def _plain(value: Any, write: Callable) -> str:
    return UNKNOWN if missing(value) else write(value)
