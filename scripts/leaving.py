"""How a job ends when it is told to: by SystemExit, so that `finally` runs, and whatever Python does just then."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
AGAIN_AFTER_S = 0.01
# The signals that were heard, and those whose exception was dropped and is to be raised again.
_told: list[int] = []
_again: list[int] = []


def heed() -> None:
    """Turn INT, TERM and HUP into SystemExit from now on."""
    for number in ENDING:
        signal.signal(number, _leave)
    sys.unraisablehook = _leave_after_all


def heed_no_more() -> None:
    """Go on to the end whatever signal comes: INT, TERM and HUP are dropped from now on."""
    for number in ENDING:
        signal.signal(number, lambda *_: None)


def if_told() -> None:
    """Raise SystemExit when a signal asked for it before: libraries drop it, such as PyMySQL in closing a socket."""
    if _told:
        raise SystemExit(128 + _told[0])


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Put off INT, TERM and HUP to the end of the body, which starts what could not be ended while half started.

    Nothing is started any more once one of them came before.
    """
    if_told()
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
    if not _told or _again:
        _again.clear()
        _told.append(number)
        if_told()


def _leave_after_all(unraisable: "sys.UnraisableHookArgs") -> None:
    """Try again when SystemExit was raised where Python drops exceptions: in a hook of fork, in a `__del__`.

    A second signal must find nothing to raise until this is left, where Python would drop it again.
    """
    if isinstance(unraisable.exc_value, SystemExit):
        threading.Timer(AGAIN_AFTER_S, _strike_again, [_told[0]]).start()
    else:
        sys.__unraisablehook__(unraisable)


def _strike_again(number: int) -> None:
    _again.append(number)
    os.kill(os.getpid(), number)
