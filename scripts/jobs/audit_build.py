"""Audit a build: measure how much of its profile was used, from the compiler's calls and the counters."""

from dataclasses import replace
from pathlib import Path

from scripts.build.compilation import audit as builds_audit
from scripts.build.compilation import clang, gcc, toolchain
from scripts.build.compilation.compiler_calls import compiled_units, linked_units, read_kept_calls
from scripts.lib import json_record
from scripts.lib.build_records import Audit, BuildIdentity
from scripts.lib.host import entry, outcome
from scripts.lib.recipe_models import CompileRecipe


def main(
    recipe: CompileRecipe,
    calls: Path,
    identity: Path,
    profile: Path,
    instrumented: Path,
    audit: Path,
    log: Path,
    may_fail: bool = False,
) -> None:
    """Inputs: `calls` of the compiler, `profile`, `identity`, `instrumented`. Output: `audit`, a record.

    `identity` and `instrumented` are the identity records of the build and of its instrumented stage, with install
    trees and calls beside them; the counters are beside `profile`. Raises Refused if too little of the profile was
    used; the published recipe, known to lose its profile, and a build that may fail get an audit that records this.
    Raises ValueError if counters or programs cannot be read.
    """
    described = json_record.read_part(BuildIdentity, identity)
    record = names = Audit(server=described.server, build=described.build, published=recipe.published)

    def write(judged: Audit) -> None:
        # A build that failed has no counts, an audit has them all, known or not.
        json_record.write(audit, judged.to_json(*(Audit.ORDER if record is not names else ())))

    with outcome.as_result(audit.parent, may_fail, lambda mark: write(record.failed(mark))):
        outcome.usable(BuildIdentity, identity)
        judged = judge(recipe, calls, identity, profile, instrumented)
        record = replace(judged, server=names.server, build=names.build, published=names.published)
        if not recipe.published:
            with outcome.refusing():
                builds_audit.demand_profile_used(record)
        write(record)


def judge(recipe: CompileRecipe, calls: Path, identity: Path, profile: Path, instrumented: Path) -> Audit:
    """Return the audit of the build of an identity record, without its names."""
    chosen = toolchain.find(recipe.toolchain.name, recipe.toolchain.commands)
    described, compiler_calls = json_record.read_part(BuildIdentity, identity), read_kept_calls(calls)
    linked, ambiguous = linked_units(compiler_calls, described.server_file, identity.parent / "install")
    counters, units = profile.parent / "counters", compiled_units(compiler_calls)
    training = recipe.profile.training if recipe.profile else ""
    if chosen.kind == "clang":
        functions = clang.read_functions(counters, chosen.profdata)
        # The functions of a unit are those of the instrumented build's calls.
        trained = compiled_units(read_kept_calls(instrumented.parent / "calls.json.gz"))
        audit = builds_audit.audit(clang.profile_units(functions, units, trained, linked), training)
    else:
        files, problem = gcc.read_counters(counters, chosen.gcov_dump), gcc.names_problem(chosen.version)
        symbols = {} if problem else gcc.function_symbols(instrumented.parent / "install")
        audit = builds_audit.audit(gcc.profile_units(files, units, linked, symbols), training, problem)
        audit = gcc.names_compared(audit, files, units) if recipe.published else audit
    return replace(audit, tool=chosen.kind, members_ambiguous=ambiguous)


if __name__ == "__main__":
    paths = ("calls", "identity", "profile", "instrumented", "audit")
    entry.run(main, __doc__, *paths, recipe=entry.recipe(CompileRecipe), may_fail=entry.MAY_FAIL)
