"""A gate that holds sysbench's clients between two transactions, and what each client counts in a slice.

The gate is a shared file: a head, then one slot per client, a multiple of cache lines long. `slices.lua`, which every
sysbench process loads before the script, waits on the head's first word (a futex) and writes to its clients' slots.
"""

import contextlib
import ctypes
import mmap
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

PRELUDE = Path(__file__).with_name("slices.lua")
# The word grows by one at each opening and closing: even is closed, odd is open.
LEAVE, NOWHERE = -1, -1
# What a client that left its loop says about where it is held.
GONE = -2
CACHE_LINE_BYTES, PAGE_BYTES = 64, 4096
# Steps of half a percent from 1 us to 100 s; sysbench's own histogram has steps of 1.8 %.
BUCKET_STEP, LONGEST_US = 1.005, 100e6
BUCKETS = int(np.ceil(np.log(LONGEST_US) / np.log(BUCKET_STEP)))
POSITIONS = 16
HEAD = np.dtype(
    [
        ("word", "<i4"),
        ("skip_us", "<i4"),
        # Grows when clients shall note sysbench's counters behind their next transaction.
        ("look", "<i4"),
        ("unused", "<i4"),
        *((name, "<i8") for name in ("opened_ns", "slice_ns", "slots_at", "slot_bytes", "buckets", "positions")),
        ("bucket_step", "<f8"),
    ]
)


class Sent(NamedTuple):
    """Queries, ignored errors and reconnects as sysbench counts them, None where it shows no script its counters."""

    queries: int | None = None
    errors: int | None = None
    reconnects: int | None = None

    def since(self, before: "Sent") -> "Sent":
        """Return the counts since an earlier reading, None where unknown."""
        return Sent(
            *(None if now is None or then is None else now - then for now, then in zip(self, before, strict=True))
        )


