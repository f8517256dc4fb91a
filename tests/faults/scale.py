"""How much is tried: a short form in `make test`, everything in `make faults`."""

import os

WHOLE = os.environ.get("FAULTS") == "whole"


def scaled(whole: int, short: int) -> int:
    """Return how many cases to try."""
    return whole if WHOLE else short
