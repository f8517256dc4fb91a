"""Whether a load is bound by a disk, so that its block goes by turns: by the reference's counters at its warm-up.

Slices share a disk as they do not share a CPU: what one server wrote is written back in the slice of another, and a
queue of flushes outlives the slice that made it.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

MIB = 2**20
Counts = dict[str, float]

# Per second of the reference's own open time. Tried with MariaDB: for the same variant, a load that flushes at every
# commit gave 0.94 +/- 0.04 in slices and 1.06 +/- 0.09 by turns, one on data beyond the pool +/- 8 to 32 % either way.
# So slices and windows are not shown to agree within 3 % there, which counts as a difference. Nothing was tried between
# such loads and those in memory that flush once a second; the limits lie between. A commit that waits for a sync of the
# binary log waits for a flush, too.
LIMITS_PER_S: Mapping[str, float] = {
    "fsyncs": 100.0, "synced_commits": 100.0, "pool_misses": 100.0, "written_bytes": 64.0 * MIB
}  # fmt: skip
WORDS = {
    "fsyncs": (1, "fsyncs"), "synced_commits": (1, "commits synced to the binary log"),
    "pool_misses": (1, "pool misses"), "written_bytes": (MIB, "MiB written"),
}  # fmt: skip
# How the reason of every such block begins.
BOUND_BY_A_DISK = "bound by a disk: "
# Seconds of a window: a disk's queue and write-back by the kernel (every 5 s, of what is 30 s old) want many seconds.
TURN_S = 20


@dataclass(frozen=True)
class DiskBound:
    """Why a load counts as bound by a disk: the name of the count, and the reason in words, the same in every block."""

    code: str
    text: str


def bound(per_s: Mapping[str, float]) -> DiskBound | None:
    """Return by what a load is bound that asks so much of a disk per second; None within the limits.

    Of several reasons it is the one furthest beyond its limit. What a server does not count is not judged.
    """
    times = {name: per_s[name] / limit for name, limit in LIMITS_PER_S.items() if name in per_s}
    code = max(times, key=lambda name: times[name], default=None)
    if code is None or times[code] <= 1:
        return None
    return DiskBound(code, f"{BOUND_BY_A_DISK}{limit_text(code)}")


def limit_text(code: str) -> str:
    """Return the limit that a load is over, by the name of the count: `over 100 fsyncs per second`."""
    return f"over {amount(code, LIMITS_PER_S[code])} per second"


def amount(name: str, *values: float) -> str:
    """Return a count in words; of several values their range."""
    factor, words = WORDS[name]
    ends = dict.fromkeys(f"{value / factor:.4g}" for value in (min(values), max(values)))
    return f"{' to '.join(ends)} {words}"


def per_second(before: Counts, after: Counts, seconds: float) -> Counts:
    """Return what a server's counts grew by per second; what it does not count is missing."""
    names = [name for name in LIMITS_PER_S if name in before and name in after]
    # A sum of counters that are read one after the other may fall by a little.
    return {name: max(after[name] - before[name], 0.0) / seconds for name in names}


@dataclass
class WarmUp:
    """What a server asks of a disk in the `slices` of its warm-up; `read` returns its counts.

    It is the later half: in the first one the server reads catalogs, and pages that stay in its pool. Of a server whose
    sessions report only `late`, it is all of it, known after one more slice in which they report.
    """

    read: Callable[[], Counts]
    slices: int
    late: bool = False
    per_s: Counts = field(default_factory=dict)
    ended_s: float | None = None
    _taken: int = 0
    _open_ns: int = 0
    _before: Counts | None = None

    def begin(self) -> None:
        """Take the counts before the first slice where they are needed."""
        if self.late:
            self._before = self.read()

    def after_slice(self, open_ns: int) -> None:
        """Count a slice of so many nanoseconds, which ends now."""
        self._taken += 1
        self.ended_s = time.monotonic()
        if self._before is None and self._taken >= self.slices // 2:
            self._before = self.read()
        elif self._before is not None and self._taken <= self.slices:
            self._open_ns += open_ns
        if self._before is not None and self._taken == self.slices + self.late and self._open_ns:
            self.per_s = per_second(self._before, self.read(), self._open_ns / 1e9)
