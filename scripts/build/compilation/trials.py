"""Trials of toolchains: a small program goes through what the keys of a build ask for, long before a server does."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from scripts.build.compilation import bolt, profiles
from scripts.build.compilation.compiler_flags import flags_of
from scripts.build.compilation.flags import Flags, with_keys
from scripts.build.compilation.toolchain import Toolchain, probe_profile_flags
from scripts.lib.host import workplace
from scripts.lib.host.cache import cache_directory
from scripts.lib.host.process import CommandFailed, output_of

TEXTS = {
    "main.c": "int part(int);\nint main(int argc, char **argv) { (void)argv; return part(argc) != 8; }\n",
    "part.c": "int part(int n) { int sum = 0; for (int i = 0; i < n; i++) sum += 8; return sum; }\n",
}
TRIAL_S = 60
JOBS = 1
# What a trial raises: a command that failed or hangs, a missing one, a profile that is not there or cannot be read.
FAILURES = (CommandFailed, OSError, ValueError, subprocess.TimeoutExpired)


def one_line(error: Exception) -> str:
    """Return what a trial raised as one line."""
    return " ".join(str(error).split())


@dataclass(frozen=True)
class Keys:
    """The keys of a build that a trial takes up; `bolt` is the BOLT that lays the program out."""

    profile: bool = False
    lto: bool = False
    bolt: Toolchain | None = None


def try_keys(compiler: Toolchain, keys: Keys) -> None:
    """Take a small program with an archive through all steps of a build with these keys, and run it at each step.

    Raises one of FAILURES with the command that failed and what it printed.
    """
    with workplace.temporary_directory(cache_directory()) as folder:
        trial = Trial(compiler, folder.resolve())
        counted = trial.counted() if keys.profile else ()
        program = trial.linked(with_keys(compiler, counted, keys.lto, keys.bolt is not None, JOBS))
        if keys.bolt:
            trial.lay_out(program, keys.bolt)


def try_flags(compiler: Toolchain, flags: tuple[str, ...]) -> None:
    """Compile a small unit with flags. Raises one of FAILURES."""
    with workplace.temporary_directory(cache_directory()) as folder:
        trial = Trial(compiler, folder.resolve())
        (folder / "part.c").write_text(TEXTS["part.c"])
        trial.run(compiler.cc, *flags, "-c", "part.c", "-o", "part.o")


@dataclass(frozen=True)
class Trial:
    """A small program in a folder of its own, and its compiler."""

    compiler: Toolchain
    folder: Path

    def run(self, *command: str | Path, **variables: str) -> None:
        """Run a command in the folder. Raises CommandFailed with what it printed."""
        environment = {"PATH": self.compiler.search_path(), "CCACHE_DISABLE": "1", "LC_ALL": "C", **variables}
        output_of(command, cwd=self.folder, environment=environment, timeout_s=TRIAL_S)

    def linked(self, flags: Flags, **variables: str) -> Path:
        """Compile the program from a unit and an archive, link it, run it, and return it."""
        compiler, units = self.compiler, (*flags.common, *flags.profile, *flags.lto)
        for name, text in TEXTS.items():
            (self.folder / name).write_text(text)
            self.run(compiler.cc, "-O2", *units, "-c", name, "-o", f"{Path(name).stem}.o")
        (self.folder / "libpart.a").unlink(missing_ok=True)
        self.run(compiler.ar, "rc", "libpart.a", "part.o")
        self.run(compiler.ranlib, "libpart.a")
        self.run(compiler.cc, "-O2", "main.o", "libpart.a", "-o", "linked", *units, *flags.link)
        self.run("./linked", **variables)
        return self.folder / "linked"

    def counted(self) -> tuple[str, ...]:
        """Make a profile of the program, and return the flags that use it."""
        probe_profile_flags(self.compiler)
        compiler, tool = flags_of(self.compiler.kind), profiles.TOOLS[self.compiler.kind]
        written, counters = self.folder / "written", self.folder / "counters"
        written.mkdir()
        self.linked(Flags(profile=compiler.instrument(self.folder)), **tool.environment(written))
        profiles.keep(written, counters, self.compiler, self.folder / "log")
        return compiler.use(self.folder, counters)

    def lay_out(self, program: Path, tool: Toolchain) -> None:
        """Take the program through BOLT: instrumented, run, laid out anew, run."""
        # An instrumented program reads itself under this name.
        counting, laid_out, profile = (self.folder / name for name in ("program", "made", "profile"))
        self.run(*bolt.instrument_command(tool.bolt, program, counting, self.folder))
        self.run(counting)
        self.run(*bolt.optimise_command(tool.bolt, program, laid_out, profile))
        self.run(laid_out)
