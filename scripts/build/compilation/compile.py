"""Compile one server: configure it like every other build of it, then compile with the build's own flags."""

import contextlib
import fcntl
import os
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from scripts.build.compilation.flags import Flags
from scripts.build.compilation.toolchain import Toolchain
from scripts.lib import json_record
from scripts.lib.build_records import BuildFacts
from scripts.lib.host.cache import cache_directory
from scripts.lib.host.causes import host_cause_in
from scripts.lib.host.entry import say
from scripts.lib.host.made_environment import made_environment
from scripts.lib.host.process import CommandFailed, CommandKilled, Usage, run
from scripts.lib.host.workplace import passing
from scripts.lib.recipe_models import CompileRecipe, StageKind
from scripts.measure.servers.families import Family

WRAPPER = Path(__file__).with_name("compiler")
PROGRESS_EVERY_S = 30
ERROR_LINE = re.compile(
    r"(?:fatal )?error:|undefined reference|^FAILED:|CMake Error|configure: error|: Error \d|interrupted by user", re.I
)
# The published recipe loses its profile because it compiles in two directories.
CONFIGURE_LOGS = ("config.log", "CMakeError.log", "CMakeOutput.log", "CMakeConfigureLog.yaml")
FOLDERS = {StageKind.PUBLISHED_INSTRUMENTED: "build-generate", StageKind.PUBLISHED: "build-use"}


@dataclass(frozen=True)
class Compiled:
    """Result of compiling: seconds of each step, cost, the configure command, the folder of the wrapper's records."""

    steps_s: dict[str, float]
    usage: Usage
    configure_command: list[str]
    records: Path

    def effort(self, install_s: float) -> BuildFacts:
        """Return the facts on the configure command and on what the build took, installed in so many seconds."""
        steps_s = {**self.steps_s, "install": install_s}
        return BuildFacts(
            configure_command=self.configure_command,
            steps_s=steps_s,
            wall_s=sum(steps_s.values()),
            cpu_s=self.usage.cpu_s,
            peak_rss_mib=self.usage.peak_rss_mib,
        )


def wrapper(cache: Path) -> Path:
    """Return a folder with the compiler wrapper, `cc` and `c++`; its path does not depend on the checkout.

    Configure scripts keep the compiler's name: PostgreSQL compiles it into programs and libraries.
    """
    folder = cache / "compiler" / json_record.file_sha256(WRAPPER / "cc")[:16]
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=".copy-", dir=folder.parent))
        shutil.copytree(WRAPPER, temporary / "compiler", symlinks=True)
        try:
            (temporary / "compiler").rename(folder)
        except OSError:
            if not folder.exists():  # else another process was quicker
                raise
        shutil.rmtree(temporary)
    return folder


def source_link(tree: Path, tree_sha256: str, cache: Path) -> Path:
    """Return a path of the source tree that depends only on the content of the sources; its parent is a link.

    gcc matches static functions by source path, so a profile fits one path only. The last part of the path is not a
    link: PostgreSQL's configure walks its source tree with a `find` that does not follow links.
    """
    link = cache / "src" / tree_sha256[:16]
    link.parent.mkdir(parents=True, exist_ok=True)
    if not (link.is_symlink() and link.resolve() == tree.parent.resolve()):
        temporary = link.with_name(f"{link.name}.{os.getpid()}")
        temporary.symlink_to(tree.parent.resolve())
        temporary.replace(link)
    return link / tree.name


@contextlib.contextmanager
def build_tree(tree_sha256: str, cache: Path, stage: StageKind = StageKind.PLAIN) -> Iterator[Path]:
    """Make an empty build tree for this process alone, at a path that depends only on the sources; remove it on exit.

    Sources that are generated while compiling, such as a parser, hold its path, and gcc compares a function's path with
    that in its profile (seen: both of MariaDB's parsers were "coverage mismatches" when each build had its own tree).
    """
    folder = cache / "build" / tree_sha256[:16]
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(folder, ignore_errors=True)
        with passing(folder):
            yield folder / FOLDERS.get(stage, "build")


def compile_server(
    family: Family,
    source: Path,
    build: Path,
    toolchain: Toolchain,
    flags: Flags,
    recipe: CompileRecipe,
    threads: int,
    log: Path,
) -> Compiled:
    """Configure and compile a server in `build` with at most `threads` jobs; the log gets every command's output.

    Raises CommandFailed with the first error lines of the step that failed and the kept logs of configure or CMake,
    CommandKilled if one was killed.
    """
    records = build.parent / "records"
    for copy in [file for name in CONFIGURE_LOGS for file in log.parent.glob(f"{log.stem}.*{name}")]:
        copy.unlink()
    for folder in (build, records):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    compilers = wrapper(cache_directory())
    tools = {"cc": str(compilers / "cc"), "cxx": str(compilers / "c++")}
    tools |= {"ar": toolchain.ar, "ranlib": toolchain.ranlib, "nm": toolchain.nm}
    configure = family.configure_command(source, tools, recipe)
    bare = _configure_environment(toolchain, build)
    configured = _step(configure, build, bare, log)
    with _progress(f"{recipe.server} {recipe.build}", log, records):
        environment = {**bare, **_compile_environment(family, build, records, flags)}
        commands = [*family.compile_commands(threads), *family.library_commands(recipe.libraries)]
        compiled = [_step(command, build, environment, log) for command in commands]
    steps_s = {"configure": configured.wall_s, "compile": sum(usage.wall_s for usage in compiled)}
    return Compiled(steps_s, _total([configured, *compiled]), configure, records)


