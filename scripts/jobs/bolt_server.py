"""Rewrite a finished server with BOLT: instrument it, or optimise its layout with the profile of a training."""

import shutil
from pathlib import Path
from typing import Any

from scripts.build.compilation import binary, bolt, profiles, toolchain
from scripts.build.relink import kept_relinks
from scripts.build.relink.bolt_relinking import bolt_relinks
from scripts.build.relink.relink_server import Relinks
from scripts.lib import json_record
from scripts.lib.host import entry, outcome
from scripts.lib.host.cache import cache_directory
from scripts.lib.host.entry import say_waiting
from scripts.lib.host.locks import shared
from scripts.lib.host.process import CommandFailed, Usage, run
from scripts.lib.host.workplace import installed
from scripts.lib.recipe_models import BoltRecipe, StageKind
from scripts.measure.servers import families


def main(
    recipe: BoltRecipe, base: Path, profile: Path | None, install: Path, identity: Path, facts: Path, log: Path
) -> None:
    """Inputs: `base`, the identity of BOLT's input, and `profile`. Outputs: `install`, then `facts`, then `identity`.

    The install tree of the input is beside `base`. Raises CommandFailed if llvm-bolt fails, Refused if it used no
    profile or its input or profile failed, ValueError if the input is not the declared one. For a build that may fail,
    the outputs record the failure instead.
    """

    def give_up(reason: str) -> None:
        outcome.keep_build(recipe, json_record.read(base)["release"], reason, identity, facts, install)

    with outcome.as_result(identity.parent, give_up, CommandFailed):
        for needed in filter(None, (base, profile)):
            outcome.usable(needed)
        if profile:
            with outcome.refusing():
                profiles.demand_whole(profile)
        make(recipe, base, profile, install, identity, facts, log)


def make(
    recipe: BoltRecipe, base: Path, profile: Path | None, install: Path, identity: Path, facts: Path, log: Path
) -> None:
    """Run llvm-bolt, then write the records of the server."""
    family = families.of(recipe.family)
    chosen = toolchain.find(recipe.toolchain.name, recipe.toolchain.commands)
    given, whole = json_record.read(base), installed(base)

    def rewrite(program: Path, written: Path) -> tuple[Usage, dict[str, Any]]:
        return rewritten(recipe, chosen, program, written, profile, log)

    made, names = install / family.SERVER, recipe.names(given["release"])
    shutil.rmtree(install, ignore_errors=True)
    with shared(say_waiting):
        shutil.copytree(whole, install, symlinks=True)
        made.unlink()
        usage, about = rewrite(whole / given["server_file"], made)
    declared = {"stage": recipe.stage, "toolchain": chosen.facts(), "flags": None, "bolt": about}
    known, effort = binary.identify(made), {**_effort(usage), "threads": 1}
    sizes = {**binary.section_sizes(made, install), "server_file": family.SERVER}
    json_record.write_signed(facts, {**names, "recipe": recipe.dump(), **declared, **effort, **known, **sizes})
    place = {"profile_folder": str(profile_place(recipe))} if recipe.stage == StageKind.BOLT_INSTRUMENTED else {}
    kept = {**names, **known, "server_file": family.SERVER, "source_path": given["source_path"], **place}
    kept_relinks.clear(identity.parent)
    if count := kept_relinks.wanted(identity.parent):
        with shared(say_waiting):
            bolt_relinks(Relinks(identity.parent, recipe, count, kept), base.parent, about, rewrite)
    json_record.write(identity, kept)


def rewritten(
    recipe: BoltRecipe, chosen: toolchain.Toolchain, program: Path, made: Path, profile: Path | None, log: Path
) -> tuple[Usage, dict[str, Any]]:
    """Run llvm-bolt on a program; return what it took, and the part `bolt` of the facts."""
    command = command_of(recipe, chosen, program, made, profile, profile_place(recipe))
    offset = log.stat().st_size if log.exists() else 0
    usage = run(command, log).usage
    with outcome.refusing():
        return usage, bolt_facts(recipe, chosen, command, log.read_bytes()[offset:].decode(errors="replace"))


def profile_place(recipe: BoltRecipe) -> Path:
    """Return the folder for the profile of an instrumented server; BOLT compiles the path into the program."""
    return cache_directory() / "bolt" / recipe.digest


def command_of(
    recipe: BoltRecipe, chosen: toolchain.Toolchain, program: Path, made: Path, profile: Path | None, written: Path
) -> list[str]:
    """Return llvm-bolt's command line for this stage."""
    if profile is None:
        forks = families.of(recipe.family).FORKS
        return bolt.instrument_command(chosen.bolt, program, made, written, forks=forks)
    return bolt.optimise_command(chosen.bolt, program, made, profile.parent / "counters" / bolt.PROFILE)


def bolt_facts(recipe: BoltRecipe, chosen: toolchain.Toolchain, command: list[str], text: str) -> dict[str, Any]:
    """Return the part `bolt` of the facts: input, version, arguments, and figures on the profile from its log."""
    about = bolt.facts_from_log(text) if recipe.profile else {}
    arguments = [part for part in command[1:] if part.startswith("-") and part != "-o"]
    training = recipe.profile.training if recipe.profile else None
    shown = {"input_build": recipe.input.name, "version": chosen.version, "training": training}
    return {**shown, "arguments": arguments, **about}


def _effort(usage: Usage) -> dict[str, Any]:
    seconds = {"steps_s": {"bolt": usage.wall_s}, "wall_s": usage.wall_s, "cpu_s": usage.cpu_s}
    return {**seconds, "peak_rss_mib": usage.peak_rss_mib}


if __name__ == "__main__":
    profile = {"type": Path, "nargs": "?"}
    entry.run(main, __doc__, "base", "install", "identity", "facts", recipe=entry.recipe(BoltRecipe), profile=profile)
