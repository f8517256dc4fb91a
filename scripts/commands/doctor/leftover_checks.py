"""What killed jobs left on this machine."""

from scripts.commands.doctor.checkup import CheckResult, CheckResults, ok
from scripts.lib.host import leftovers


def check_leftovers() -> CheckResults:
    """Yield a warning for each job that was killed together with its guard, and left something behind."""
    leftover_jobs = leftovers.find()
    why = "processes of killed servers keep memory and may use CPU time, folders keep disk space"
    change = "the next study that measures on this machine ends and removes it, and so does make prune"
    yield from (CheckResult("warning", "leftovers", str(leftover), why, change) for leftover in leftover_jobs)
    if not leftover_jobs:
        yield ok("leftovers", "nothing that a killed job noted is left")
