"""Profiles of gcc, clang and BOLT: where a trained server writes its counters, and how they are kept."""

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from scripts.build.compilation import bolt, clang, gcc
from scripts.build.compilation.compiler_flags import COUNTERS, MERGED
from scripts.build.compilation.toolchain import Toolchain
from scripts.build.sources.tree import tree_sha256
from scripts.lib import json_record
from scripts.lib.build_records import BuildIdentity, TrainedProfile
from scripts.lib.host import workplace
from scripts.lib.host.process import run

STAMP = (os.fsencode(workplace.SNAKEMAKE_STAMP),)


@dataclass(frozen=True)
class ProfileTool:
    """How a kind of toolchain profiles.

    `environment` returns the server's variables for a folder to write to; `pattern` matches the files written there;
    `keep` copies or merges them into the profile's folder.
    """

    environment: Callable[[Path], dict[str, str]]
    pattern: str
    keep: Callable[[list[Path], Path, Toolchain, Path], None]


def _copy(files: list[Path], counters: Path, chosen: Toolchain, log: Path) -> None:
    for file in files:
        shutil.copyfile(file, counters / file.name)


def _merge_clang(files: list[Path], counters: Path, chosen: Toolchain, log: Path) -> None:
    run([chosen.profdata, "merge", "-o", counters / MERGED, *files], log)


def _merge_bolt(files: list[Path], counters: Path, chosen: Toolchain, log: Path) -> None:
    """Add up the profiles of all processes."""
    run([chosen.merge_fdata, "-o", counters / bolt.PROFILE, *files], log)


TOOLS = {
    "gcc": ProfileTool(lambda folder: {"GCOV_PREFIX": str(folder)}, f"{COUNTERS.lstrip('/')}/*.gcda", _copy),
    # Processes of one program share four files, locked while they add up (clang's manual, %4m).
    "clang": ProfileTool(lambda folder: {"LLVM_PROFILE_FILE": str(folder / "%4m.profraw")}, "*.profraw", _merge_clang),
    "bolt": ProfileTool(lambda folder: {}, "profile", _merge_bolt),
}


def folder_to_write(identity: Path, folder: Path) -> Path:
    """Return an empty folder of the server's user for the trained server to write to.

    BOLT builds the folder's path into the instrumented program, which also needs a copy of itself there.
    """
    described = json_record.read_part(BuildIdentity, identity)
    written = Path(described.profile_folder or folder / "written")
    shutil.rmtree(written, ignore_errors=True)
    written.mkdir(parents=True)
    if described.profile_folder:
        shutil.copy2(identity.parent / "install" / described.server_file, written / "program")
    workplace.give(written)
    return written


def keep(written: Path, counters: Path, chosen: Toolchain, log: Path) -> None:
    """Make `counters` from the files that the trained server wrote. Raises ValueError if it wrote none."""
    tool = TOOLS[chosen.kind]
    files = sorted(written.glob(tool.pattern))
    if not files:
        raise ValueError(
            f"{written}: the instrumented server wrote no counters; expected {tool.pattern} after its clean stop"
        )
    shutil.rmtree(counters, ignore_errors=True)
    counters.mkdir(parents=True)
    tool.keep(files, counters, chosen, log)
    shutil.rmtree(written)


def demand_whole(profile: Path) -> None:
    """Raise ValueError, naming the profile's folder, unless the counters are those that the training kept.

    A compiler does not warn about a unit whose counters are missing, and an audit only looks at those that are there.
    """
    described, counters = json_record.read_part(TrainedProfile, profile), profile.parent / "counters"
    actual = tree_sha256(counters, STAMP) if counters.is_dir() else None
    if actual != described.counters_sha256:
        count = sum(os.fsencode(file.name) not in STAMP for file in counters.iterdir()) if actual else 0
        raise ValueError(
            f"{counters}: its {count} files are not the {described.files} that {profile} describes; "
            f"remove {profile.parent}, and the workflow trains again"
        )


def summary(counters: Path, tool: str, commands: Mapping[str, str]) -> TrainedProfile:
    """Return counts of a profile: files, functions, those with a counter above zero; for BOLT also of branches.

    `commands` are those of the toolchain. Raises ValueError naming a file that is damaged or that another tool wrote.
    """
    match tool:
        case "gcc":
            return gcc.summary(gcc.read_counters(counters, commands["gcov_dump"]))
        case "clang":
            return clang.summary(clang.read_functions(counters, commands["profdata"]))
        case "bolt":
            return bolt.read_profile(counters / bolt.PROFILE)
    raise ValueError(f"{counters}: profile of tool {tool!r}, expected gcc, clang or bolt")
