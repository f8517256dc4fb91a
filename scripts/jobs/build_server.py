"""Build a server: from a source tree to an install tree, its identity, and the facts of the build."""

import os
import shutil
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from scripts.build.compilation import binary, compiler_calls, foreign_flags, profiles, toolchain
from scripts.build.compilation.compile import build_tree, compile_server, source_link
from scripts.build.compilation.compiler_calls import CompilerCall
from scripts.build.compilation.flags import build_flags, published_options, require_fit
from scripts.build.relink.relink_ways import BuildTree, by_linker
from scripts.build.relink.relinking import relink_build
from scripts.build.sources.declared import SourceIdentity
from scripts.lib import json_record
from scripts.lib.build_records import BuildIdentity, Failable, TrainedProfile
from scripts.lib.host import entry, outcome
from scripts.lib.host.cache import cache_directory
from scripts.lib.host.entry import say_waiting
from scripts.lib.host.locks import shared
from scripts.lib.host.process import CommandFailed
from scripts.lib.recipe_models import CompileRecipe, StageKind
from scripts.measure.servers import families

IN_FACTS = (
    *(*BuildIdentity.ORDER, "recipe", "source_sha256", "stage", "toolchain", "flags", "configure_command"),
    *("compile_arguments", "link_arguments", "steps_s", "wall_s", "cpu_s", "peak_rss_mib", "units_compiled"),
)


@dataclass(frozen=True)
class Outputs:
    """The output folders and files of a build."""

    install: Path
    headers: Path
    calls: Path
    identity: Path
    facts: Path


def main(
    recipe: CompileRecipe,
    source: Path,
    profile: Path | None,
    threads: int,
    log: Path,
    relinks: int = 0,
    may_fail: bool = False,
    **outputs: Path,
) -> None:
    """Inputs: `source`, the record of a source tree, and `profile`. Outputs: those of Outputs, `identity` last.

    Raises ValueError if the compiler lacks a profile flag or the profile belongs to other sources or another compiler;
    CommandFailed if a command fails. For a build that may fail, the outputs record the failure instead.
    """
    out, described = Outputs(**outputs), json_record.read_part(SourceIdentity, source)

    def give_up(mark: Failable) -> None:
        shutil.rmtree(out.headers, ignore_errors=True)
        out.headers.mkdir(parents=True)
        compiler_calls.write_calls([], out.calls)
        outcome.keep_build(recipe, described.release, mark, out.identity, out.facts, out.install)

    with outcome.as_result(out.identity.parent, may_fail, give_up, CommandFailed):
        make(recipe, source.parent / "tree", described, profile, out, threads, relinks, log)


def make(
    recipe: CompileRecipe,
    tree: Path,
    source: SourceIdentity,
    profile: Path | None,
    out: Outputs,
    threads: int,
    relinks: int,
    log: Path,
) -> None:
    """Compile and install the server from the sources in `tree`, then write its records."""
    family, sha256 = families.of(recipe.family), source.tree_sha256 or ""
    chosen = toolchain.find(recipe.toolchain.name, recipe.toolchain.commands)
    link = source_link(tree, sha256, cache_directory())
    demand_fit(profile, chosen, link)
    out.install.parent.mkdir(parents=True, exist_ok=True)
    with shared(say_waiting), build_tree(sha256, cache_directory(), recipe.stage) as build:
        flags = build_flags(recipe, chosen, build, profile, link, threads)
        configured = replace(recipe, configure=(*recipe.configure, *published_options(recipe, profile)))
        compiled = compile_server(family, link, build, chosen, flags, configured, threads, log)
        begin_s = time.monotonic()
        family.install(link, build, out.install.absolute(), log)
        effort = compiled.effort(install_s=time.monotonic() - begin_s)
        calls = keep_calls(recipe, compiled.records, BuildTree(build, chosen), out)
        names = BuildIdentity.declared(recipe, source.release)
        identity = binary.identified(names, out.install, family.SERVER, str(link))
        way = partial(by_linker, recipe.digest, calls, BuildTree(build, chosen))
        relink_build(out.identity.parent, relinks, recipe, identity, way)
    declared = replace(effort, recipe=recipe.dump(), source_sha256=sha256, stage=recipe.stage, threads=threads)
    facts = replace(declared, toolchain=chosen.facts(), flags=flags.facts())
    units = compiler_calls.compiled_units(calls)
    facts = replace(
        facts.of_program(identity),
        compile_arguments=compiler_calls.effective_arguments(units),
        link_arguments=compiler_calls.effective_arguments(call for call in calls if call.links),
        units_compiled=len(units),
    )
    facts = replace(binary.sized(facts, out.install), foreign_flags=foreign_flags.foreign_flags(facts, calls))
    json_record.write_signed(out.facts, facts.to_json(*IN_FACTS))
    json_record.write(out.identity, identity.to_json(*BuildIdentity.ORDER))


def keep_calls(recipe: CompileRecipe, records: Path, tree: BuildTree, out: Outputs) -> list[CompilerCall]:
    """Keep the compiler's calls and the configuration headers beside the build; return the calls."""
    calls = compiler_calls.read_calls(records, tree.build)
    if tree.chosen.kind == "clang" and recipe.stage == StageKind.INSTRUMENTED:
        # Clang's profile names functions, not units: their units are known from the object files only.
        calls = compiler_calls.with_functions(calls, tree.build, tree.chosen.nm)
    compiler_calls.write_calls(calls, out.calls)
    # Evidence that all builds of a server have the same configuration.
    shutil.rmtree(out.headers, ignore_errors=True)
    for header in tree.build.rglob("*config*.h"):
        target = out.headers / header.relative_to(tree.build)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(header, target)
    return calls


def demand_fit(profile: Path | None, chosen: toolchain.Toolchain, link: Path) -> None:
    """Raise Refused naming the profile if it failed, does not fit, or was changed after the training."""
    if profile is not None:
        outcome.usable(TrainedProfile, profile)
        with outcome.refusing():
            require_fit(profile, chosen, link)
            profiles.demand_whole(profile)


if __name__ == "__main__":
    threads: entry.Option = {"type": int, "default": os.cpu_count()}
    profile: entry.Option = {"type": Path, "nargs": "?"}
    paths = ("source", "install", "headers", "calls", "identity", "facts")
    others = {"recipe": entry.recipe(CompileRecipe), "relinks": entry.RELINKS, "may_fail": entry.MAY_FAIL}
    entry.run(main, __doc__, *paths, **others, threads=threads, profile=profile)
