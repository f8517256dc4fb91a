"""The code of cheap steps as a digest: their rules have it as a param, so they run again when the code changes.

Snakemake does not follow imports. A digest of every file needs no knowledge of them, and a cheap step takes seconds.
What reads whole builds may take a minute, and is spared at an edit of the report's code.
"""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from scripts import PACKAGE
from scripts.lib.json_record import file_sha256

EVERYTHING = ("",)
# All that the jobs named here import; a test compares it with what Python loads.
OF_BUILDS = (
    *("__init__.py", "build", "lib", "measure", "jobs/__init__.py"),
    *("jobs/audit_build.py", "jobs/compare_answers.py", "jobs/prove_builds.py"),
)


def digest_of(parts: Sequence[str], package: Path = PACKAGE) -> str:
    """Return the SHA-256 (hex) of names and contents of these files, and of all below these folders, of a package."""
    total = hashlib.sha256()
    for file in sorted(file for part in parts for file in _files(package / part)):
        total.update(f"{file.relative_to(package)}\0{file_sha256(file)}\0".encode())
    return total.hexdigest()


def _files(path: Path) -> Iterator[Path]:
    """Yield a file, or those below a folder: neither bytecode nor what editors hide."""
    for file in path.rglob("*") if path.is_dir() else [path]:
        if file.is_file() and "__pycache__" not in file.parts and not file.name.startswith("."):
            yield file
