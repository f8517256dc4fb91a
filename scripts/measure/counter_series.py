"""A server's counters over its own open time: read after the slice that completes a second."""

from collections.abc import Callable
from dataclasses import dataclass, field

EVERY_NS = 10**9
Counters = dict[str, float]


@dataclass
class CounterSeries:
    """Readings of counters, `seconds` of the server's open time each; no reading lies within a slice."""

    seconds: list[float] = field(default_factory=list)
    readings: list[Counters] = field(default_factory=list)
    _open_ns: int = 0

    def after_slice_of(self, read: Callable[[], Counters]) -> Callable[[int], None]:
        """Return what to call after each slice with its nanoseconds; it calls `read` when a second is complete."""

        def after_slice(open_ns: int) -> None:
            before_ns, self._open_ns = self._open_ns, self._open_ns + open_ns
            if before_ns // EVERY_NS < self._open_ns // EVERY_NS:
                self.readings.append(read())
                self.seconds.append(round(self._open_ns / 1e9, 3))

        return after_slice

    def columns(self) -> dict[str, list]:
        """Return the readings as columns; a counter that a reading lacks is None. Empty without readings."""
        if not self.readings:
            return {}
        names = dict.fromkeys(name for reading in self.readings for name in reading)
        return {"second": self.seconds, **{name: [each.get(name) for each in self.readings] for name in names}}
