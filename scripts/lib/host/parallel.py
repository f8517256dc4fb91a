"""Work on many files in one process per CPU, with the results in the order of the files."""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import TypeVar

from scripts.lib.host.process import die_with_parent

T = TypeVar("T")
R = TypeVar("R")
BATCH = 32
# Under so many batches, starting processes takes longer than they save.
LEAST_BATCHES = 8


def in_batches(
    work: Callable[[Sequence[T]], list[R]], items: Sequence[T], size: int = BATCH, least: int = LEAST_BATCHES
) -> Iterator[R]:
    """Yield the results of `work`, which gets `size` items at a time, in the order of the items.

    Under `least` batches the calling process does the work. Processes are forked, so `work` must be a function of a
    module, or a partial of one. Raises what `work` raises, and OSError when a process was killed.
    """
    batches = [items[start : start + size] for start in range(0, len(items), size)]
    workers = len(os.sched_getaffinity(0))
    if workers < 2 or len(batches) < least:
        for batch in batches:
            yield from work(batch)
        return
    pool = ProcessPoolExecutor(workers, get_context("fork"), initializer=_follow_parent)
    try:
        for results in pool.map(work, batches):
            yield from results
    except BrokenProcessPool as error:
        raise OSError("a process that works on some of the files was killed, most often for want of memory") from error
    finally:
        pool.shutdown(cancel_futures=True)


def _follow_parent() -> None:
    """End with the parent, which alone answers to Ctrl-C."""
    die_with_parent(signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
