"""The flags that the keys of a build become with gcc and with clang."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

# Where an instrumented program writes counters, below GCOV_PREFIX; without that variable writing to it fails loudly.
COUNTERS = "/counters"
MERGED = "merged.profdata"
# BOLT needs relocations in its input (llvm-bolt's README).
RELOCATIONS = ("-Wl,--emit-relocs",)
Words = tuple[str, ...]


@dataclass(frozen=True)
class CompilerFlags:
    """The flags of one kind of compiler.

    `instrument` takes the build tree, `use` the build tree and the folder of the counters; `lto` and `lto_link`, which
    joins every link, take the number of jobs. `relocatable` keeps functions in one piece, as BOLT needs them.
    """

    instrument: Callable[[Path], Words]
    use: Callable[[Path, Path], Words]
    lto: Callable[[int], Words]
    lto_link: Callable[[int], Words]
    relocatable: Words


COMPILERS = {
    # Its manual, Program Instrumentation Options. Counters are updated atomically, as servers with threads lose counts
    # otherwise; the build tree is cut from the names of the counter files, so that a build in another tree finds them.
    # It warns about what is missing, for the audit.
    "gcc": CompilerFlags(
        instrument=lambda build: (
            f"-fprofile-generate={COUNTERS}",
            "-fprofile-update=atomic",
            f"-fprofile-prefix-path={build}",
        ),
        use=lambda build, counters: (
            f"-fprofile-use={counters}",
            "-fprofile-correction",
            f"-fprofile-prefix-path={build}",
            *("-Wmissing-profile", "-Wno-error=missing-profile"),
            *("-Wcoverage-mismatch", "-Wno-error=coverage-mismatch"),
        ),
        # A number, because `auto` would need make's jobserver.
        lto=lambda jobs: (f"-flto={jobs}",),
        lto_link=lambda _jobs: (),
        relocatable=("-fno-reorder-blocks-and-partition",),
    ),
    # Its manual, Profile Guided Optimization: LLVM_PROFILE_FILE names the file at run time. ThinLTO: objects are
    # bitcode, which GNU ld reads by a plugin only. Clang splits functions only when it is asked to.
    "clang": CompilerFlags(
        instrument=lambda _build: ("-fprofile-generate", "-fprofile-update=atomic"),
        use=lambda _build, counters: (
            f"-fprofile-use={counters / MERGED}",
            *("-Wprofile-instr-out-of-date", "-Wno-error=profile-instr-out-of-date"),
            *("-Wbackend-plugin", "-Wno-error=backend-plugin"),
            *("-mllvm", "-pgo-warn-missing-function"),
        ),
        lto=lambda _jobs: ("-flto=thin",),
        lto_link=lambda jobs: ("-fuse-ld=lld", f"-Wl,--thinlto-jobs={jobs}"),
        relocatable=(),
    ),
}


def flags_of(kind: str) -> CompilerFlags:
    """Return the flags of a kind of compiler, gcc or clang."""
    return COMPILERS[kind]