def _total(usages: list[Usage]) -> Usage:
    return Usage(
        wall_s=sum(usage.wall_s for usage in usages),
        cpu_s=sum(usage.cpu_s for usage in usages),
        peak_rss_mib=max(usage.peak_rss_mib for usage in usages),
    )


def _configure_environment(toolchain: Toolchain, build: Path) -> dict[str, str]:
    """Return the environment of configure: the wrapper records no calls and adds no flags of the build."""
    counters = build.parent / "compile-time-counters"
    return made_environment(
        BUILD_CC=toolchain.cc,
        BUILD_CXX=toolchain.cxx,
        BUILD_RECORDS="",
        CCACHE_DISABLE="1",
        PATH=toolchain.search_path(),
        # Build tools and the programs of configure checks may be instrumented too; their counters are not used.
        GCOV_PREFIX=str(counters),
        LLVM_PROFILE_FILE=str(counters / "%p.profraw"),
    )


def _compile_environment(family: Family, build: Path, records: Path, flags: Flags) -> dict[str, str]:
    """Return what compiling adds to the environment of configure: the build's flags, the folder of the records."""
    return {
        "BUILD_RECORDS": str(records),
        "BUILD_ROOT": str(build),
        "BUILD_FLAGS": " ".join(flags.common),
        # Named before LTO had a scope: the wrapper's content is in its path, which PostgreSQL's programs hold.
        "BUILD_PROFILE_FLAGS": " ".join([*flags.profile, *flags.lto]),
        "BUILD_PROFILE_SCOPE": family.PROFILE_SCOPE,
        "BUILD_LINK_FLAGS": " ".join(flags.link),
    }


def _step(command: list[str], build: Path, environment: dict[str, str], log: Path) -> Usage:
    offset = log.stat().st_size if log.exists() else 0
    try:
        return run(command, log, cwd=build, environment=environment).usage
    except CommandKilled:
        raise
    except CommandFailed as failure:
        copies = "".join(f"\n(kept: {copy})" for copy in _keep_logs(build, log))
        if not (errors := _first_errors(log, offset)):
            raise failure.reworded(f"{failure}{copies}") from failure
        text = "compiling failed, first error lines:\n" + "\n".join(errors)
        # Ninja names the object first, then passes on what the compiler said.
        said_by_compiler = [line for line in errors if not line.startswith("FAILED:")]
        raise CommandFailed(f"{text}{copies}", host_cause_in(text), [*said_by_compiler, *errors][0]) from failure


def _first_errors(log: Path, offset: int, count: int = 6) -> list[str]:
    """Return the first error lines of a log from a byte offset on; later ones are consequences of the first."""
    with log.open(encoding="utf-8", errors="replace") as stream:
        stream.seek(offset)
        return list(islice((line.rstrip() for line in stream if ERROR_LINE.search(line)), count))


def _keep_logs(build: Path, log: Path) -> Iterator[Path]:
    """Copy what configure scripts and CMakes wrote about their checks beside the log of the job; yield the copies.

    A copy has the name of the job's log, followed by its path in the build tree with `-` between folders.
    """
    for file in sorted(file for name in CONFIGURE_LOGS for file in build.rglob(name)):
        parts = [part for part in file.relative_to(build).parts if part != "CMakeFiles"]
        yield shutil.copyfile(file, log.with_name(f"{log.stem}.{'-'.join(parts)}"))


@contextlib.contextmanager
def _progress(label: str, log: Path, records: Path) -> Iterator[None]:
    """Report the progress of a compile every PROGRESS_EVERY_S: the build tool's steps, otherwise compiler calls."""
    done, begin_s = threading.Event(), time.monotonic()

    def report() -> None:
        while not done.wait(PROGRESS_EVERY_S):
            minutes = (time.monotonic() - begin_s) / 60
            say(f"[compile {label}] {_steps_done(log) or _calls_done(records)}, {minutes:.1f} min")

    thread = threading.Thread(target=report, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _steps_done(log: Path) -> str:
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - 4000))
        counts = re.findall(rb"^\[(\d+)/(\d+)\]", stream.read(), re.M)
    return f"{int(counts[-1][0])} of {int(counts[-1][1])} steps" if counts else ""


def _calls_done(records: Path) -> str:
    calls = sum(1 for entry in os.scandir(records) if "." not in entry.name)
    return f"{calls} compiler calls"
