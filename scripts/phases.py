"""Where the seconds of a run go."""

import time


class Phases:
    """A stopwatch that is read at the end of each phase; `seconds` holds the phases by name."""

    def __init__(self, started_at: float) -> None:
        """Begin at `started_at`, seconds since the epoch: the start of the process, Python's own start included."""
        self.started_at = started_at
        self.seconds: dict[str, float] = {}
        # Durations come from the monotonic clock; only this first distance needs the other one.
        self._since_s = time.monotonic() - (time.time() - started_at)

    def end(self, name: str, less_s: float = 0.0, less_name: str | None = None) -> None:
        """End a phase now; `less_s` of it are booked under another name."""
        now_s = time.monotonic()
        self.seconds[name] = self.seconds.get(name, 0.0) + now_s - self._since_s - less_s
        if less_name:
            self.seconds[less_name] = less_s
        self._since_s = now_s

    def add(self, name: str, seconds: float) -> None:
        """Book a stretch that has just ended and that took so many seconds."""
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds
        self._since_s = time.monotonic()
