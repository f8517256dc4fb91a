"""What a profile and a build have of each unit, whichever compiler made them; `profile_audit` judges it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Function:
    """A function that ran in training.

    `symbol` and `name` are None when no instrumented program tells them; `count` is the sum of its counters; `lost`
    when the compiler said it did not use them; `again` when another unit that holds it too already counts it.
    """

    symbol: str | None
    name: str | None
    count: int
    lost: bool = False
    again: bool = False


@dataclass(frozen=True)
class Unit:
    """One unit, of the profile, of the build, or of both.

    `linked` is None when nothing tells; `why` says why a unit that ran was not optimised with its counters, None when
    it was. The last four hold what the compiler said: its counters file is missing, how many functions were not in it,
    whether and for how many functions it belongs to other code.
    """

    name: str
    compiled: bool = False
    linked: bool | None = None
    counted: bool = False
    executed: tuple[Function, ...] = ()
    why: str | None = None
    file_not_found: bool = False
    functions_not_found: int = 0
    mismatch: bool = False
    functions_mismatched: int = 0
