"""Audit whether a build used its profile: counts over its units, for any compiler, and their lower limits."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields

from scripts.build.compilation.compiler_calls import CompilerCall, unit_directory
from scripts.lib.build_records import Audit, LostUnit, ProfileCounts, TopFunction, TrainedProfile


@dataclass(frozen=True)
class ExecutedFunction:
    """A function that ran in training.

    `symbol` and `name` are None if unknown; `count` is the sum of its counters; `lost` is true if the compiler reported
    that it did not use them, `again` if another unit that contains the function too already counts it.
    """

    symbol: str | None
    name: str | None
    count: int
    lost: bool = False
    again: bool = False


@dataclass(frozen=True)
class Unit:
    """One unit, of the profile, of the build, or of both.

    `linked` is None if unknown; `why` is the reason why a unit that ran was not optimised with its counters, None if it
    was. The last four are the compiler's warnings: its counters file is missing, how many functions were not in it,
    whether and for how many functions it belongs to other code.
    """

    name: str
    compiled: bool = False
    linked: bool | None = None
    counted: bool = False
    executed: tuple[ExecutedFunction, ...] = ()
    why: str | None = None
    file_not_found: bool = False
    functions_not_found: int = 0
    mismatch: bool = False
    functions_mismatched: int = 0


@dataclass(frozen=True)
class Complaints:
    """How a compiler complains: no file of counters, no counters of a function, counters of other code."""

    no_file: re.Pattern[str] | None
    no_function: re.Pattern[str]
    mismatch: re.Pattern[str]
    mismatched_function: re.Pattern[str]


def compiled_unit(name: str, call: CompilerCall | None, linked: set[str] | None, complaints: Complaints) -> Unit:
    """Return a unit as its compile tells of it, None if this build does not compile it; its counters are not known."""
    printed = call.said if call else ""
    return Unit(
        name=name,
        compiled=call is not None,
        linked=call is not None and call.unit in linked if linked is not None else None,
        file_not_found=bool(complaints.no_file and complaints.no_file.search(printed)),
        functions_not_found=len(complaints.no_function.findall(printed)),
        mismatch=bool(complaints.mismatch.search(printed)),
        functions_mismatched=len(set(complaints.mismatched_function.findall(printed))),
    )


THRESHOLD = 0.99
# A server that ends cleanly writes the counters of every unit in it, of loaded modules too: seen 773 of 779 units
# (MariaDB) and 785 of 922 (PostgreSQL).
COUNTED_LEAST = 0.5
TOP_FUNCTIONS = 20


def audit(units: Iterable[Unit], training: str, names_problem: str | None = None) -> Audit:
    """Return counts, in all and by directory, of how much of a profile a build was optimised with.

    The share of the executed code weighs each function with the sum of its counters; those of matched units count for
    it unless the compiler reported one as lost. It is None when nothing ran, and when the names of functions, by which
    lost ones are recognised, are unknown for the reason `names_problem`.
    """
    units, names_known = list(units), names_problem is None
    folders: dict[str, list[Unit]] = {}
    for unit in units:
        folders.setdefault(unit_directory(unit.name), []).append(unit)
    counts = _counts(units, names_known)
    ran, matched = counts.units_nonzero, counts.units_matched
    return Audit(
        **{count.name: getattr(counts, count.name) for count in fields(counts)},
        training=training,
        matched_share=matched / ran if ran and matched is not None else None,
        threshold=THRESHOLD,
        by_directory=[_counts(folders[name], names_known, name) for name in sorted(folders)],
        missing=[LostUnit(unit.name, unit.why) for unit in units if unit.why],
        functions_without_name=sum(function.symbol is None for unit in units for function in unit.executed),
        top_functions=top_functions(units) if names_known else [],
        names_problem=names_problem,
    )


def _counts(units: list[Unit], names_known: bool, directory: str | None = None) -> ProfileCounts:
    ran = _ran(units)
    matched = [function for unit, function in ran if _optimised(unit, function)]
    weight = sum(function.count for _, function in ran) if names_known else 0
    linked = [unit.linked for unit in units if unit.linked is not None]
    return ProfileCounts(
        directory=directory,
        units_compiled=sum(unit.compiled for unit in units),
        units_linked=sum(linked) if linked else None,
        units_with_counters=sum(unit.counted for unit in units),
        units_nonzero=sum(bool(unit.executed) for unit in units),
        units_matched=sum(bool(unit.executed) and unit.why is None for unit in units),
        functions_executed=len(ran),
        functions_matched=len(matched) if names_known else None,
        executed_share_optimised=sum(function.count for function in matched) / weight if weight else None,
        files_not_found=sum(unit.file_not_found for unit in units),
        functions_not_found=sum(unit.functions_not_found for unit in units),
        mismatches=sum(unit.mismatch for unit in units),
        functions_mismatched=sum(unit.functions_mismatched for unit in units),
    )


def _ran(units: Iterable[Unit]) -> list[tuple[Unit, ExecutedFunction]]:
    return [(unit, function) for unit in units for function in unit.executed if not function.again]


def _optimised(unit: Unit, function: ExecutedFunction) -> bool:
    return unit.why is None and not function.lost


def top_functions(units: Iterable[Unit], first: int = TOP_FUNCTIONS) -> list[TopFunction]:
    """Return the functions with the highest counts."""
    ran = _ran(units)
    weight = sum(function.count for _, function in ran)
    ran.sort(key=lambda pair: (-pair[1].count, pair[0].name, pair[1].name or ""))
    return [
        TopFunction(function.name, unit.name, function.count, function.count / weight, _optimised(unit, function))
        for unit, function in ran[:first]
    ]


def demand_trained(profile: TrainedProfile) -> None:
    """Refuse a profile without a counter above zero. Raises ValueError naming the training."""
    if not profile.functions_nonzero:
        raise ValueError(
            f"training {profile.training} of {profile.server}: all counters of {profile.files} files are zero, "
            "so the load never reached the server"
        )


def demand_profile_used(audit: Audit) -> None:
    """Refuse a build that did not use its profile.

    Raises ValueError with the share found, the share expected and the units that are missing.
    """
    share, linked, counted = audit.matched_share, audit.units_linked, audit.units_with_counters or 0
    if linked and counted < COUNTED_LEAST * linked:
        raise ValueError(
            f"profile {audit.training}: {counted} of the {linked} units of the server have counters, expected "
            f"{COUNTED_LEAST:.0%} or more: the training lost those of the others"
        )
    if share is None:
        raise ValueError(f"profile {audit.training}: no unit has a non-zero counter, so nothing was trained")
    if audit.is_lost:
        named = "\n".join(f"  {lost.unit}: {lost.why}" for lost in (audit.missing or [])[:20])
        raise ValueError(
            f"profile {audit.training}: {audit.units_matched} of {audit.units_nonzero} executed units were "
            f"compiled with their counters ({share:.1%}, expected {THRESHOLD:.0%} or more). Missing:\n{named}"
        )
