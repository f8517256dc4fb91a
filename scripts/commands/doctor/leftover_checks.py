"""What killed jobs left on this machine."""

from scripts.commands.doctor.checkup import Finding, Findings, ok
from scripts.lib.host import leftovers


def check_leftovers() -> Findings:
    """Yield a warning for each job that was killed together with its guard, and left something behind."""
    left = leftovers.find()
    why = "processes of killed servers keep memory and may use CPU time, folders keep disk space"
    change = "the next study that measures on this machine ends and removes it, and so does make prune"
    yield from (Finding("warning", "leftovers", str(leftover), why, change) for leftover in left)
    if not left:
        yield ok("leftovers", "nothing that a killed job noted is left")
