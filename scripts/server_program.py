"""Find the server program of a ready-made server, and have it name its release."""

import os
import re
import subprocess
from pathlib import Path

PROGRAMS = ("mysqld", "mariadbd", "postgres")
FOLDERS = ("bin", "sbin", "libexec")
RELEASE = re.compile(r"(?:\bVer |\(PostgreSQL\) )(\d[\d.]*\w*)")
ANSWER_S = 60


def find(path: Path, key: str) -> Path:
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


def release(program: Path) -> str:
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
