"""Where a server that is there already has the parts of an install tree."""

from pathlib import Path

FOLDERS = ("bin", "sbin", "libexec")


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


def beside(program: Path, name: str) -> dict[str, Path]:
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
