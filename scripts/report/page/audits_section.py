"""The audits of profiles: how much of the code that ran in training was optimised with its profile."""

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import replace

from scripts.lib.build_records import Audit, BuildFacts, ProfileCounts, TopFunction
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


def audit_of(build: BuildFacts, audits: Iterable[Audit]) -> Audit | None:
    """Return the audit of a build's compiler profile; that of a bolted build is the audit of its input."""
    by_name = {audit.build: audit for audit in audits if audit.server == build.server}
    return by_name.get(build.build) or by_name.get(build.bolt.input_build or "")


def executed_share(audit: Audit) -> str:
    """Return the sentence on how much of the code that ran in training was optimised with its profile."""
    share = audit.executed_share_optimised
    if missing(share):
        return "What share of the code that ran in training was optimised with its profile is unknown."
    return f"{percent(share)} of the code that ran in training was optimised with its profile."


def units_text(audit: Audit) -> str:
    """Return in words how many of the units that ran in training were compiled with their counters."""
    counted = f"{number(audit.units_matched)} of {number(audit.units_nonzero)} units that ran in training"
    least = "" if audit.threshold is None else f", least {percent(audit.threshold, 0)}"
    return f"{counted} were compiled with their counters ({percent(audit.matched_share)}{least})"


def audit_blocks(facts: list[BuildFacts], audits: Iterable[Audit]) -> list[PageBlock]:
    """Return every audit; the audit of an input of BOLT names the builds made from it."""
    return [block for audit in audits for block in _audit_blocks(audit, facts)]


def _made_from(audit: Audit, facts: list[BuildFacts]) -> str:
    of_server = [build for build in facts if build.server == audit.server and build.stage == "bolted"]
    names = [build.build for build in of_server if build.bolt.input_build == audit.build]
    return f", the input of {listing(names)}" if names else ""


def _counted(audit: Audit) -> str:
    if missing(audit.functions_executed):
        return units_text(audit)
    functions = f"{number(audit.functions_matched)} of {number(audit.functions_executed)} functions that ran"
    return f"{units_text(audit)}, and {functions} were optimised with theirs"


def _audit_blocks(audit: Audit, facts: list[BuildFacts]) -> Iterator[PageBlock]:
    """Yield one audit; a profile of which less was used than the audit demands is said to be lost."""
    sentence = f"{executed_share(audit)} Training {audit.training or UNKNOWN}: {_counted(audit)}."
    yield Heading(f"Profile used by {audit.title}{_made_from(audit, facts)}")
    yield Prose(f"The profile is lost. {sentence}" if audit.is_lost else sentence, "worse" if audit.is_lost else "")
    if audit.names_sought is not None:
        sought = f"{number(audit.names_found)} of {number(audit.names_sought)} counter files sought were found"
        yield Prose(f"{sought}; {number(audit.names_present)} are there.")
    if names := [(str(name.sought), name.present or "none like it") for name in audit.names or []]:
        yield grid(("counter file sought", "nearest one present"), names, 2)
    table = directory_table(audit)
    yield Fold(f"By directory: {len(table.rows) - 1}", (table,), is_open=len(table.rows) <= MOST_UNFOLDED)
    if unknown := [COLUMNS[key] for key in COLUMNS if key not in _known(audit)]:
        yield Prose(f"Unknown: {listing(unknown)}.", "quiet")
    yield Prose(_warnings(audit))
    if functions := [_function(function) for function in audit.top_functions or []]:
        heads = ("function", "unit", "optimised", "count", "share")
        yield Fold(f"The {len(functions)} most executed functions in training", (grid(heads, functions, 3),))
    if lacking := [(str(lost.unit), str(lost.why)) for lost in audit.missing or []]:
        yield Fold(f"Without counters: {len(lacking)}", (grid(("unit", "why"), lacking, 2),))


def _parts(audit: Audit) -> list[ProfileCounts]:
    return [*(audit.by_directory or []), replace(audit, directory="in all")]


def _known(audit: Audit) -> list[str]:
    return [key for key in COLUMNS if any(not missing(getattr(part, key)) for part in _parts(audit))]


def directory_table(audit: Audit) -> Table:
    """Return the counts of an audit by directory, their sums last; unknown counts have no column."""
    counts = _known(audit)
    names = (*(COLUMNS[key] for key in counts), "of the units that ran", "of the code that ran")
    rows = [
        table_row(str(part.directory), *(number(getattr(part, key)) for key in counts), *_shares(part))
        for part in _parts(audit)
    ]
    rows[-1] = replace(rows[-1], style="total")
    return Table((*word_heads("directory"), *map(Head, names)), tuple(rows), style="audit", labels=0)


def _shares(part: ProfileCounts) -> tuple[str, str]:
    ran, matched = part.units_nonzero, part.units_matched
    of_units = percent(matched / ran) if ran and matched is not None else NOTHING
    return of_units, percent(part.executed_share_optimised)


def _warnings(audit: Audit) -> str:
    """Return the sentence on the compiler's warnings: missing profiles of both kinds, and counters of other code."""
    kinds = (
        ("no counters file for", "unit", audit.files_not_found),
        ("no counters for", "function", audit.functions_not_found),
        ("counters of other code in", "unit", audit.mismatches),
        ("counters of other code in", "function", audit.functions_mismatched),
    )
    counted = [
        f"{words} " + (f"an unknown number of {noun}s" if count is None else plural(count, noun))
        for words, noun, count in kinds
    ]
    return f"The compiler reported {listing(counted)}."


def _function(function: TopFunction) -> tuple[str, ...]:
    optimised = UNKNOWN if function.optimised is None else "yes" if function.optimised else "no"
    names = function.function or UNKNOWN, function.unit or UNKNOWN
    return *names, optimised, number(function.count), percent(function.share)


def bolt_blocks(facts: Iterable[BuildFacts]) -> list[PageBlock]:
    """Return BOLT's messages about its profile per optimised build."""
    profiled = [build for build in facts if build.stage == "bolted" or build.bolt.functions_profiled]
    return [block for build in profiled for block in _bolt(build)]


def _bolt(build: BuildFacts) -> Iterator[PageBlock]:
    bolt = build.bolt
    profiled, total, branches = bolt.functions_profiled, bolt.functions_total, bolt.branches_profiled_share
    share = f" ({percent(profiled / total)})" if total and profiled is not None else ""
    of_branches = "an unknown share" if missing(branches) else percent(branches)
    yield Heading(f"BOLT's profile in {build.title}")
    yield Prose(
        f"{number(profiled)} of {number(total)} functions{share} had a profile; of the executed branches, "
        f"{of_branches} lie in functions whose profile fits the code."
    )
    stale = UNKNOWN if bolt.functions_stale is None else number(bolt.functions_stale)
    rows = {"BOLT": bolt.version, "training": bolt.training, "made from": bolt.input_build}
    named = [(label, text or UNKNOWN) for label, text in rows.items()]
    yield Facts([*named, ("functions whose profile does not fit", stale)])
    if arguments := shlex.join(bolt.arguments or []):
        yield Verbatim(arguments, "arguments")
