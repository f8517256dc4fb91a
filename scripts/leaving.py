"""How a job ends when it is told to: by SystemExit, so that `finally` runs, and whatever Python does just then."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
AGAIN_AFTER_S = 0.01


def heed() -> None:
    """Turn INT, TERM and HUP into SystemExit from now on."""
    for number in ENDING:
        signal.signal(number, _leave)
    sys.unraisablehook = _leave_after_all


def heed_no_more() -> None:
    """Go on to the end whatever signal comes: INT, TERM and HUP are dropped from now on."""
    for number in ENDING:
        signal.signal(number, lambda *_: None)


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Put off INT, TERM and HUP to the end of the body, which starts what could not be ended while half started."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    noted: list[int] = []
    before = {number: signal.signal(number, lambda found, _: noted.append(found)) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if noted:
        signal.raise_signal(noted[0])


def _leave(number: int, _frame: object) -> None:
    # A second signal, which Ctrl-C and Snakemake may both send, must not cut the cleaning short.
    heed_no_more()
    raise SystemExit(128 + number)


def _leave_after_all(unraisable: "sys.UnraisableHookArgs") -> None:
    """Try again when SystemExit was raised where Python drops exceptions: in a hook of fork, in a `__del__`."""
    if isinstance(unraisable.exc_value, SystemExit):
        heed()
        number = unraisable.exc_value.code - 128
        threading.Timer(AGAIN_AFTER_S, os.kill, (os.getpid(), number)).start()
    else:
        sys.__unraisablehook__(unraisable)
