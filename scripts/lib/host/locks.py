"""One lock for the whole machine, exclusive for measurements and shared for compiles, and one per working directory.

The kernel releases a lock when its holder dies. Other containers and virtual machines are not covered.
"""

import contextlib
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

_checkout_handles: list[int] = []


def hold_checkout(folder: Path) -> None:
    """Hold the lock of a working directory until this process ends, also by SIGKILL.

    Snakemake's own lock remains after a kill and must be removed by hand; the kernel releases this one.
    Raises ValueError naming the process that holds it, or the folder if this user cannot write there.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        who = f"uid {os.getuid()} cannot write there ({error.strerror})"
        raise ValueError(f"{folder.resolve()}: {who}; expected a folder of yours, see -d") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(handle, 32, 0).decode(errors="replace").strip() or "unknown"
        os.close(handle)
        raise ValueError(
            f"{folder.resolve()}: another Snakemake (process {holder}) works here; wait for it, or use -d elsewhere"
        ) from None
    os.ftruncate(handle, 0)
    os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
    _checkout_handles.append(handle)


def checkout_holder(folder: Path) -> int | None:
    """Return the process id of the Snakemake that runs in a working directory, None without one; takes no lock."""
    try:
        process = int((folder / ".lock").read_text(encoding="utf-8"))
        words = Path(f"/proc/{process}/cmdline").read_bytes()
    except (OSError, ValueError):
        return None
    return process if b"snakemake" in words else None


class Busy(ValueError):
    """A process measures or compiles on this machine; the text has the process ids."""


def refuse(holders: tuple[int, ...]) -> None:
    """Raise Busy naming the holders, in place of waiting for them."""
    who = ", ".join(map(str, holders)) or "unknown"
    raise Busy(f"processes {who} measure or compile on this machine")


HOST_LOCK_NAME = "database-benchmark"
# The first directory that is writable for everyone is used, so that all users share one lock. /dev/shm is second,
# because logind removes a user's files there at logout (RemoveIPC).
LOCK_DIRECTORIES = (Path("/var/tmp"), Path("/dev/shm"), Path("/tmp"))
EVERYONE_RW = 0o666


def _silent(holders: tuple[int, ...]) -> None:
    """Ignore the holders: no message while waiting."""


@contextlib.contextmanager
def exclusive(waiting: Callable[[tuple[int, ...]], None] = _silent, directory: Path | None = None) -> Iterator[float]:
    """Hold the machine's lock exclusively; yield the seconds waited.

    `waiting` is called once, with the process ids of the holders, if the lock is not free at once.
    Raises OSError or ValueError naming the lock file if it is not a plain file or cannot be opened.
    """
    with _held(fcntl.LOCK_EX, waiting, directory) as waited_s:
        yield waited_s


@contextlib.contextmanager
def shared(waiting: Callable[[tuple[int, ...]], None] = _silent, directory: Path | None = None) -> Iterator[float]:
    """Hold the machine's lock shared, which excludes measurements; yield the seconds waited.

    Parameters and errors are those of `exclusive`.
    """
    with _held(fcntl.LOCK_SH, waiting, directory) as waited_s:
        yield waited_s


@contextlib.contextmanager
def _held(mode: int, waiting: Callable[[tuple[int, ...]], None], directory: Path | None) -> Iterator[float]:
    folder = directory or lock_directory()
    begin_s = time.monotonic()
    with _opened(folder / f"{HOST_LOCK_NAME}.turn") as turn, _opened(folder / f"{HOST_LOCK_NAME}.lock") as lock:
        # flock is not fair: without this second lock, a measurement would starve behind overlapping compiles.
        _take(turn, fcntl.LOCK_EX, waiting, about=lock)
        _take(lock, mode, waiting, about=lock)
        fcntl.flock(turn, fcntl.LOCK_UN)
        yield time.monotonic() - begin_s


def _take(handle: int, mode: int, waiting: Callable[[tuple[int, ...]], None], about: int) -> None:
    try:
        fcntl.flock(handle, mode | fcntl.LOCK_NB)
    except BlockingIOError:
        waiting(_holders(about))
        fcntl.flock(handle, mode)


def lock_directory() -> Path:
    """Return the first of LOCK_DIRECTORIES that is writable for everyone and has the sticky bit.

    Raises ValueError naming the directories if there is none.
    """
    for directory in LOCK_DIRECTORIES:
        mode = directory.stat().st_mode if directory.is_dir() else 0
        if mode & stat.S_ISVTX and mode & stat.S_IWOTH and os.access(directory, os.W_OK):
            return directory
    raise ValueError(
        f"no directory for the machine-wide lock: expected {', '.join(map(str, LOCK_DIRECTORIES))} with mode 1777"
    )


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    handle = _open(path)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ValueError(f"{path}: is no plain file, expected the machine-wide lock; remove it")
        # A new time stamp keeps cleaners of old temporary files from removing it.
        os.utime(handle)
        yield handle
    finally:
        os.close(handle)


def _open(path: Path) -> int:
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    with contextlib.suppress(FileNotFoundError):
        # Without O_CREAT: with it, fs.protected_regular refuses another user's file in such a directory.
        return os.open(path, flags)
    mask = os.umask(0)
    try:
        return os.open(path, flags | os.O_CREAT | os.O_EXCL, EVERYONE_RW)
    except FileExistsError:
        return os.open(path, flags)
    finally:
        os.umask(mask)


def _holders(handle: int) -> tuple[int, ...]:
    """Return the ids of the processes that lock an open file, from /proc/locks; empty if unknown."""
    facts = os.fstat(handle)
    device = f"{os.major(facts.st_dev):02x}:{os.minor(facts.st_dev):02x}:{facts.st_ino}"
    with contextlib.suppress(OSError):
        lines = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
        # A waiting entry has an arrow in the second column.
        return tuple(sorted({int(fields[4]) for fields in lines if fields[1] == "FLOCK" and fields[5] == device}))
    return ()
