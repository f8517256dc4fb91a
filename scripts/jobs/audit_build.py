"""Audit a build: measure how much of its profile was used, from the compiler's calls and the counters."""

from pathlib import Path
from typing import Any

from scripts.build.compilation import audit as builds_audit
from scripts.build.compilation import clang, gcc, toolchain
from scripts.build.compilation.audit import Unit
from scripts.build.compilation.compiler_calls import CompilerCall, compiled_units, linked_units, read_kept_calls
from scripts.lib import json_record
from scripts.lib.host import entry, outcome
from scripts.lib.recipe_models import CompileRecipe

Found = tuple[list[Unit], dict[str, Any]]


def main(
    recipe: CompileRecipe, calls: Path, identity: Path, profile: Path, instrumented: Path, audit: Path, log: Path
) -> None:
    """Inputs: `calls` of the compiler, `profile`, `identity`, `instrumented`. Output: `audit`, a record.

    `identity` and `instrumented` are the identity records of the build and of its instrumented stage, with install
    trees and calls beside them; the counters are beside `profile`. Raises Refused if too little of the profile was
    used; the published recipe, known to lose its profile, and a build that may fail get an audit that records this.
    Raises ValueError if counters or programs cannot be read.
    """
    described, published = json_record.read(identity), recipe.published
    facts = {key: described[key] for key in ("server", "build")} | {"published": published}
    with outcome.as_result(
        audit.parent, lambda reason: json_record.write(audit, {**facts, **outcome.failure_facts(reason)})
    ):
        outcome.usable(identity)
        facts |= judge(recipe, calls, described, identity.parent / "install", profile, instrumented)
        if not published:
            with outcome.refusing():
                builds_audit.demand_profile_used(facts)
        json_record.write(audit, facts)


def judge(
    recipe: CompileRecipe, calls: Path, described: dict, install: Path, profile: Path, instrumented: Path
) -> dict[str, Any]:
    """Return the facts of the audit of the build whose identity record is `described`."""
    chosen = toolchain.find(recipe.toolchain.name, recipe.toolchain.commands)
    made = read_kept_calls(calls)
    linked, ambiguous = linked_units(made, described["server_file"], install)
    counters = profile.parent / "counters"
    if chosen.kind == "clang":
        judged, shown = by_clang(made, counters, linked, instrumented, chosen)
        names_problem = None
    else:
        judged, shown = by_gcc(made, counters, linked, instrumented, chosen, recipe.published)
        names_problem = gcc.names_problem(chosen.version)
    training = recipe.profile.training if recipe.profile else ""
    facts = builds_audit.audit(judged, training, names_problem)
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
    files = gcc.read_counters(counters, chosen.gcov_dump)
    symbols = {} if gcc.names_problem(chosen.version) else gcc.function_symbols(instrumented.parent / "install")
    judged = gcc.profile_units(files, compiled_units(calls), linked, symbols)
    if not published:
        return judged, {}
    pairs, counts = gcc.names_compared(files, compiled_units(calls))
    return judged, {"names": pairs, **counts}


def by_clang(
    calls: list[CompilerCall],
    counters: Path,
    linked: set[str] | None,
    instrumented: Path,
    chosen: toolchain.Toolchain,
) -> Found:
    """Return the units of a profile by clang; the functions of a unit are those of the instrumented build's calls."""
    functions = clang.read_functions(counters, chosen.profdata)
    trained = compiled_units(read_kept_calls(instrumented.parent / "calls.json.gz"))
    return clang.profile_units(functions, compiled_units(calls), trained, linked), {}


if __name__ == "__main__":
    entry.run(
        main,
        __doc__,
        "calls",
        "identity",
        "profile",
        "instrumented",
        "audit",
        recipe=entry.recipe(CompileRecipe),
    )
