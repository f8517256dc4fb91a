"""How long a write takes to be durable where a data directory lies, measured there before a server starts."""

import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from scripts import file_systems

# A redo log is a file with its blocks allocated, written over in pieces of a few KiB.
BLOCK_BYTES, FILE_BYTES = 4096, 2**20
MOST, LEAST, ENOUGH_S = 200, 16, 0.25


def facts(folder: Path) -> dict[str, Any]:
    """Return what a run records of the place of its data: `fsync_ms`, and `medium`, what kind of place it is.

    `device` is the name of a disk or partition as the kernel has it, None where files lie on none, as in memory.
    """
    took_ms = times_ms(folder)
    low, middle, high, most = np.percentile(took_ms, [0, 50, 95, 100]).tolist()
    place = file_systems.of(folder)
    block = Path(f"/sys/dev/block/{os.major(place.number)}:{os.minor(place.number)}")
    device = block.resolve().name if block.exists() else None
    return {
        "fsync_ms": {"min": low, "p50": middle, "p95": high, "max": most},
        "medium": {"file_system": place.name, "device": device, "fsyncs": len(took_ms)},
    }


def times_ms(folder: Path) -> list[float]:
    """Return the milliseconds of fsync calls one after the other, each after 4 KiB of a file were overwritten.

    The file is in `folder` and has no name. Calls end after 200, or after 16 and a quarter of a second. Raises OSError
    when the file system refuses.
    """
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        file.write(bytes(FILE_BYTES))
        os.fsync(file.fileno())
        found, begin_s = [], time.monotonic()
        while len(found) < LEAST or (len(found) < MOST and time.monotonic() - begin_s < ENOUGH_S):
            os.pwrite(file.fileno(), os.urandom(BLOCK_BYTES), len(found) * BLOCK_BYTES % FILE_BYTES)
            called_s = time.perf_counter()
            os.fsync(file.fileno())
            found.append((time.perf_counter() - called_s) * 1000)
    return found
