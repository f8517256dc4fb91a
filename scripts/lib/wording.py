"""How numbers are written in tables, figures and sentences, and the values of options in files and commands."""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import TypeIs  # in `typing` from Python 3.13 on

NOTHING = "–"
NARROW = "\u202f"  # a space that does not break the line
SECOND_STEPS = ((86400, "d"), (3600, "h"), (60, "min"))
NO_WIDTH = 1e-6  # of a ratio: an interval of figures without any spread
BYTE_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def missing(value: object) -> "TypeIs[None]":
    """Return whether a value is None or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def count(value: float | None) -> str:
    """Return a quantity with three or more significant digits, thousands separated by a narrow space."""
    if missing(value):
        return NOTHING
    size = abs(value)
    digits = 0 if size >= 100 or value == 0 else 1 if size >= 10 else 2 if size >= 1 else 3
    return f"{value:,.{digits}f}".replace(",", NARROW).replace("-", "\u2212")


def before_after(before: float, after: float, written: Callable[[float], str] = count) -> str:
    """Return the two quantities whose quotient is a ratio, the reference's first: `934 → 947`."""
    return f"{written(before)} → {written(after)}"


def milliseconds(value: float | None) -> str:
    """Return a time in ms as `count` does; one under 0.01 ms has two significant digits."""
    return count(value) if missing(value) or value == 0 or abs(value) >= 0.01 else f"{value:.2g}"


def number(value: float | None) -> str:
    """Return a whole number, thousands separated by a narrow space."""
    return NOTHING if missing(value) else f"{value:,.0f}".replace(",", NARROW)


def _ratio_digits(value: float) -> int:
    if 0 < value < 0.1:
        return min(6, 1 - math.floor(math.log10(value)))
    return 3 if abs(value - 1) < 0.1 else 2


def ratio(value: float | None) -> str:
    """Return a ratio: two decimals, three within 10 % of 1, two significant digits under 0.1."""
    return NOTHING if missing(value) else f"{value:.{_ratio_digits(value)}f}"


def times(value: float | None) -> str:
    """Return a ratio as a factor: `1.44 ×`."""
    return f"{ratio(value)}{NARROW}×"


def interval(low: float | None, high: float | None) -> str:
    """Return the bounds of an interval of ratios with the number of decimals of the ratio in their middle."""
    if missing(low) or missing(high):
        return NOTHING
    digits = _ratio_digits(math.sqrt(low * high))
    return f"{low:.{digits}f}–{high:.{digits}f}"


def by_width(value: float | None, low: float | None, high: float | None) -> tuple[str, str]:
    """Return a ratio and its interval with one or two digits of the interval's half width, most often two decimals.

    A bound of an interval without 1 that would be rounded to 1 has more decimals: `1.09`, `1.002–1.18`.
    """
    if missing(value) or missing(low) or missing(high) or high - low < NO_WIDTH * value:
        return ratio(value), interval(low, high)
    half = (high - low) / 2
    least = 2 if half < 1 else 1 if half < 10 else 0
    digits = min(max(math.ceil(-math.log10(half / 2)), least), 6)
    bounds = [f"{edge:.{_digits_beside_1(edge, digits) if low > 1 or high < 1 else digits}f}" for edge in (low, high)]
    return f"{value:.{digits}f}", "–".join(bounds)


def _digits_beside_1(edge: float, digits: int) -> int:
    return next((more for more in range(digits, 6) if round(edge, more) != 1), digits)


def percent(share: float | None, digits: int = 1) -> str:
    """Return a share as per cent; a small one that would round to zero is shown as `under 0.1 %`."""
    if missing(share):
        return NOTHING
    if rounds_to_zero(share, digits):
        return f"under {10.0**-digits:.{digits}f}{NARROW}%"
    return f"{share * 100:.{digits}f}{NARROW}%"


def rounds_to_zero(share: float, digits: int = 1) -> bool:
    """Return whether a share above zero is one that `percent` can only bound: `under 0.1 %`."""
    return 0 < share * 100 < 10.0**-digits / 2


def share(value: float) -> str:
    """Return a share as it was declared, in per cent: `2 %`."""
    return f"{value * 100:g}{NARROW}%"


def distance(ratio: float | None) -> str:
    """Return how far a ratio lies from 1, in per cent with two digits at least: `0.5 %`, `12 %`."""
    if missing(ratio):
        return NOTHING
    size = abs(ratio - 1) * 100
    return f"{size:.{0 if size >= 10 else 1}f}{NARROW}%"


def duration(seconds: float | None) -> str:
    """Return a length of time in its two largest units."""
    if missing(seconds):
        return NOTHING
    if seconds < 60:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2g} s"
    rest, parts = round(seconds), list[str]()
    for size, unit in (*SECOND_STEPS, (1, "s")):
        if rest >= size and len(parts) < 2:
            parts.append(f"{rest // size} {unit}")
            rest %= size
    return " ".join(parts)


def size(value: float | None) -> str:
    """Return bytes in the largest binary unit in which they are at least 1."""
    if missing(value):
        return NOTHING
    step = min(int(math.log(value, 1024)), len(BYTE_UNITS) - 1) if value >= 1 else 0
    return f"{value / 1024**step:.0f} bytes" if step == 0 else f"{value / 1024**step:.1f} {BYTE_UNITS[step]}"


def brief(text: str, longest: int = 400) -> str:
    """Return the first two lines of a text and its last line, which most often names the cause, as one line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = " ".join(lines if len(lines) <= 3 else [*lines[:2], "…", lines[-1]])
    return line if len(line) <= longest else f"{line[: longest * 2 // 3]} … {line[-(longest // 3) :]}"


def shortened(text: str, longest: int) -> str:
    """Return a text cut to `longest` characters, with an ellipsis as the last one where it was cut."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def short(digest: str | None) -> str:
    """Return the first twelve digits of a checksum."""
    return NOTHING if missing(digest) else str(digest)[:12]


def plural(amount: int, noun: str, several: str | None = None) -> str:
    """Return an amount with its noun: `1 cell`, `2 cells`."""
    return f"{number(amount)} {noun if amount == 1 else several or noun + 's'}"


def listing(parts: Sequence[str]) -> str:
    """Return a list in words: a, b and c."""
    return ", ".join(parts[:-1]) + " and " + parts[-1] if len(parts) > 1 else "".join(parts)


def option_value(value: object, on: str = "on", off: str = "off") -> str:
    """Return an option's value as sysbench and the servers parse it; true and false become `on` and `off`."""
    # YAML reads `off` as false, whose text "False" none of them knows.
    if isinstance(value, bool):
        return on if value else off
    return str(value)
