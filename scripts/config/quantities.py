"""Shares and times as a config writes them."""

SECONDS = {"s": 1, "min": 60, "h": 3600}


def share_of(value: str | float) -> float:
    """Return a share that is written as `2 %` or 0.02; the schema has checked it."""
    if isinstance(value, str):
        return float(value.removesuffix("%")) / 100
    return float(value)


def seconds_of(value: str) -> float:
    """Return the seconds of a time that is written as `90 s`, `20 min` or `2 h`; the schema has checked it."""
    number = value.rstrip("".join(SECONDS))
    return float(number) * SECONDS[value[len(number) :]]
