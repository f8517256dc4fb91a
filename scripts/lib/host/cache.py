"""The cache: this user's folder outside the results, on this machine's disk."""

import os
from pathlib import Path

NAME, PARENT = "pgobench", Path("/var/tmp")


def cache_path() -> Path:
    """Return the path of this user's cache folder, which may not exist yet."""
    return PARENT / f"{NAME}-{os.getuid()}"


def cache_directory() -> Path:
    """Return this user's cache folder; its path does not depend on the checkout. Other users cannot write to it.

    Raises PermissionError when another user owns it.
    """
    folder = cache_path()
    folder.mkdir(mode=0o755, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder}: belongs to another user, expected a folder of uid {os.getuid()}; remove it")
    return folder