COUNTS = [(name, "<i8") for name in ("held_at", "completed", "counted", "first_ns", "last_ns", *Sent._fields, "events")]
COUNTS_BYTES = -(-8 * len(COUNTS) // CACHE_LINE_BYTES) * CACHE_LINE_BYTES
SLOT_BYTES = -(-(COUNTS_BYTES + 4 * (POSITIONS + BUCKETS)) // CACHE_LINE_BYTES) * CACHE_LINE_BYTES
SLOT = np.dtype(
    {
        "names": [*(name for name, _ in COUNTS), "positions", "histogram"],
        "formats": [*(kind for _, kind in COUNTS), ("<u4", POSITIONS), ("<u4", BUCKETS)],
        "offsets": [*range(0, 8 * len(COUNTS), 8), COUNTS_BYTES, COUNTS_BYTES + 4 * POSITIONS],
        "itemsize": SLOT_BYTES,
    }
)
FUTEX, WAKE = 202, 1
LOOK_S = 0.0002
# Clients are asked for sysbench's counters so long before each second.
NOTED_WITHIN_S = 0.1


class NeverParked(RuntimeError):
    """Clients did not come back to the gate in time: a transaction hangs, or sysbench is gone."""


@dataclass(frozen=True)
class SliceCounts:
    """What the clients of one arm did in one slice.

    `transactions` are those that began after the skipped beginning, `tps` the sum over clients of transactions per
    time between the client's own first start and last completion, `clients` how many of them completed one;
    `open_ns` is the time from opening to the moment when the last client was parked, `completed` counts all
    transactions in it. `counted` and `busy_ns` have one entry per client.
    """

    transactions: int
    tps: float
    clients: int
    open_ns: int
    completed: int
    counted: np.ndarray = field(compare=False, repr=False)
    busy_ns: np.ndarray = field(compare=False, repr=False)


def rates(counted: np.ndarray, busy_ns: np.ndarray) -> tuple[int, float, int]:
    """Return (transactions, transactions per second, clients that completed one) of a slice.

    Both arguments have one entry per client: transactions, and the time between its first start and last completion.
    The rates of the clients are added up, so that no client's wait at the gate counts as time of the server.
    """
    active = (counted > 0) & (busy_ns > 0)
    return int(counted.sum()), float((counted[active] / busy_ns[active]).sum() * 1e9), int(active.sum())


def bucket_ms(number: int) -> float:
    """Return the middle of a bucket of latency, in milliseconds."""
    return round(float(BUCKET_STEP ** (number + 0.5)) / 1e3, 6)


def file_bytes(clients: int) -> int:
    """Return the size of a gate's file for a number of clients."""
    return PAGE_BYTES + clients * SLOT_BYTES


class SliceGate:
    """The gate of one arm's clients. Use `made` to get one."""

    def __init__(self, path: Path, memory: mmap.mmap, clients: int) -> None:
        self.path, self.clients = path, clients
        self._address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        self._head = np.frombuffer(memory, HEAD, count=1)[0:1]
        self._slots = np.frombuffer(memory, SLOT, count=clients, offset=PAGE_BYTES)
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._slots["held_at"] = NOWHERE
        self._head["slots_at"], self._head["slot_bytes"] = PAGE_BYTES, SLOT_BYTES
        self._head["buckets"], self._head["positions"], self._head["bucket_step"] = BUCKETS, POSITIONS, BUCKET_STEP

    def environment(self, script: str, first_slot: int = 0) -> dict[str, str]:
        """Return the environment of a sysbench process whose clients take the slots from `first_slot` on."""
        return {
            "GATED_SCRIPT": script,
            "GATE_FILE": str(self.path),
            "GATE_BYTES": str(file_bytes(self.clients)),
            "GATE_FIRST_SLOT": str(first_slot),
        }

    def open(self, slice_s: float, skip_s: float = 0.0) -> None:
        """Let the clients through; transactions that begin in the first `skip_s` are not counted."""
        self._slots["first_ns"] = 0
        self._head["slice_ns"], self._head["skip_us"] = round(slice_s * 1e9), round(skip_s * 1e6)
        self._head["opened_ns"] = time.monotonic_ns()
        self._set(self._word + 1)

    def close(self) -> None:
        """Hold each client before its next transaction."""
        self._set(self._word + 1)

    def leave(self) -> None:
        """End the load: every client leaves its loop instead of beginning another transaction."""
        self._set(LEAVE)

    def wait_parked(self, within_s: float, alive: Callable[[], bool] = lambda: True) -> None:
        """Wait until all clients are held.

        Raises NeverParked with the number of those that are not `within_s`, or at once when one has left its loop, or
        when `alive` says that their sysbench or their server is gone.
        """
        deadline_s = time.monotonic() + within_s
        while (parked := int((self._slots["held_at"] == self._word).sum())) < self.clients:
            if not alive():
                raise NeverParked(f"the load ended with {self.clients - parked} of {self.clients} clients at work")
            if gone := int((self._slots["held_at"] == GONE).sum()):
                raise NeverParked(f"{gone} of {self.clients} clients gave up")
            if time.monotonic() > deadline_s:
                raise NeverParked(
                    f"{self.clients - parked} of {self.clients} clients did not finish their transaction within "
                    f"{within_s:g} s"
                )
            time.sleep(LOOK_S)

    def slice(
        self,
        slice_s: float,
        skip_s: float,
        within_s: float,
        alive: Callable[[], bool] = lambda: True,
        at_second: Callable[[int], None] | None = None,
    ) -> SliceCounts:
        """Open the gate for `slice_s`, close it, wait until all clients are held, and return what they did.

        `at_second` is called with each full second since the opening, of the end too. Raises NeverParked as
        `wait_parked` does, and what `at_second` raises.
        """
        before, completed = self._slots["counted"].copy(), self.completed
        self.open(slice_s, skip_s)
        if at_second:
            self._tell_seconds(int(slice_s), at_second)
        _sleep_until(self.opened_s + slice_s)
        self.close()
        self.wait_parked(within_s, alive)
        open_ns = time.monotonic_ns() - int(self._head["opened_ns"][0])
        counted, busy_ns = self._slots["counted"] - before, self._slots["last_ns"] - self._slots["first_ns"]
        return SliceCounts(*rates(counted, busy_ns), open_ns, self.completed - completed, counted, busy_ns)

    def _tell_seconds(self, number: int, at_second: Callable[[int], None]) -> None:
        for second in range(1, number + 1):
            _sleep_until(self.opened_s + second - NOTED_WITHIN_S)
            self._head["look"] += 1
            _sleep_until(self.opened_s + second)
            at_second(second)

    @property
    def opened_s(self) -> float:
        """When the gate was last opened, in seconds of the monotonic clock."""
        return int(self._head["opened_ns"][0]) / 1e9

    @property
    def events(self) -> int | None:
        """Transactions since the start by sysbench's own counters, of parked clients; None where it shows none."""
        counts = self._slots["events"]
        return None if (counts < 0).any() else int(counts.sum())

    @property
    def completed(self) -> int:
        """Transactions completed since the start, those of skipped beginnings and of warm-up included."""
        return int(self._slots["completed"].sum())

    @property
    def sent(self) -> Sent:
        """What clients that are parked have sent since the start; of clients at work, as of the last time asked."""
        counts = [self._slots[name] for name in Sent._fields]
        return (
            Sent() if any((column < 0).any() for column in counts) else Sent(*(int(column.sum()) for column in counts))
        )

    def forget(self) -> None:
        """Begin the histogram and the positions anew, after warm-up. Clients must be parked."""
        self._slots["histogram"] = 0
        self._slots["positions"] = 0

    def histogram(self) -> np.ndarray:
        """Return the transactions of all clients per bucket of latency; bucket i ends at BUCKET_STEP**(i + 1) us."""
        return np.asarray(self._slots["histogram"].sum(axis=0, dtype=np.int64))

    def latencies(self) -> tuple[list[float], list[int]]:
        """Return (milliseconds, transactions) of the buckets that are not empty; a bucket stands at its middle."""
        counts = self.histogram()
        (filled,) = np.nonzero(counts)
        return [bucket_ms(int(number)) for number in filled], [int(count) for count in counts[filled]]

    def positions(self) -> np.ndarray:
        """Return the transactions completed in each sixteenth of a slice, over all slices; the last holds the rest."""
        return np.asarray(self._slots["positions"].sum(axis=0, dtype=np.int64))

    @property
    def _word(self) -> int:
        return int(self._head["word"][0])

    def _set(self, word: int) -> None:
        self._head["word"] = word
        everyone = ctypes.c_int(2**31 - 1)
        self._libc.syscall(FUTEX, ctypes.c_void_p(self._address), WAKE, everyone, None, None, 0)


def _sleep_until(moment_s: float) -> None:
    time.sleep(max(moment_s - time.monotonic(), 0.0))


@contextlib.contextmanager
def made(folder: Path, clients: int) -> Iterator[SliceGate]:
    """Have a closed gate for a number of clients, in a file of `folder` that nobody else can read."""
    path = folder / "gate"
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.ftruncate(handle, file_bytes(clients))
        # Not closed here: what was counted can be read as long as the gate is known.
        yield SliceGate(path, mmap.mmap(handle, file_bytes(clients)), clients)
    finally:
        os.close(handle)
        path.unlink(missing_ok=True)
