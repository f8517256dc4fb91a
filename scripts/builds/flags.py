"""Flags of a build: what the compiler wrapper adds while a server is compiled."""

from dataclasses import dataclass
from pathlib import Path

from scripts import record
from scripts.builds.toolchain import Toolchain, probe_profile_flags
from scripts.servers import families

# Where an instrumented program writes counters, below GCOV_PREFIX; without that variable writing to it fails loudly.
COUNTERS = "/counters"
MERGED = "merged.profdata"
# BOLT needs relocations in its input, and functions in one piece (llvm-bolt's README).
RELOCATABLE = ("-fno-reorder-blocks-and-partition",)
RELOCATIONS = ("-Wl,--emit-relocs",)
# Traced twice, the linker names every object it takes in, members of archives too.
LINK = ("-Wl,--build-id=sha1", "-Wl,--trace", "-Wl,--trace")


@dataclass(frozen=True)
class Flags:
    """Flags the wrapper adds: `common` to every unit, `profile` and `lto` to units of the server, `link` to links."""

    common: tuple[str, ...] = ()
    profile: tuple[str, ...] = ()
    lto: tuple[str, ...] = ()
    link: tuple[str, ...] = LINK

    def facts(self) -> dict[str, list[str]]:
        """Return the flags as a build's facts record them."""
        return {key: list(getattr(self, key)) for key in ("common", "profile", "lto", "link")}


def instrument_flags(build: Path) -> tuple[str, ...]:
    """Return the flags of a unit instrumented by gcc (its manual, Program Instrumentation Options).

    Counters are updated atomically, as servers with threads lose counts otherwise; the build tree is cut from the
    names of the counter files, so that a build in another tree finds them.
    """
    return (f"-fprofile-generate={COUNTERS}", "-fprofile-update=atomic", f"-fprofile-prefix-path={build}")


def profile_flags(build: Path, counters: Path) -> tuple[str, ...]:
    """Return the flags of a unit that gcc optimises with a profile; it warns about what is missing, for the audit."""
    return (
        f"-fprofile-use={counters}",
        "-fprofile-correction",
        f"-fprofile-prefix-path={build}",
        "-Wmissing-profile",
        "-Wno-error=missing-profile",
        "-Wcoverage-mismatch",
        "-Wno-error=coverage-mismatch",
    )


def published_flags(counters: Path | None) -> tuple[str, ...]:
    """Return the flags of the published recipe, instrumenting (without counters) or using them.

    They are those that cmake/fprofile.cmake of MySQL 8.0 adds for FPROFILE_GENERATE and FPROFILE_USE, and the recipe's
    -Wno-missing-profile; nothing makes up for the two build directories.
    """
    if counters is None:
        return (f"-fprofile-generate={COUNTERS}", "-fprofile-update=prefer-atomic")
    use = (f"-fprofile-use={counters}", "-fprofile-correction", "-fprofile-partial-training")
    return (*use, "-Wno-missing-profile")


def clang_instrument_flags() -> tuple[str, ...]:
    """Return the flags of a unit instrumented by clang (its manual, Profile Guided Optimization).

    LLVM_PROFILE_FILE names the file at run time.
    """
    return ("-fprofile-generate", "-fprofile-update=atomic")


def clang_profile_flags(merged: Path) -> tuple[str, ...]:
    """Return the flags of a unit that clang optimises with a merged profile; it warns about what is missing."""
    return (
        f"-fprofile-use={merged}",
        "-Wprofile-instr-out-of-date",
        "-Wno-error=profile-instr-out-of-date",
        "-Wbackend-plugin",
        "-Wno-error=backend-plugin",
        "-mllvm",
        "-pgo-warn-missing-function",
    )


def build_flags(
    recipe: dict, chosen: Toolchain, build: Path, profile: Path | None, source: Path, threads: int
) -> Flags:
    """Return the flags of a build or stage.

    Raises ValueError when the profile is of other sources or of another compiler, or the compiler lacks a flag.
    """
    relocatable = recipe["stage"] == "relocatable"
    return Flags(
        common=(*recipe.get("flags", []), *(RELOCATABLE if relocatable else ())),
        profile=_profile(recipe, chosen, build, profile, source),
        # A number, because `auto` would need make's jobserver.
        lto=(f"-flto={threads}",) if recipe.get("lto") else (),
        link=(*LINK, *(RELOCATIONS if relocatable else ())),
    )


def _profile(recipe: dict, chosen: Toolchain, build: Path, profile: Path | None, source: Path) -> tuple[str, ...]:
    instruments = recipe["stage"].endswith("instrumented")
    if not instruments and profile is None:
        return ()
    counters = None
    if not instruments:
        require_fit(profile, chosen, source)
        counters = (profile.parent / "counters").absolute()
    if recipe.get("published"):
        return () if published_options(recipe, profile) else published_flags(counters)
    probe_profile_flags(chosen)
    if chosen.kind == "clang":
        return clang_instrument_flags() if instruments else clang_profile_flags(counters / MERGED)
    return instrument_flags(build) if instruments else profile_flags(build, counters)


def published_options(recipe: dict, profile: Path | None) -> list[str]:
    """Return the published recipe's options of configure for this stage, if the product has them."""
    if not recipe.get("published"):
        return []
    use = profile is not None
    counters = (profile.parent / "counters").absolute() if use else Path(COUNTERS)
    return families.of(recipe["family"]).published_options(counters, use)


def require_fit(profile: Path, chosen: Toolchain, source: Path) -> None:
    """Raise ValueError, naming both, for a profile of other sources or of another compiler."""
    trained = record.read(profile)
    for key, here in (("compiler", f"{chosen.name} {chosen.version}"), ("source_path", str(source))):
        if trained[key] != here:
            raise ValueError(f"{profile}: {key} is {trained[key]!r}, this build has {here!r}; the profile does not fit")
