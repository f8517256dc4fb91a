"""SHA-256 of many files, remembered between calls: a file whose size, times and inode are known is not read again."""

import hashlib
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path

from scripts.record import FORMAT, file_sha256, write_text
from scripts.workplace import cache_directory

# A file written this shortly before it is read could change again within one tick of the file system's clock.
RACY_NS = 2_000_000_000


def state(status: os.stat_result) -> str:
    """Return what tells a changed file from the same one: size, times of content and inode in ns, inode.

    No program can set the time of the inode's last change. Text, because 30 000 status objects keep the garbage
    collector as busy as all the rest.
    """
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"


def file_digests(base: Path, files: Mapping[str, str]) -> dict[str, str]:
    """Return name -> SHA-256 (hex) of regular files below `base`, given as name -> state.

    What is remembered lies in the user's cache folder, one file for each `base`; a damaged memory is as good as none.
    """
    memory = _memory(base)
    known, digests, kept = _recall(memory), {}, {}
    old_enough_ns = time.time_ns() - RACY_NS
    for name, found in files.items():
        key = f"{found} {name}"
        if digest := known.get(key):
            kept[key] = digest
        else:
            digest = file_sha256(base / name)
            if int(found.split()[2]) < old_enough_ns:
                kept[key] = digest
        digests[name] = digest
    if kept.keys() != known.keys():
        write_text(memory, json.dumps({"format": FORMAT, "digests": kept}))
    return digests


def digest_of(file: Path) -> str:
    """Return the SHA-256 (hex) of one regular file."""
    return file_digests(file.parent, {file.name: state(file.lstat())})[file.name]


def _memory(base: Path) -> Path:
    name = hashlib.sha256(os.fsencode(base.resolve())).hexdigest()[:16]
    return cache_directory() / "digests" / f"{name}.json"


def _recall(memory: Path) -> dict[str, str]:
    try:
        known = json.loads(memory.read_text(encoding="utf-8"))["digests"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    whole = isinstance(known, dict) and all(isinstance(digest, str) and len(digest) == 64 for digest in known.values())
    return known if whole else {}
