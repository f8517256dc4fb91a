"""Audit a build: how much of its profile it was optimised with, from the compiler's calls and the counters."""

from pathlib import Path
from typing import Any

from scripts import clang_profile, failures, gcc_counters, gcc_profile, job, profile_audit, record, toolchain
from scripts.compile_records import CompilerCall, kept, units
from scripts.gcc_symbols import function_symbols
from scripts.linked_units import linked_units
from scripts.profile_units import Unit

Found = tuple[list[Unit], dict[str, Any]]


def main(recipe: dict, calls: Path, identity: Path, profile: Path, instrumented: Path, audit: Path, log: Path) -> None:
    """Make `audit`; counters lie beside `profile`, install trees and calls beside the two identities.

    Raises Refused when too little of the profile was used, unless the recipe is the published one, which is known to
    lose it, or the build may fail: then the audit tells it; ValueError when counters or programs cannot be read.
    """
    described, published = record.read(identity), bool(recipe.get("published"))
    facts = {key: described[key] for key in ("server", "build")} | {"published": published}
    with failures.as_result(audit.parent, lambda reason: record.write(audit, {**facts, **failures.told(reason)})):
        failures.usable(identity)
        facts |= judge(recipe, calls, described, identity.parent / "install", profile, instrumented)
        if not published:
            with failures.refusing():
                profile_audit.demand(facts)
        record.write(audit, facts)


def judge(
    recipe: dict, calls: Path, described: dict, install: Path, profile: Path, instrumented: Path
) -> dict[str, Any]:
    """Return the facts of an audit of the build that `described`, its identity, tells of."""
    chosen = toolchain.find(recipe["toolchain"]["name"], recipe["toolchain"]["commands"])
    made = kept(calls)
    linked, ambiguous = linked_units(made, described["server_file"], install)
    counters = profile.parent / "counters"
    if chosen.kind == "clang":
        judged, shown = by_clang(made, counters, linked, instrumented, chosen)
    else:
        judged, shown = by_gcc(made, counters, linked, instrumented, chosen, bool(recipe.get("published")))
    facts = profile_audit.audit(judged, recipe["profile"]["training"])
    return {"tool": chosen.kind, **facts, "members_ambiguous": ambiguous, **shown}


def by_gcc(
    calls: list[CompilerCall],
    counters: Path,
    linked: set[str] | None,
    instrumented: Path,
    chosen: toolchain.Toolchain,
    published: bool,
) -> Found:
    """Return the units of a profile by gcc; for the published recipe also names of counters sought and present."""
    files = gcc_counters.read_counters(counters, chosen.gcov_dump)
    symbols = function_symbols(instrumented.parent / "install")
    judged = gcc_profile.profile_units(files, units(calls), linked, symbols)
    if not published:
        return judged, {}
    pairs, counts = gcc_profile.names_compared(files, units(calls))
    return judged, {"names": pairs, **counts}


def by_clang(
    calls: list[CompilerCall],
    counters: Path,
    linked: set[str] | None,
    instrumented: Path,
    chosen: toolchain.Toolchain,
) -> Found:
    """Return the units of a profile by clang; the instrumented build's calls tell which functions a unit has."""
    functions = clang_profile.read_functions(counters, chosen.profdata)
    trained = units(kept(instrumented.parent / "calls.json.gz"))
    return clang_profile.profile_units(functions, units(calls), trained, linked), {}


if __name__ == "__main__":
    job.run(main, __doc__, "calls", "identity", "profile", "instrumented", "audit", recipe=job.RECIPE)
