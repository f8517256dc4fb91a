"""How a product is recognised on disk: its server program, and where program and sources state the release."""

import os
import re
import stat
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.build.sources import local
from scripts.lib.host.made_environment import made_environment

# Where a prefix has its server program.
FOLDERS = ("bin", "sbin", "libexec")
ANSWER_S = 60


@dataclass(frozen=True)
class Product:
    """Marks of one product, or of several.

    `programs` are the names of server programs. `answer` matches the release in the output of `--version`; its first
    group with text is the release. `release_files` are pairs of a file at the top of a source tree and a pattern whose
    matches are the parts of the release.
    """

    programs: tuple[str, ...]
    answer: str
    release_files: tuple[tuple[str, str], ...]

    def release_in(self, answer: str) -> str:
        """Return the release that a program's answer states, an empty text if it states none."""
        match = re.search(self.answer, answer)
        return next(filter(None, match.groups()), "") if match else ""


def any_of(products: Iterable[Product]) -> Product:
    """Return one product with the marks of all."""
    listed = list(products)
    programs = dict.fromkeys(name for product in listed for name in product.programs)
    files = dict.fromkeys(pair for product in listed for pair in product.release_files)
    return Product(tuple(programs), "|".join(dict.fromkeys(product.answer for product in listed)), tuple(files))


def program_of(prefix: Path, names: Sequence[str]) -> tuple[Path, Path]:
    """Return (server program, prefix) for a prefix, or for a program in a prefix's bin, sbin or libexec folder.

    Raises ValueError naming the path if there is none.
    """
    if prefix.is_file() and prefix.name in names:
        return prefix, prefix.parent.parent
    if programs := _programs_below(prefix, names):
        return programs[0], prefix
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
    if not (problem := local.problem(path)):
        return path.resolve()
    if local.problem(path, stat.S_IFDIR):
        raise ValueError(f"{key}: {path}: {problem}, expected a server program or the prefix that holds one")
    # mysqld is often a link to mariadbd
    programs = sorted({program.resolve() for program in _programs_below(path, product.programs)})
    if len(programs) != 1:
        names = ", ".join(map(str, programs)) or "none"
        raise ValueError(
            f"{key}: {path}: expected one of {', '.join(product.programs)} in its {', '.join(FOLDERS)}, found {names}; "
            "where there are several, name the program itself"
        )
    return programs[0]


def program_release(program: Path, product: Product) -> str:
    """Return the release that a server program states ("8.0.33", "15.18").

    Raises ValueError with its output if it cannot run here or states none.
    """
    if not os.access(program, os.X_OK):
        raise ValueError(f"{program}: cannot be executed, expected a server program")
    answer = subprocess.run(
        [str(program), "--version"],
        env=made_environment(),
        capture_output=True,
        timeout=ANSWER_S,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if answer.returncode == 0 and (release := product.release_in(answer.stdout)):
        return release
    output = (answer.stdout + answer.stderr).strip()[-500:] or "(nothing)"
    raise ValueError(f"{program} --version: status {answer.returncode}, states no release: {output}")


def _programs_below(prefix: Path, names: Sequence[str]) -> list[Path]:
    places = [prefix / folder / name for folder in FOLDERS for name in names]
    return [program for program in places if program.is_file()]
