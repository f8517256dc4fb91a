"""How long measuring takes: the seconds that runs work, without those in which they wait for the machine."""

from collections.abc import Mapping

WAITING = "wait_lock"  # the phase in which another study, or a compiler, has the machine


def working_s(phases_s: Mapping[str, float | None]) -> float:
    """Return the seconds of a run's phases without its waiting; NaN where none is known.

    Runs side by side have an equal share of their block's phases each: the sum over a block is that of the block.
    """
    spans_s = [seconds for name, seconds in phases_s.items() if name != WAITING and seconds is not None]
    return sum(spans_s) if spans_s else float("nan")
