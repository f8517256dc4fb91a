"""Patch Snakemake so that jobs downstream of a rebuilt `ancient` input are still checked for other reasons to run."""

import inspect
from collections import deque
from collections.abc import Iterator, Mapping
from functools import wraps
from typing import TYPE_CHECKING

from scripts.workflow.snakemake_release import expect, expect_parameters, other_snakemake

if TYPE_CHECKING:
    from snakemake.dag import DAG
    from snakemake.io import _IOFile
    from snakemake.jobs import Job

CALL = "self.bfs(self.depending, job)"


def patch_ancient_inputs(dag: "type[DAG]") -> None:
    """Change Snakemake's class DAG: update_needrun judges each job that only `ancient` inputs lead to.

    Raises OtherSnakemake if the class is not the one that this patch was written for.
    """
    expect(dag, "update_needrun", "bfs")
    update = dag.update_needrun
    if hasattr(update, "__wrapped__"):
        return  # patched before, in the same process
    expect_parameters(update, "self", "create_inventory")
    expect_parameters(dag.bfs, "self", "direction", "jobs", "stop")
    code = inspect.getsource(update)
    if (code.count("bfs("), code.count(CALL)) != (1, 1):
        raise other_snakemake(f"DAG.update_needrun does not call {CALL} once")

    @wraps(update)
    async def update_needrun(self: "DAG", create_inventory: bool = False) -> None:
        # It walks downstream to mark jobs as judged, and for nothing else.
        self.bfs = downstream
        try:
            await update(self, create_inventory)
        finally:
            vars(self).pop("bfs", None)

    dag.update_needrun = update_needrun


def downstream(depending: "Mapping[Job, Mapping[Job, set[_IOFile]]]", *jobs: "Job") -> "Iterator[Job]":
    """Yield the jobs and all that depend on them by a file that is not `ancient`.

    `depending` holds job -> job that depends on it -> the files by which it does.
    """
    queue, seen = deque(jobs), set(jobs)
    while queue:
        job = queue.popleft()
        yield job
        dependent = [other for other, files in depending[job].items() if not all(file.is_ancient for file in files)]
        queue.extend(other for other in dependent if other not in seen)
        seen.update(dependent)
