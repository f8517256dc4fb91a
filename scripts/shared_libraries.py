"""Which shared libraries of the system the programs of an install tree need, and which packages hold them."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

ELF = b"\x7fELF"
NEEDED = re.compile(r"^\s*(?:(\S+) => )?(/\S+|not found)(?: \(0x[0-9a-f]+\))?$", re.M)


@dataclass(frozen=True)
class Library:
    """One shared library: its name, and the distribution's package that holds it, None where that is unknown."""

    name: str
    found: bool
    package: str | None


def needed(install: Path) -> list[Library]:
    """Return the libraries outside the install tree that its programs need, by name, as the loader finds them here."""
    paths: dict[str, str] = {}
    for program in programs(install):
        paths |= _loaded(program, install)
    own = f"{install.resolve()}/"
    outside = {name: path for name, path in paths.items() if not os.path.realpath(path).startswith(own)}
    packages = packages_of(sorted(outside.values()))
    return [Library(name, path != "not found", packages.get(path)) for name, path in sorted(outside.items())]


def programs(install: Path) -> list[Path]:
    """Return the programs in bin, sbin and libexec of an install tree; scripts are none."""
    files = [file for folder in ("bin", "sbin", "libexec") for file in sorted((install / folder).glob("*"))]
    return [file for file in files if file.is_file() and _magic(file) == ELF]


def _magic(file: Path) -> bytes:
    with file.open("rb") as stream:
        return stream.read(len(ELF))


def _loaded(program: Path, install: Path) -> dict[str, str]:
    environment = {**os.environ, "LC_ALL": "C", "LD_LIBRARY_PATH": str(install.resolve() / "lib")}
    answer = subprocess.run(["ldd", str(program)], capture_output=True, text=True, env=environment, check=False)
    # status 1: a static program, which needs nothing
    if answer.returncode and "not a dynamic executable" not in answer.stdout + answer.stderr:
        raise ValueError(f"ldd {program}: status {answer.returncode}: {answer.stderr.strip()}")
    return {name or Path(path).name: path for name, path in NEEDED.findall(answer.stdout)}


def packages_of(paths: list[str]) -> dict[str, str]:
    """Return path -> Debian package of the files that dpkg knows; nothing where there is no dpkg."""
    if not paths or not shutil.which("dpkg"):
        return {}
    # dpkg knows a file under the name it was packed with, from before or after /lib became a link to /usr/lib
    spellings = {path: _spellings(path) for path in paths}
    asked = sorted({spelling for named in spellings.values() for spelling in named})
    answer = subprocess.run(["dpkg", "-S", *asked], capture_output=True, text=True, check=False)
    lines = (line.rpartition(": ") for line in answer.stdout.splitlines() if not line.startswith("diversion"))
    owners = {path: owner.split(",")[0].split(":")[0] for owner, _, path in lines}
    found = {path: next((owners[name] for name in named if name in owners), None) for path, named in spellings.items()}
    return {path: owner for path, owner in found.items() if owner}


def _spellings(path: str) -> list[str]:
    named = [path, os.path.realpath(path)]
    return [spelling for name in named for spelling in (name, name.removeprefix("/usr"), f"/usr{name}")]
