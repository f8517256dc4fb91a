"""Find the server program of a ready-made server, and read the release that it states."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from scripts.sources.product import Product

# Where a prefix has its server program.
FOLDERS = ("bin", "sbin", "libexec")
ANSWER_S = 60


def program_of(prefix: Path, names: Sequence[str]) -> tuple[Path, Path]:
    """Return (server program, prefix) for a prefix, or for a program in a prefix's bin, sbin or libexec folder.

    Raises ValueError naming the path if there is none.
    """
    if prefix.is_file() and prefix.name in names:
        return prefix, prefix.parent.parent
    if found := _programs_below(prefix, names):
        return found[0], prefix
    raise ValueError(f"{prefix}: neither a program {' or '.join(names)} nor a prefix with one in {', '.join(FOLDERS)}")


def beside_program(program: Path, name: str) -> dict[str, Path]:
    """Return path within an install tree -> another program in the same folder. Raises ValueError if it is missing."""
    if not (other := program.with_name(name)).is_file():
        raise ValueError(f"{other}: no such file, expected beside {program}")
    return {f"bin/{name}": other}


def find_program(path: Path, key: str, product: Product) -> Path:
    """Return the server program at `path`, or the one below a prefix, links followed.

    Raises ValueError naming the config's `key` and the path if there is no server or more than one.
    """
    if not path.exists():
        raise ValueError(f"{key}: {path}: no such file or directory")
    if path.is_file():
        return path.resolve()
    # mysqld is often a link to mariadbd
    programs = sorted({place.resolve() for place in _programs_below(path, product.programs)})
    if len(programs) != 1:
        found = ", ".join(map(str, programs)) or "none"
        raise ValueError(
            f"{key}: {path}: expected one of {', '.join(product.programs)} in its {', '.join(FOLDERS)}, found {found}; "
            "where there are several, name the program itself"
        )
    return programs[0]


def program_release(program: Path, product: Product) -> str:
    """Return the release that a server program states ("8.0.33", "15.18").

    Raises ValueError with its output if it cannot run here or states none.
    """
    if not os.access(program, os.X_OK):
        raise ValueError(f"{program}: cannot be executed, expected a server program")
    argv = [str(program), "--version"]
    # a prebuilt program runs with the locale of whoever starts it
    environment = {**os.environ, "LC_ALL": "C"}
    answer = subprocess.run(
        argv, capture_output=True, env=environment, timeout=ANSWER_S, encoding="utf-8", errors="replace", check=False
    )
    if answer.returncode == 0 and (release := product.release_in(answer.stdout)):
        return release
    output = (answer.stdout + answer.stderr).strip()[-500:] or "(nothing)"
    raise ValueError(f"{program} --version: status {answer.returncode}, states no release: {output}")


def _programs_below(prefix: Path, names: Sequence[str]) -> list[Path]:
    places = [prefix / folder / name for folder in FOLDERS for name in names]
    return [place for place in places if place.is_file()]
