"""The plan's own estimate of disk space, memory and limits, as findings."""

from scripts import ROOT
from scripts.build.compilation.trials import FAILURES, one_line
from scripts.commands.doctor.checkup import SET_UP, CheckResult, CheckResults, Machine, ok
from scripts.commands.doctor.needs import Needs
from scripts.lib.host.cache import cache_path
from scripts.study.plan.memory_room import amount_text
from scripts.study.plan.preview import limits
from scripts.study.plan.preview.due import Due
from scripts.study.plan.preview.estimates import Durations, Sizes
from scripts.study.plan.preview.rerun_reasons import Reasons, RunReasons
from scripts.study.plan.recipes import Plan
from scripts.study.plan.schedule import Schedule

CERTAIN_WHY = "the study would fail when it reaches this limit"
POSSIBLE_WHY = "the study may fail when it reaches this limit: sizes are estimates"


def check_limits(needs: Needs, machine: Machine) -> CheckResults:
    """Judge whether what the study would make and measure fits on this machine."""
    try:
        due = Due(Schedule(Plan(needs.study, ROOT)))
        sizes = Sizes(due, Durations(due, RunReasons(Reasons(due)), cores=1))
        reached = limits.find_limits(due, sizes, limits.read_headroom(machine.root), str(cache_path()))
    except FAILURES as error:
        yield CheckResult("note", "room", "not estimated", f"the estimate needs all tools: {one_line(error)}", SET_UP)
        return
    for limit in reached:
        why = CERTAIN_WHY if limit.certain else POSSIBLE_WHY
        yield CheckResult("problem" if limit.certain else "warning", "limit", limit.text, why, limit.remedy)
    if not reached:
        yield ok("room", needed_text(due, sizes) if due.report else "nothing to make or measure")


def needed_text(due: Due, sizes: Sizes) -> str:
    """Return the disk space that the study needs by folder."""
    needed_mib: dict[str, float] = {}
    for demand in limits.demanded(due, sizes, str(cache_path())):
        needed_mib[demand.path] = needed_mib.get(demand.path, 0) + demand.most_mib
    return f"up to {', '.join(f'{amount_text(mib)} in {path}' for path, mib in needed_mib.items())}; it fits"
