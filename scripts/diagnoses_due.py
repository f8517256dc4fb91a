"""The line of a plan on diagnoses: how many are to be made, and how long that takes."""

from scripts.diagnoses import Diagnoses
from scripts.due import Due
from scripts.durations import Durations, Estimate


def paths(due: Due) -> list[str]:
    """Return the diagnoses to make: those that are not there, and those that stand on something made again."""
    planned = Diagnoses(due.paths).of_paths
    again = {path for path, one in planned.items() if due.behind(one.variant, one.workload)} if due.report else set()
    return [path for path in planned if path in again or not due.listing.has(path)]


def estimate(due: Due, durations: Durations) -> Estimate:
    """Return that of all diagnoses to make: runs with a window of their own length."""
    each = durations.run
    asked = Diagnoses(due.paths).settings or {"seconds": 0}
    longer_s = asked["seconds"] - due.paths.plan.study.config["measure_s"]
    return Estimate(len(paths(due)) * (each.seconds + longer_s), each.measured)
