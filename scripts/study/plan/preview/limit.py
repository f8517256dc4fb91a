"""A limit that a study would hit."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limit:
    """A limit that would be hit: text, remedy, and whether it is certain to be hit.

    A `refused` limit is a count, not an estimate: clients beyond it would be refused, so the study does not start.
    """

    text: str
    remedy: str
    certain: bool
    refused: bool = False
