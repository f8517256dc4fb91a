"""BOLT: its command lines, and its own figures about the profile it used."""

import re
from pathlib import Path

from scripts.lib.build_records import BoltFacts, TrainedProfile

PROFILE = "bolt.fdata"
# The layout of the hand-made trial: hot code together, cold code and exception tables elsewhere.
OPTIMISE = (
    "-reorder-blocks=ext-tsp",
    "-reorder-functions=hfsort+",
    "-split-functions",
    "-split-all-cold",
    "-split-eh",
    "-icf=1",
    "-dyno-stats",
)
PROFILED = re.compile(r"BOLT-INFO: (\d+) out of (\d+) functions in the binary \S+ have non-empty execution profile")
STALE = re.compile(r"BOLT-WARNING: (\d+) \(.*% of all profiled\) functions? ha\w+ invalid \(possibly stale\) profile")
STALE_SAMPLES = re.compile(r"BOLT-WARNING: (\d+) out of (\d+) samples in the binary \S+ belong to functions with")
# Lines of an .fdata file that count branches: from (kind name offset) to (kind name offset) mispredictions count.
BRANCH = re.compile(rb"^[0-4] \S+ [0-9a-f]+ [0-4] \S+ [0-9a-f]+ (\d+) (\d+)$", re.M)


def instrument_command(bolt: str, program: Path, written: Path, folder: Path, *, forks: bool = False) -> list[str]:
    """Return the command that makes an instrumented program, which writes `folder`/profile at its end.

    It reads `folder`/program, a copy of itself: the way it finds itself otherwise, /proc/self/map_files, is closed to
    an unprivileged user. Processes of a program that forks share their counters, and the first, which ends last, writes
    the sum. Their calls are not counted: they damage the table of indirect calls that they share, and run in circles in
    it at their end (seen with BOLT 16 and PostgreSQL).
    """
    return [
        bolt,
        str(program),
        "-instrument",
        f"-instrumentation-file={folder / 'profile'}",
        f"-instrumentation-binpath={folder / 'program'}",
        *(["-instrument-calls=false"] if forks else []),
        "-o",
        str(written),
    ]


def optimise_command(bolt: str, program: Path, written: Path, profile: Path) -> list[str]:
    """Return the command that optimises a program's layout with a profile."""
    return [bolt, str(program), f"-data={profile}", *OPTIMISE, "-o", str(written)]


def facts_from_log(text: str) -> BoltFacts:
    """Return from BOLT's output the functions with a profile, and the share of the counted branches that it could use.

    Raises ValueError when it said nothing, or that no function has a profile.
    """
    profiled = PROFILED.search(text)
    if not profiled or not int(profiled.group(1)):
        raise ValueError("llvm-bolt named no function with an execution profile; expected the profile of the training")
    stale, samples = STALE.search(text), STALE_SAMPLES.search(text)
    lost, all_samples = map(int, samples.groups()) if samples else (0, None)
    return BoltFacts(
        functions_profiled=int(profiled.group(1)),
        functions_total=int(profiled.group(2)),
        functions_stale=int(stale.group(1)) if stale else 0,
        branches_profiled_share=1 - lost / all_samples if all_samples else 1.0,
    )


def read_profile(merged: Path) -> TrainedProfile:
    """Return counts of an .fdata file: branches, executions of them, functions they are in."""
    content = merged.read_bytes()
    counts = [int(match.group(2)) for match in BRANCH.finditer(content)]
    functions = {line.split(b" ", 2)[1] for line in content.splitlines() if line[:1].isdigit() and line.count(b" ") > 2}
    return TrainedProfile(
        files=1, branches=len(counts), branches_executed=sum(counts), functions_nonzero=len(functions)
    )
