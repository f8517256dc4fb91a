"""A server's counters over its own open time: read after the slice that completes a second."""

from collections.abc import Callable
from dataclasses import dataclass, field

from scripts.lib.host import usage

EVERY_NS = 10**9
Counters = dict[str, float]


def with_switches(counters: Counters, pid: int) -> Counters:
    """Return a server's counters with its context switches, where the system lets us read them."""
    switches = usage.context_switches(pid)
    return counters if switches is None else {**counters, "context_switches": float(switches)}


def with_machine(counters: Counters, pid: int) -> Counters:
    """Return a server's counters with its context switches, and the interrupts of the whole machine since boot."""
    interrupts = usage.interrupts()
    own = with_switches(counters, pid)
    return own if interrupts is None else {**own, "interrupts": float(interrupts)}


@dataclass
class CounterSeries:
    """Readings of counters, `seconds` of the server's open time each; no reading lies within a slice."""

    seconds: list[float] = field(default_factory=list)
    readings: list[Counters] = field(default_factory=list)
    _open_ns: int = 0
    _interrupts: int | None = 0
    _at_opening: int | None = None

    def before_slice(self) -> None:
        """Note the machine's interrupts so far: those of other servers' slices are not this one's."""
        self._at_opening = usage.interrupts()

    def after_slice_of(self, read: Callable[[], Counters]) -> Callable[[int], None]:
        """Return what to call after each slice with its nanoseconds; it calls `read` when a second is complete."""

        def after_slice(open_ns: int) -> None:
            self._add_interrupts()
            before_ns, self._open_ns = self._open_ns, self._open_ns + open_ns
            if before_ns // EVERY_NS < self._open_ns // EVERY_NS:
                own = {} if self._interrupts is None else {"interrupts": float(self._interrupts)}
                self.readings.append({**read(), **own})
                self.seconds.append(round(self._open_ns / 1e9, 3))

        return after_slice

    def _add_interrupts(self) -> None:
        now = usage.interrupts()
        if now is None or self._at_opening is None or self._interrupts is None:
            self._interrupts = None
        else:
            self._interrupts += now - self._at_opening

    def columns(self) -> dict[str, list]:
        """Return the readings as columns; a counter that a reading lacks is None. Empty without readings."""
        if not self.readings:
            return {}
        names = dict.fromkeys(name for reading in self.readings for name in reading)
        return {"second": self.seconds, **{name: [each.get(name) for each in self.readings] for name in names}}
