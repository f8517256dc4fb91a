"""Paths of this machine that a source names: what is there, without opening it."""

import stat
from pathlib import Path

TYPES = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
# Larger than any archive or program; some files of the kernel's have such a size.
BYTES_MAX = 1 << 40


def problem(path: Path, file_type: int = stat.S_IFREG) -> str | None:
    """Return why a path, links followed, is not of a `file_type` of stat's, None if it is.

    Files of the kernel's own, which have no size and may be read for ever, are no files here.
    """
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return "does not exist"
    except (OSError, RuntimeError) as error:
        return f"cannot be looked at: {getattr(error, 'strerror', None) or error}"
    if stat.S_IFMT(status.st_mode) != file_type:
        return f"is {TYPES.get(stat.S_IFMT(status.st_mode), 'a file')}"
    if file_type == stat.S_IFREG and not 0 < status.st_size <= BYTES_MAX:
        return f"holds {status.st_size} bytes"
    return None
