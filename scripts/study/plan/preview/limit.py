"""A limit that a study would hit."""

from collections.abc import Callable
from dataclasses import dataclass

from scripts.lib.host.storage import FileSystem

FileSystemOf = Callable[[str], FileSystem]


@dataclass(frozen=True)
class MachineLimit:
    """A limit that would be hit: text, remedy, and whether it is certain to be hit.

    A `refused` limit is a count, not an estimate: clients beyond it would be refused, so the study does not start.
    """

    text: str
    remedy: str
    certain: bool
    refused: bool = False
