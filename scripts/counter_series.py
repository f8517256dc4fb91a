"""A server's counters, read every second while a load runs on it."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from scripts.sysbench_run import Finished

EVERY_S = 1.0
# A server that has just failed under load may not answer any more.
GIVE_UP_S = 2.0
Counters = dict[str, float]


@dataclass(frozen=True)
class Sample:
    """Counters at a moment of the monotonic clock."""

    monotonic_s: float
    counters: Counters


@contextlib.contextmanager
def sampled(read: Callable[[], Counters] | None) -> Iterator[list[Sample]]:
    """Call `read` every second of the body, in a thread beside it; the list grows, and stays empty without `read`.

    A second whose turn passes while the server is still answering has no sample. Raises what `read` raised, unless the
    body raises itself.
    """
    samples: list[Sample] = []
    if read is None:
        yield samples
        return
    over, failed = threading.Event(), []
    thread = threading.Thread(target=_sample, args=(read, samples, over, failed), daemon=True)
    thread.start()
    patience_s = GIVE_UP_S
    try:
        yield samples
        patience_s = None
    finally:
        over.set()
        thread.join(patience_s)
    if failed:
        raise failed[0]


def _sample(
    read: Callable[[], Counters], samples: list[Sample], over: threading.Event, failed: list[Exception]
) -> None:
    begin_s = time.monotonic()
    try:
        while not over.wait(EVERY_S - (time.monotonic() - begin_s) % EVERY_S):
            counters = read()
            samples.append(Sample(time.monotonic(), counters))
    except Exception as error:  # each family's driver has its own errors; it is raised again where the load ends
        failed.append(error)


def columns(samples: list[Sample], finished: Finished) -> dict[str, list]:
    """Return samples as columns, `second` on the clock of sysbench's own per-second reports of the same call.

    What a sample lacks is None. Empty without samples.
    """
    if not samples:
        return {}
    begin_s = finished.moments[0].monotonic_s - finished.output.reports[0].second
    names = dict.fromkeys(name for sample in samples for name in sample.counters)
    return {
        "second": [round(sample.monotonic_s - begin_s, 3) for sample in samples],
        **{name: [sample.counters.get(name) for sample in samples] for name in names},
    }
