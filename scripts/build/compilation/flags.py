"""Flags of a build: what the compiler wrapper adds while a server is compiled."""

from dataclasses import dataclass, replace
from pathlib import Path

from scripts.build.compilation.compiler_flags import COUNTERS, RELOCATIONS, flags_of
from scripts.build.compilation.toolchain import Toolchain, probe_profile_flags
from scripts.lib import json_record
from scripts.lib.build_records import TrainedProfile, UsedFlags
from scripts.lib.recipe_models import CompileRecipe, StageKind
from scripts.measure.servers import families

# Traced twice, the linker names every object it takes in, members of archives too.
LINK = ("-Wl,--build-id=sha1", "-Wl,--trace", "-Wl,--trace")


@dataclass(frozen=True)
class Flags:
    """Flags the wrapper adds: `common` to every unit, `profile` and `lto` to units of the server, `link` to links."""

    common: tuple[str, ...] = ()
    profile: tuple[str, ...] = ()
    lto: tuple[str, ...] = ()
    link: tuple[str, ...] = LINK

    def facts(self) -> UsedFlags:
        """Return the flags as a build's facts record them."""
        return UsedFlags(list(self.common), list(self.profile), list(self.lto), list(self.link))


def published_flags(counters: Path | None) -> tuple[str, ...]:
    """Return the flags of the published recipe, instrumenting (without counters) or using them.

    They are those that cmake/fprofile.cmake of MySQL 8.0 adds for FPROFILE_GENERATE and FPROFILE_USE, and the recipe's
    -Wno-missing-profile; nothing makes up for the two build directories.
    """
    if counters is None:
        return (f"-fprofile-generate={COUNTERS}", "-fprofile-update=prefer-atomic")
    use = (f"-fprofile-use={counters}", "-fprofile-correction", "-fprofile-partial-training")
    return (*use, "-Wno-missing-profile")


def build_flags(
    recipe: CompileRecipe, chosen: Toolchain, build: Path, profile: Path | None, source: Path, threads: int
) -> Flags:
    """Return the flags of a build or stage.

    Raises ValueError when the profile is of other sources or of another compiler, or the compiler lacks a flag.
    """
    profiling = _profile(recipe, chosen, build, profile, source)
    joined = with_keys(chosen, profiling, recipe.lto, recipe.stage == StageKind.RELOCATABLE, threads)
    return replace(joined, common=(*recipe.flags, *joined.common))


def with_keys(chosen: Toolchain, profiling: tuple[str, ...], lto: bool | None, relocatable: bool, jobs: int) -> Flags:
    """Return the flags of a build with these keys; `profiling` are those about its profile."""
    compiler = flags_of(chosen.kind)
    return Flags(
        common=compiler.relocatable if relocatable else (),
        profile=profiling,
        lto=compiler.lto(jobs) if lto else (),
        link=(*LINK, *(compiler.lto_link(jobs) if lto else ()), *(RELOCATIONS if relocatable else ())),
    )


def _profile(
    recipe: CompileRecipe, chosen: Toolchain, build: Path, profile: Path | None, source: Path
) -> tuple[str, ...]:
    counters = None if profile is None or recipe.stage.is_instrumented else (profile.parent / "counters").absolute()
    if profile is not None and counters is not None:
        require_fit(profile, chosen, source)
    elif not recipe.stage.is_instrumented:
        return ()
    if recipe.published:
        return () if published_options(recipe, profile) else published_flags(counters)
    probe_profile_flags(chosen)
    compiler = flags_of(chosen.kind)
    return compiler.instrument(build) if counters is None else compiler.use(build, counters)


def published_options(recipe: CompileRecipe, profile: Path | None) -> list[str]:
    """Return the published recipe's options of configure for this stage, if the product has them."""
    if not recipe.published:
        return []
    counters = (profile.parent / "counters").absolute() if profile else Path(COUNTERS)
    return families.of(recipe.family).published_options(counters, profile is not None)


def require_fit(profile: Path, chosen: Toolchain, source: Path) -> None:
    """Raise ValueError, naming both, for a profile of other sources or of another compiler."""
    trained = json_record.read_part(TrainedProfile, profile)
    compiler = f"{chosen.name} {chosen.version}"
    pairs = {"compiler": (trained.compiler, compiler), "source_path": (trained.source_path, str(source))}
    for key, (of_profile, here) in pairs.items():
        if of_profile != here:
            raise ValueError(f"{profile}: {key} is {of_profile!r}, this build has {here!r}; the profile does not fit")
