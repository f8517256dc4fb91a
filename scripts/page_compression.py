"""Pages that InnoDB compresses and leaves holes behind: who asks for it, and whether a file system can make holes.

Where it cannot, the server stores whole pages and says nothing but a warning to the client that made the table.
"""

import ctypes
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scripts import workplace
from scripts.config_mistakes import Mistake
from scripts.file_systems import mounted, nearest

TABLE_OPTION, MOUNTS = "create_table_options", Path("/proc/self/mountinfo")
ASKED = re.compile(
    r"\bCOMPRESSION\s*=\s*['\"]?(?!none\b)\w|\bPAGE_COMPRESSED\b(?!`?\s*=\s*['\"]?(?:0|no|off)\b)", re.IGNORECASE
)
# fallocate(2)
KEEP_SIZE, PUNCH_HOLE = 1, 2
PIECE = 64 * 1024


def asked(tables: Mapping[str, Any]) -> str | None:
    """Return the options of tables that ask for compressed pages, None when they do not; `tables` is a dataset's."""
    text = str((tables.get("options") or {}).get(TABLE_OPTION, ""))
    return text if ASKED.search(text) else None


def punches(folder: Path) -> bool:
    """Tell whether holes can be punched into files of a folder, tried on one without a name.

    Raises OSError when no file can be made there.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    offsets = (ctypes.c_long(PIECE // 2), ctypes.c_long(PIECE // 4))
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        file.write(b"x" * PIECE)
        os.fsync(file.fileno())
        whole = os.fstat(file.fileno()).st_blocks
        done = libc.fallocate(file.fileno(), KEEP_SIZE | PUNCH_HOLE, *offsets)
        return done == 0 and os.fstat(file.fileno()).st_blocks < whole


def demand(tables: Mapping[str, Any], folder: Path) -> None:
    """Refuse to store compressed pages where no hole can be punched. Raises ValueError naming option and folder."""
    if (option := asked(tables)) and not punches(folder):
        raise ValueError(f"{TABLE_OPTION}: {option!r} {_refused(folder)}")


def _refused(folder: Path) -> str:
    kind = mounted(folder.resolve(), MOUNTS.read_text(encoding="utf-8"))
    return (
        f"needs a file system that can punch holes, which {folder} ({kind}) cannot: pages would stay as large as they "
        "are; use ext4, xfs, btrfs or tmpfs, under `storage` or for the checkout"
    )


def mistakes(config: Mapping[str, Any], entries: Mapping[str, Any]) -> Iterator[Mistake]:
    """Find tables with compressed pages whose snapshots or data directories would lie where no hole can be."""
    variants = config.get("variants", {})
    workloads = (entries["workloads"].get(name) or {} for name in config.get("workloads", {}))
    used = sorted({str(workload.get("dataset")) for workload in workloads})
    asking = {("datasets", name): variants.values() for name in used if asked(entries["datasets"].get(name, {}))}
    asking |= {("variants", name, "data"): [arm] for name, arm in variants.items() if asked(arm.get("data", {}))}
    for path, arms in asking.items():
        named = (config.get("storage", {}).get(arm.get("storage")) for arm in arms)
        places = [Path("results"), workplace.cache_path(), *(Path(folder).expanduser() for folder in named if folder)]
        for place in dict.fromkeys(map(nearest, places)):
            if not _punches(place):
                yield Mistake((*path, "options", TABLE_OPTION), _refused(place))


def _punches(place: Path) -> bool:
    try:
        return punches(place)
    except OSError:
        return True  # not ours to judge: that nothing can be written there is told elsewhere
