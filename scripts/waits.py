"""What the server waits for between two moments: timed by itself, or sampled from what it says of each moment."""

import contextlib
import threading
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from scripts.server import Server
from scripts.tracer import ToolFailed

EVERY_S = 0.05
Key = tuple[str, str]  # who waits, for what
Found = dict[Key, tuple[float, float]]  # number of waits, seconds


class Waits:
    """Waits of a server from `begin` to `end`, read on a connection of their own."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self.threads = ThreadPoolExecutor(1)
        self.open = contextlib.ExitStack()
        self.before: Found = {}
        self.sampled: Future | None = None
        self.found: dict[str, Any] | None = None

    def begin(self, server: Server) -> None:
        """Take the first look, or begin with looks every 50 ms, beside the load."""
        self.connection = self.open.enter_context(contextlib.closing(server.connect()))
        self.family = server.family
        if self.family.WAITS.SAMPLED:
            self.sampled = self.threads.submit(self._sample)
        else:
            self.before = self.family.WAITS.read(self.connection)

    def end(self) -> None:
        """Take the last look, and leave the server."""
        self.over.set()
        if self.sampled is not None:
            seen, looks, spent_s = self.sampled.result()
            each_s = spent_s / looks
            self.found = {"samples": looks, **rows({key: (count, count * each_s) for key, count in seen.items()})}
        else:
            self.found = {"samples": None, **rows(difference(self.before, self.family.WAITS.read(self.connection)))}
        self.open.close()

    def facts(self) -> dict[str, Any]:
        """Return `samples`, the number of looks where they were many, and `waits`, see `rows`."""
        if not (self.found or {}).get("waits"):
            raise ToolFailed("the server told of no wait")
        return self.found

    def close(self) -> None:
        """End what is left of it."""
        self.over.set()
        self.threads.shutdown()
        # A server that failed under load has taken its end of the connection along.
        with contextlib.suppress(Exception):
            self.open.close()

    def _sample(self) -> tuple[Counter[Key], int, float]:
        seen, looks, begin_s = Counter(), 0, time.monotonic()
        while not self.over.wait(EVERY_S):
            seen.update({key: count for key, (count, _) in self.family.WAITS.read(self.connection).items()})
            looks += 1
        return seen, looks, time.monotonic() - begin_s


def difference(before: Found, after: Found) -> Found:
    """Return what came between two looks; a thread that has ended takes its waits along, which are then left out."""
    found = {}
    for key, (count, seconds) in after.items():
        earlier = before.get(key, (0.0, 0.0))
        if count > earlier[0]:
            found[key] = (count - earlier[0], max(0.0, seconds - earlier[1]))
    return found


def rows(found: Found) -> dict[str, Any]:
    """Return `waits`, rows of who, event, count and seconds, the longest first."""
    ordered = sorted(found.items(), key=lambda each: -each[1][1])
    return {
        "waits": [
            {"who": who, "event": event, "count": count, "seconds": round(seconds, 6)}
            for (who, event), (count, seconds) in ordered
        ]
    }
