"""Find the server program of a ready-made server, and have it name its release."""

import os
import re
import subprocess
from pathlib import Path


def program_of(prefix: Path, names: list[str]) -> tuple[Path, Path]:
    """Return (server program, prefix) for a prefix or for a program in a prefix's bin, sbin or libexec folder.

    Raises ValueError naming the path when there is none.
    """
    if prefix.is_file() and prefix.name in names:
        return prefix, prefix.parent.parent
    for folder in FOLDERS:
        for name in names:
            if (prefix / folder / name).is_file():
                return prefix / folder / name, prefix
    raise ValueError(f"{prefix}: neither a program {' or '.join(names)} nor a prefix with one in {', '.join(FOLDERS)}")


def beside_program(program: Path, name: str) -> dict[str, Path]:
    """Return the place of another program in the same folder. Raises ValueError naming it when it is not there."""
    if not (other := program.with_name(name)).is_file():
        raise ValueError(f"{other}: no such file, expected beside {program}")
    return {f"bin/{name}": other}


def with_shared_files(program: Path, server_file: str, shares: list[Path], scripts: list[str]) -> dict[str, Path]:
    """Return the names of MySQL's or MariaDB's install tree and where they are.

    `shares` are the folders that may hold its messages and character sets, `scripts` the system-table scripts it needs.
    Raises ValueError naming the program and what was looked for when no folder holds them all.
    """
    for share in shares:
        found = [share / "charsets", *(share / script for script in scripts)]
        messages = sorted(file.parent for file in share.glob("*/errmsg.sys"))
        if messages and all(path.exists() for path in found):
            return {server_file: program, **{f"share/{path.name}": path for path in [*found, *messages]}}
    wanted = ", ".join(["charsets", "*/errmsg.sys", *scripts])
    raise ValueError(f"{program}: none of {', '.join(map(str, shares)) or '(no folder)'} holds its {wanted}")


PROGRAMS = ("mysqld", "mariadbd", "postgres")
FOLDERS = ("bin", "sbin", "libexec")
RELEASE = re.compile(r"(?:\bVer |\(PostgreSQL\) )(\d[\d.]*\w*)")
ANSWER_S = 60


def find_program(path: Path, key: str) -> Path:
    """Return the server program at `path`, or that of a prefix: mysqld, mariadbd or postgres in bin/ or sbin/.

    Raises ValueError naming the config's `key` and the path when there is nothing, no server, or more than one.
    """
    if not path.exists():
        raise ValueError(f"{key}: {path}: no such file or directory")
    if path.is_file():
        return path.resolve()
    places = [path / folder / name for folder in FOLDERS for name in PROGRAMS]
    # mysqld is often a link to mariadbd
    programs = sorted({place.resolve() for place in places if place.is_file()})
    if len(programs) != 1:
        found = ", ".join(map(str, programs)) or "none"
        raise ValueError(
            f"{key}: {path}: expected one of {', '.join(PROGRAMS)} in its bin or sbin, found {found}; "
            "where there are several, name the program itself"
        )
    return programs[0]


def program_release(program: Path) -> str:
    """Return the release that a server program names ("8.0.33", "15.18").

    Raises ValueError with what it said when it cannot run here or names none.
    """
    if not os.access(program, os.X_OK):
        raise ValueError(f"{program}: cannot be executed, expected a server program")
    argv = [str(program), "--version"]
    # a prebuilt program runs with the locale of whoever starts it
    environment = {**os.environ, "LC_ALL": "C"}
    answer = subprocess.run(argv, capture_output=True, env=environment, timeout=ANSWER_S, errors="replace", check=False)
    if answer.returncode == 0 and (told := RELEASE.search(answer.stdout)):
        return told.group(1)
    said = (answer.stdout + answer.stderr).strip()[-500:] or "(nothing)"
    raise ValueError(f"{program} --version: status {answer.returncode}, names no release: {said}")
