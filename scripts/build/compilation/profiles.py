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
from scripts.lib.host import workplace
from scripts.lib.host.process import run


def read_profile(tool: str, counters: Path, commands: Mapping[str, str]) -> dict[str, int]:
    """Return counts of a compiler's profile: files, functions, and those of them with a counter above zero.

    `commands` are the toolchain's. Raises ValueError naming a file that is damaged or of another compiler.
    """
    match tool:
        case "gcc":
            return gcc.summary(gcc.read_counters(counters, commands["gcov_dump"]))
        case "clang":
            return clang.summary(clang.read_functions(counters, commands["profdata"]))
    raise ValueError(f"{counters}: profile of tool {tool!r}, expected gcc or clang")


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
    run(bolt.merge_command(chosen.merge_fdata, files, counters / bolt.PROFILE), log)


TOOLS = {
    "gcc": ProfileTool(lambda folder: {"GCOV_PREFIX": str(folder)}, f"{COUNTERS.lstrip('/')}/*.gcda", _copy),
    # Processes of one program share four files, locked while they add up (clang's manual, %4m).
    "clang": ProfileTool(lambda folder: {"LLVM_PROFILE_FILE": str(folder / "%4m.profraw")}, "*.profraw", _merge_clang),
    "bolt": ProfileTool(lambda folder: {}, "profile", _merge_bolt),
}


def place(identity: Path, folder: Path) -> Path:
    """Return an empty folder of the server's user for the trained server to write to.

    BOLT builds the folder's path into the instrumented program, which also needs a copy of itself there.
    """
    described = json_record.read(identity)
    written = Path(described.get("profile_folder", folder / "written"))
    shutil.rmtree(written, ignore_errors=True)
    written.mkdir(parents=True)
    if "profile_folder" in described:
        shutil.copy2(identity.parent / "install" / described["server_file"], written / "program")
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
    described, counters = json_record.read(profile), profile.parent / "counters"
    found = tree_sha256(counters, STAMP) if counters.is_dir() else None
    if found != described["counters_sha256"]:
        left = sum(os.fsencode(file.name) not in STAMP for file in counters.iterdir()) if found else 0
        raise ValueError(
            f"{counters}: its {left} files are not the {described['files']} that {profile} describes; "
            f"remove {profile.parent}, and the workflow trains again"
        )


def summary(counters: Path, chosen: Toolchain) -> dict[str, int]:
    """Return counts of a profile: files, functions, those with a counter above zero; for BOLT also of branches.

    Raises ValueError naming a file that is damaged or that another tool wrote.
    """
    if chosen.kind == "bolt":
        return {"files": 1, **bolt.read_profile(counters / bolt.PROFILE)}
    return read_profile(chosen.kind, counters, chosen.commands)
