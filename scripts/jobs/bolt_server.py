"""Rewrite a finished server with BOLT: instrument it, or optimise its layout with the profile of a training."""

import shutil
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from scripts.build.compilation import binary, bolt, profiles, toolchain
from scripts.build.relink.relink_ways import by_bolt
from scripts.build.relink.relinking import relink_build
from scripts.lib import json_record
from scripts.lib.build_records import BoltFacts, BuildFacts, BuildIdentity, Failable, TrainedProfile
from scripts.lib.host import entry, outcome
from scripts.lib.host.cache import cache_directory
from scripts.lib.host.entry import say_waiting
from scripts.lib.host.locks import shared
from scripts.lib.host.process import CommandFailed, Usage, run
from scripts.lib.host.workplace import installed
from scripts.lib.recipe_models import BoltRecipe, StageKind
from scripts.measure.servers import families

IN_FACTS = (
    *("server", "family", "build", "release", "recipe", "stage", "toolchain", "flags", "bolt", "steps_s", "wall_s"),
    *("cpu_s", "peak_rss_mib", "threads", "sha256", "build_id", "text_bytes", "file_bytes", "install_bytes"),
)


def main(
    recipe: BoltRecipe,
    base: Path,
    profile: Path | None,
    install: Path,
    identity: Path,
    facts: Path,
    log: Path,
    relinks: int = 0,
    may_fail: bool = False,
) -> None:
    """Inputs: `base`, the identity of BOLT's input, and `profile`. Outputs: `install`, then `facts`, then `identity`.

    The install tree of the input is beside `base`; `relinks` of the input's relinks are rewritten too. Raises
    CommandFailed if llvm-bolt fails, Refused if it used no profile or its input or profile failed, ValueError if the
    input is not the declared one. For a build that may fail, the outputs record the failure instead.
    """
    release = json_record.read_part(BuildIdentity, base).release

    def give_up(mark: Failable) -> None:
        outcome.keep_build(recipe, release, mark, identity, facts, install)

    with outcome.as_result(identity.parent, may_fail, give_up, CommandFailed):
        outcome.usable(BuildIdentity, base)
        if profile:
            outcome.usable(TrainedProfile, profile)
            with outcome.refusing():
                profiles.demand_whole(profile)
        make(recipe, base, profile, install, identity, facts, relinks, log)


def make(
    recipe: BoltRecipe,
    base: Path,
    profile: Path | None,
    install: Path,
    identity: Path,
    facts: Path,
    relinks: int,
    log: Path,
) -> None:
    """Run llvm-bolt, then write the records of the server."""
    family, rewriting = families.of(recipe.family), Rewriting.of(recipe, profile, log)
    of_input, unpacked = json_record.read_part(BuildIdentity, base), installed(base)
    shutil.rmtree(install, ignore_errors=True)
    with shared(say_waiting):
        shutil.copytree(unpacked, install, symlinks=True)
        (install / family.SERVER).unlink()
        usage, about = rewriting.rewrite(unpacked / of_input.server_file, install / family.SERVER)
        names = BuildIdentity.declared(recipe, of_input.release)
        described = binary.identified(names, install, family.SERVER, of_input.source_path)
        if recipe.stage == StageKind.BOLT_INSTRUMENTED:
            described = replace(described, profile_folder=str(rewriting.written))
        way = partial(by_bolt, base.parent, about, lambda *programs: rewriting.rewrite(*programs)[1])
        relink_build(identity.parent, relinks, recipe, described, way)
    effort = BuildFacts(
        steps_s={"bolt": usage.wall_s},
        wall_s=usage.wall_s,
        cpu_s=usage.cpu_s,
        peak_rss_mib=usage.peak_rss_mib,
        threads=1,
    )
    bolted = replace(effort, recipe=recipe.dump(), stage=recipe.stage, toolchain=rewriting.tool.facts(), bolt=about)
    sized = binary.sized(bolted.of_program(described), install)
    json_record.write_signed(facts, sized.to_json(*IN_FACTS))
    json_record.write(identity, described.to_json(*BuildIdentity.ORDER))


@dataclass(frozen=True)
class Rewriting:
    """How llvm-bolt rewrites programs for a recipe: with `profile`, or instrumented to be trained without one.

    `written` is the folder for the profile of an instrumented server; BOLT compiles the path into the program.
    """

    recipe: BoltRecipe
    tool: toolchain.Toolchain
    profile: Path | None
    written: Path
    log: Path

    @classmethod
    def of(cls, recipe: BoltRecipe, profile: Path | None, log: Path) -> "Rewriting":
        """Return the way to rewrite for a recipe. Raises ValueError naming the command of BOLT that is missing."""
        tool = toolchain.find(recipe.toolchain.name, recipe.toolchain.commands)
        return cls(recipe, tool, profile, cache_directory() / "bolt" / recipe.digest, log)

    def command(self, program: Path, output: Path) -> list[str]:
        """Return llvm-bolt's command line for this stage."""
        if self.profile is None:
            forks = families.of(self.recipe.family).FORKS
            return bolt.instrument_command(self.tool.bolt, program, output, self.written, forks=forks)
        return bolt.optimise_command(self.tool.bolt, program, output, self.profile.parent / "counters" / bolt.PROFILE)

    def rewrite(self, program: Path, rewritten: Path) -> tuple[Usage, BoltFacts]:
        """Rewrite a program; return what that took, and the facts on BOLT with its figures on the profile."""
        command, log, used = self.command(program, rewritten), self.log, self.recipe.profile
        offset = log.stat().st_size if log.exists() else 0
        usage = run(command, log).usage
        with outcome.refusing():
            printed = log.read_bytes()[offset:].decode(errors="replace")
            figures = bolt.facts_from_log(printed) if used else BoltFacts()
        arguments = [part for part in command[1:] if part.startswith("-") and part != "-o"]
        training = used.training if used else None
        named = replace(figures, input_build=self.recipe.input.name, version=self.tool.version, training=training)
        return usage, replace(named, arguments=arguments)


if __name__ == "__main__":
    profile: entry.Option = {"type": Path, "nargs": "?"}
    others = {"recipe": entry.recipe(BoltRecipe), "relinks": entry.RELINKS, "may_fail": entry.MAY_FAIL}
    entry.run(main, __doc__, "base", "install", "identity", "facts", **others, profile=profile)
