"""Places outside the results: a cache, short socket folders, data directories; and who servers run as."""

import contextlib
import os
import pwd
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scripts import record
from scripts.host import lifetime

NAME = "pgobench"
LONGEST_SOCKET_BYTES = 107
SERVER_USER = "nobody"


def cache_path() -> Path:
    """Return where this user's cache folder is, made or not."""
    return Path("/var/tmp") / f"{NAME}-{os.getuid()}"


def cache_directory() -> Path:
    """Return this user's cache folder; its path does not depend on the checkout. Other users cannot write to it.

    Raises PermissionError when somebody else owns it.
    """
    folder = cache_path()
    folder.mkdir(mode=0o755, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder}: belongs to another user, expected a folder of uid {os.getuid()}; remove it")
    return folder


def server_identity() -> dict[str, Any]:
    """Return Popen's arguments for a server process: as root those of an unprivileged user."""
    if os.getuid() != 0:
        return {}
    user = pwd.getpwnam(SERVER_USER)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def give(path: Path) -> None:
    """Make the server's user own `path` and all below it; nothing to do unless root runs the workflow."""
    if not (identity := server_identity()):
        return
    for folder, folders, files in os.walk(path):
        for name in (".", *folders, *files):
            os.chown(Path(folder) / name, identity["user"], identity["group"], follow_symlinks=False)


def reachable(path: Path) -> bool:
    """Tell whether the server's user can enter every folder that leads to `path`."""
    if not server_identity():
        return True
    return all(parent.stat().st_mode & 0o001 for parent in path.resolve().parents)


def readable_install(install: Path, sha256: str) -> Path:
    """Return an install tree that the server's user can read: `install` itself, else a copy in the cache."""
    if reachable(install / "bin"):
        return install
    copy = cache_directory() / "install" / sha256[:16]
    if not copy.exists():
        copy.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=".copy-", dir=copy.parent))
        shutil.copytree(install, temporary / "install", symlinks=True)
        (temporary / "install").rename(copy)
        temporary.rmdir()
    return copy


def installed(identity: Path) -> Path:
    """Return the install tree that belongs to an identity record, readable to the server's user.

    Raises ValueError when the server program is not the one described.
    """
    described = record.read(identity)
    install = identity.parent.absolute() / "install"
    _demand_program(install / described["server_file"], identity, described, identity.parent)
    readable = readable_install(install, described["sha256"])
    if readable != install:
        _demand_program(readable / described["server_file"], identity, described, readable)
    return readable


def _demand_program(program: Path, identity: Path, described: dict[str, Any], made: Path) -> None:
    if not program.exists() or record.file_sha256(program) != described["sha256"]:
        raise ValueError(f"{program}: is not the program {identity} describes; remove {made} to have it made again")


@contextlib.contextmanager
def socket_directory() -> Iterator[Path]:
    """Have a private folder with a path short enough for Unix sockets (107 bytes with the socket's name)."""
    with temporary_directory() as folder:
        longest = folder / ".s.PGSQL.5432.lock"
        if len(os.fsencode(longest)) > LONGEST_SOCKET_BYTES:
            raise ValueError(
                f"TMPDIR: {folder} is too long for a Unix socket, whose path may have {LONGEST_SOCKET_BYTES} bytes; "
                "set TMPDIR to a shorter path, such as /tmp"
            )
        give(folder)
        yield folder


@contextlib.contextmanager
def data_directory(storage: str | None) -> Iterator[Path]:
    """Have a folder for data directories on a storage's path, by default in the cache; it is removed afterwards.

    Of a storage's path at most the last folder is made: a longer one that is missing is a disk that is not mounted.
    Raises ValueError naming the storage path when it is missing or not writable.
    """
    base = Path(storage).expanduser() if storage else cache_directory() / "data"
    with contextlib.ExitStack() as stack:
        try:
            base.mkdir(exist_ok=True)
            folder = stack.enter_context(temporary_directory(base))
        except OSError as error:
            raise ValueError(f"storage: {base} cannot hold data directories: {error}") from error
        give(folder)
        if not reachable(folder):
            raise ValueError(f"storage: {base} cannot be entered by user {SERVER_USER}, who runs the servers")
        yield folder


@contextlib.contextmanager
def temporary_directory(base: Path | None = None) -> Iterator[Path]:
    """Have a private folder, by default where temporary files are; it is removed afterwards."""
    folder = (base or Path(tempfile.gettempdir())) / f"{NAME}-{secrets.token_hex(4)}"
    with passing(folder):
        folder.mkdir(mode=0o700)
        yield folder


@contextlib.contextmanager
def passing(folder: Path) -> Iterator[Path]:
    """Have a folder, there already or not, removed at the end of the body, and when this process is killed in it."""
    gone = lifetime.remove_folder_at_death(folder)
    try:
        yield folder
    finally:
        remove(folder)
        gone()


def remove(folder: Path) -> None:
    """Remove a folder of ours with all below it; what is gone already is no error."""
    shutil.rmtree(folder, onerror=_unless_gone)


def _unless_gone(_function: object, _path: str, error: tuple) -> None:
    if not isinstance(error[1], FileNotFoundError):
        raise error[1]
