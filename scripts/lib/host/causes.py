"""Why something failed: a code, set where the failure is seen, and what the program said that failed."""

import errno
import re
from dataclasses import dataclass
from typing import ClassVar, Self

from scripts.lib.vocabulary import FailureKind

# Of a full disk, InnoDB's log has only the number of the error, and its clients get only the name of the table.
FULL_DISK_PRINTED = re.compile(
    r"No space left on device|\b[Ee]rr(?:or|no):? (?:number )?28\b|\b1114\b.*The table '.+' is full"
    r"|Disk quota exceeded|Read-only file system"
)
NO_MEMORY_PRINTED = re.compile(r"Cannot allocate memory|virtual memory exhausted")
# What compiler drivers, shells, make and ninja print when the program that they run, or they themselves, are killed.
KILLED_PRINTED = re.compile(r"\b(?:Killed|Terminated|Hangup)\b|\] Interrupt\b|interrupted by user")
FULL_DISK_NUMBERS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


@dataclass(frozen=True)
class Cause:
    """Why something failed; `text` is what the program that failed said of it, empty where it said nothing."""

    code: FailureKind
    text: str = ""

    @property
    def of_host(self) -> bool:
        """Whether this host, another one or the way to it failed, and not what was tried there."""
        return self.code.of_host


class FailedForCause(RuntimeError):
    """Something failed for a known cause; a subclass has the code of its USUAL cause."""

    USUAL: ClassVar[FailureKind]

    def __init__(self, text: str, code: FailureKind | None = None, statement: str = "") -> None:
        super().__init__(text)
        self.cause = Cause(code or self.USUAL, statement)

    def reworded(self, text: str) -> Self:
        """Return this failure, for the same cause, with another text."""
        return type(self)(text, self.cause.code, self.cause.text)


def of_host(failure: Exception) -> bool:
    """Return whether a host failed, and not what was tried there.

    A host lacks space, memory for the workflow's own work or its connection, or somebody killed a compile. A server
    that is killed under load, also for want of memory, is the server's own failure.
    """
    if isinstance(failure, OSError):
        return failure.errno in FULL_DISK_NUMBERS
    return isinstance(failure, FailedForCause) and failure.cause.of_host


def full_disk_in(printed: str) -> FailureKind | None:
    """Return FULL_DISK where a server, its log or its client printed that a disk is full; else None.

    A server that lacks memory is not the host's failure: it takes as much as its options say.
    """
    return FailureKind.FULL_DISK if FULL_DISK_PRINTED.search(printed) else None


def host_cause_in(printed: str) -> FailureKind | None:
    """Return the code of the failure of the host that a command printed, None without one."""
    if full := full_disk_in(printed):
        return full
    if NO_MEMORY_PRINTED.search(printed):
        return FailureKind.NO_MEMORY
    return FailureKind.KILLED if KILLED_PRINTED.search(printed) else None
