"""How a block is measured: all servers up, slice by slice or statement by statement, or by turns and why."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from scripts.lib.vocabulary import SLICES, STATEMENTS, TURNS
from scripts.measure.loadgen import lua
from scripts.study.plan.memory_room import FEWEST_ARMS, arms_by_processes, fitting_arms
from scripts.study.plan.order import is_ladder
from scripts.study.plan.recipes import Plan


@dataclass(frozen=True)
class Method:
    """How blocks are measured, `why` by turns (else empty), and their arms at most."""

    name: str
    why: str
    most_arms: int


class Methods:
    """The methods of a plan's blocks, the same for all repetitions of a workload with a number of clients."""

    def __init__(self, plan: Plan, memory_mib: float, processes: int | None = None) -> None:
        """Take a plan, and the memory and the number of processes that the servers of a block may take."""
        self.plan, self.memory_mib, self.processes = plan, memory_mib, processes
        self.of: Callable[[str, int], Method] = cache(self._of)

    def _of(self, workload: str, clients: int) -> Method:
        """Return the method of the blocks of a workload with a number of clients."""
        declared = self.plan.study.declared
        most_arms = min(declared.together, self._fitting(workload, clients))
        if has_running_server(self.plan):
            return Method(SLICES, "", max(most_arms, FEWEST_ARMS))
        if why := self._why_by_turns(workload, clients):
            return Method(TURNS, why, len(self.plan.study.arms))
        return Method(STATEMENTS if declared.workloads[workload].sql else SLICES, "", most_arms)

    def turn_s(self, workload: str, clients: int) -> int | None:
        """Return the seconds of a window by turns, planned or should the load prove to be bound by a disk.

        None for blocks without such windows: of timed SQL, of a ladder on one start, in slices of a study that says
        how many servers are up `together`, and of servers that already run.
        """
        study, declared, name = self.plan.study, self.plan.study.declared, self.of(workload, clients).name
        stays = "together" in declared.model_fields_set or has_running_server(self.plan)
        has_windows = name == TURNS and not is_ladder(study) and not declared.workloads[workload].sql
        if not has_windows and (name != SLICES or stays):
            return None
        return max(declared.turn_s, declared.measure_s)

    def _fitting(self, workload: str, clients: int) -> int:
        by_memory = fitting_arms(self.plan, workload, clients, self.memory_mib)
        by_processes = arms_by_processes(self.plan, workload, clients, self.processes)
        return by_memory if by_processes is None else min(by_memory, by_processes)

    def _why_by_turns(self, workload: str, clients: int) -> str:
        declared = self.plan.study.declared
        load = declared.workloads[workload]
        if declared.together == 1:
            return "together: 1"
        if is_ladder(self.plan.study):
            return "restart: never, so one server at a time goes through all client counts"
        if load.script and (why := lua.why_no_gate(load.script, load.options, declared.client is not None)):
            return why
        if fitting_arms(self.plan, workload, clients, self.memory_mib) < FEWEST_ARMS:
            return f"{FEWEST_ARMS} servers at the same time do not fit into {self.memory_mib / 1024:.1f} GiB of memory"
        if self._fitting(workload, clients) < FEWEST_ARMS:
            return f"{self.processes} processes may run, too few for the clients of {FEWEST_ARMS} servers"
        return ""


def has_running_server(plan: Plan) -> bool:
    """Return whether the servers of a study already run; then all of them do."""
    return any(plan.is_running(arm.server) for arm in plan.study.arms.values())
