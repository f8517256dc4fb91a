"""One Snakemake at a time in one working directory, without a lock file that outlives a kill."""

import fcntl
import os
from pathlib import Path

_held: list[int] = []


def hold(folder: Path) -> None:
    """Take the lock of a working directory until this process ends, however it ends.

    Snakemake's own lock stays behind after a kill and must be removed by hand; the kernel drops this one.
    Raises ValueError naming the process that has it, or the folder when it is somebody else's or read-only.
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
    _held.append(handle)


def holder(folder: Path) -> int | None:
    """Return the Snakemake that noted itself in a working directory and lives on this machine; takes no lock."""
    try:
        process = int((folder / ".lock").read_text(encoding="utf-8"))
        words = Path(f"/proc/{process}/cmdline").read_bytes()
    except (OSError, ValueError):
        return None
    return process if b"snakemake" in words else None
