"""Folders outside the results: socket folders, data directories; the user that runs the servers."""

import contextlib
import os
import pwd
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from scripts.lib import json_record
from scripts.lib.host import lifetime
from scripts.lib.host.cache import NAME, cache_directory
from scripts.lib.host.process import OtherUser

LONGEST_SOCKET_BYTES = 107
SERVER_USER = "nobody"
# Snakemake writes this file into each directory that a rule makes.
SNAKEMAKE_STAMP = ".snakemake_timestamp"


def server_identity() -> OtherUser:
    """Return Popen's arguments for a server process: as root those of an unprivileged user."""
    if os.getuid() != 0:
        return {}
    user = pwd.getpwnam(SERVER_USER)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def give(path: Path) -> None:
    """Make the server's user the owner of `path` and all below it, if root runs the workflow."""
    if not (identity := server_identity()):
        return
    for folder, folders, files in os.walk(path):
        for name in (".", *folders, *files):
            os.chown(Path(folder) / name, identity["user"], identity["group"], follow_symlinks=False)


def reachable(path: Path) -> bool:
    """Return whether the server's user can enter every folder that leads to `path`."""
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

    Raises ValueError when the server program is not the one that the record describes.
    """
    described = json_record.read(identity)
    install = identity.parent.absolute() / "install"
    _demand_program(install / described["server_file"], identity, described["sha256"], identity.parent)
    readable = readable_install(install, described["sha256"])
    if readable != install:
        _demand_program(readable / described["server_file"], identity, described["sha256"], readable)
    return readable


def _demand_program(program: Path, identity: Path, sha256: str, folder: Path) -> None:
    if not program.exists() or json_record.file_sha256(program) != sha256:
        raise ValueError(f"{program}: is not the program {identity} describes; remove {folder} to have it made again")


@contextlib.contextmanager
def socket_directory() -> Iterator[Path]:
    """Make a private folder for Unix sockets, and remove it on exit.

    Raises ValueError when its path is too long for a socket, which may have 107 bytes with its name.
    """
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
    """Make a folder for data directories on a storage's path, by default in the cache, and remove it on exit.

    At most the last folder of the storage's path is made: if more is missing, a disk is not mounted.
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
    """Make a private folder in `base`, by default in the folder for temporary files, and remove it on exit."""
    folder = (base or Path(tempfile.gettempdir())) / f"{NAME}-{secrets.token_hex(4)}"
    with passing(folder):
        folder.mkdir(mode=0o700)
        yield folder


@contextlib.contextmanager
def passing(folder: Path) -> Iterator[Path]:
    """Remove the folder on exit, even if this process is killed; it need not exist yet."""
    gone = lifetime.remove_folder_at_death(folder)
    try:
        yield folder
    finally:
        remove(folder)
        gone()


def remove(folder: Path) -> None:
    """Remove a folder and all below it; it need not exist."""

    def unless_gone(
        _function: object, _path: str, error: tuple[type[BaseException], BaseException, TracebackType]
    ) -> None:
        if not isinstance(error[1], FileNotFoundError):
            raise error[1]

    shutil.rmtree(folder, onerror=unless_gone)
