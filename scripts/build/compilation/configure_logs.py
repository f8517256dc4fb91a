"""What configure and CMake wrote about their checks, kept beside the log of a job whose build tree is removed."""

import shutil
from pathlib import Path

NAMES = ("config.log", "CMakeError.log", "CMakeOutput.log", "CMakeConfigureLog.yaml")


def clear(log: Path) -> None:
    """Remove what an earlier run of the job kept beside its log."""
    for name in NAMES:
        for file in log.parent.glob(f"{log.stem}.*{name}"):
            file.unlink()


def keep(build: Path, log: Path) -> list[Path]:
    """Copy the logs of all configure scripts and CMakes of a build tree, and return the copies.

    A copy has the name of the job's log, followed by its path in the build tree with `-` between folders.
    """
    kept = []
    for file in sorted(file for name in NAMES for file in build.rglob(name)):
        parts = [part for part in file.relative_to(build).parts if part != "CMakeFiles"]
        kept.append(log.with_name(f"{log.stem}.{'-'.join(parts)}"))
        shutil.copyfile(file, kept[-1])
    return kept
