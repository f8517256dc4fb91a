"""Build a server: from a source tree to an install tree, its identity, and the facts of the build."""

import os
import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scripts.build.compilation import binary, compiler_calls, foreign_flags, profiles, toolchain
from scripts.build.compilation.compile import Compiled, build_tree, compile_server, source_link
from scripts.build.compilation.flags import build_flags, published_options, require_fit
from scripts.build.relink import kept_relinks
from scripts.build.relink.relink_server import BuildTree, Relinks, relink_server
from scripts.lib import json_record
from scripts.lib.host import entry, outcome
from scripts.lib.host.cache import cache_directory
from scripts.lib.host.entry import say_waiting
from scripts.lib.host.locks import shared
from scripts.lib.host.process import CommandFailed
from scripts.lib.recipe_models import CompileRecipe, StageKind
from scripts.measure.servers import families


@dataclass(frozen=True)
class Outputs:
    """The output folders and files of a build."""

    install: Path
    headers: Path
    calls: Path
    identity: Path
    facts: Path


def main(recipe: CompileRecipe, source: Path, profile: Path | None, threads: int, log: Path, **outputs: Path) -> None:
    """Inputs: `source`, the record of a source tree, and `profile`. Outputs: those of Outputs, `identity` last.

    Raises ValueError if the compiler lacks a profile flag or the profile belongs to other sources or another compiler;
    CommandFailed if a command fails. For a build that may fail, the outputs record the failure instead.
    """
    out, described = Outputs(**outputs), json_record.read(source)

    def give_up(reason: str) -> None:
        shutil.rmtree(out.headers, ignore_errors=True)
        out.headers.mkdir(parents=True)
        compiler_calls.write_calls([], out.calls)
        outcome.keep_build(recipe, described["release"], reason, out.identity, out.facts, out.install)

    with outcome.as_result(out.identity.parent, give_up, CommandFailed):
        make(recipe, source, described, profile, out, threads, log)


def make(
    recipe: CompileRecipe, source: Path, described: dict, profile: Path | None, out: Outputs, threads: int, log: Path
) -> None:
    """Compile and install the server, then write its records; `described` is the record `source`."""
    family = families.of(recipe.family)
    chosen = toolchain.find(recipe.toolchain.name, recipe.toolchain.commands)
    link = source_link(source.parent / "tree", described["tree_sha256"], cache_directory())
    demand_fit(profile, chosen, link)
    out.install.parent.mkdir(parents=True, exist_ok=True)
    with shared(say_waiting), build_tree(described["tree_sha256"], cache_directory(), recipe.stage) as build:
        flags = build_flags(recipe, chosen, build, profile, link, threads)
        configured = replace(recipe, configure=(*recipe.configure, *published_options(recipe, profile)))
        compiled = compile_server(family, link, build, chosen, flags, configured, threads, log)
        begin_s = time.monotonic()
        family.install(link, build, out.install.absolute(), log)
        steps_s = {**compiled.steps_s, "install": time.monotonic() - begin_s}
        calls = compiler_calls.read_calls(compiled.records, build)
        if chosen.kind == "clang" and recipe.stage == StageKind.INSTRUMENTED:
            # Clang's profile names functions, not units: their units are known from the object files only.
            calls = compiler_calls.with_functions(calls, build, chosen.nm)
        compiler_calls.write_calls(calls, out.calls)
        keep_headers(build, out.headers)
        relink(recipe, _identity(recipe, described, link, out), out, calls, BuildTree(build, chosen))
    declared = {"stage": recipe.stage, "toolchain": chosen.facts(), "flags": flags.facts()}
    made = {**declared, **_effort(compiled, steps_s, calls), "threads": threads}
    foreign = foreign_flags.foreign_flags({**made, "family": recipe.family}, calls)
    _describe(recipe, described, link, out, {**made, foreign_flags.FACT: foreign.facts()})


def demand_fit(profile: Path | None, chosen: toolchain.Toolchain, link: Path) -> None:
    """Raise Refused naming the profile if it failed, does not fit, or was changed after the training."""
    if profile is not None:
        outcome.usable(profile)
        with outcome.refusing():
            require_fit(profile, chosen, link)
            profiles.demand_whole(profile)


def _describe(recipe: CompileRecipe, described: dict, link: Path, out: Outputs, made: dict[str, Any]) -> None:
    """Write the facts of a finished build, `made` among them, then its identity."""
    file = families.of(recipe.family).SERVER
    identity = _identity(recipe, described, link, out)
    known = {key: value for key, value in identity.items() if key != "source_path"}
    sizes = binary.section_sizes(out.install / file, out.install)
    declared = {"recipe": recipe.dump(), "source_sha256": described["tree_sha256"]}
    json_record.write_signed(out.facts, {**known, **declared, **made, **sizes})
    json_record.write(out.identity, identity)


def _identity(recipe: CompileRecipe, described: dict, link: Path, out: Outputs) -> dict[str, Any]:
    """Return the identity of the installed server."""
    file = families.of(recipe.family).SERVER
    return {
        **recipe.names(described["release"]),
        **binary.identify(out.install / file),
        "server_file": file,
        "source_path": str(link),
    }


def relink(recipe: CompileRecipe, identity: dict[str, Any], out: Outputs, calls: list, place: BuildTree) -> None:
    """Relink the installed server as often as the study wants, which is not at all unless it is the reference."""
    folder = out.identity.parent
    kept_relinks.clear(folder)
    if count := kept_relinks.wanted(folder):
        relink_server(Relinks(folder, recipe, count, identity), calls, place)


def _effort(compiled: Compiled, steps_s: dict[str, float], calls: list) -> dict[str, Any]:
    linked = [call for call in calls if call.links]
    units = compiler_calls.compiled_units(calls)
    return {
        "configure_command": compiled.configure_command,
        "compile_arguments": compiler_calls.effective_arguments(units),
        "link_arguments": compiler_calls.effective_arguments(linked),
        "steps_s": steps_s,
        "wall_s": sum(steps_s.values()),
        "cpu_s": compiled.usage.cpu_s,
        "peak_rss_mib": compiled.usage.peak_rss_mib,
        "units_compiled": len(units),
    }


def keep_headers(build: Path, kept: Path) -> None:
    """Copy the configuration headers to `kept`, as evidence that all builds of a server have the same."""
    shutil.rmtree(kept, ignore_errors=True)
    for header in build.rglob("*config*.h"):
        target = kept / header.relative_to(build)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(header, target)


if __name__ == "__main__":
    threads: entry.Option = {"type": int, "default": os.cpu_count()}
    profile: entry.Option = {"type": Path, "nargs": "?"}
    paths = ("source", "install", "headers", "calls", "identity", "facts")
    entry.run(main, __doc__, *paths, recipe=entry.recipe(CompileRecipe), threads=threads, profile=profile)
