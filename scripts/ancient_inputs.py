"""Have Snakemake look at the jobs behind an `ancient` input, also when that input is made again.

Snakemake takes every job downstream of one that runs as judged by that, though an `ancient` input makes nothing run:
what such jobs lack is then not made, and Snakemake ends well without it. Seen with 9.27.1; its open issue 4166 tells
of 9.19.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any


def heed(dag: type) -> None:
    """Change Snakemake's class `dag`: its update_needrun judges each job that only `ancient` inputs lead to."""
    update = dag.update_needrun

    async def update_needrun(self: Any, *arguments: Any, **options: Any) -> None:
        # It walks downstream to mark jobs as judged, and for nothing else.
        self.bfs = downstream
        try:
            await update(self, *arguments, **options)
        finally:
            vars(self).pop("bfs", None)

    dag.update_needrun = update_needrun


def downstream(depending: Mapping[Any, Mapping[Any, set]], *jobs: Any) -> Iterator[Any]:
    """Yield the jobs and all that depend on them by a file that is not `ancient`.

    `depending` holds job -> job that depends on it -> the files by which it does.
    """
    queue, seen = deque(jobs), set(jobs)
    while queue:
        job = queue.popleft()
        yield job
        found = [other for other, files in depending[job].items() if not all(file.is_ancient for file in files)]
        queue.extend(other for other in found if other not in seen)
        seen.update(found)
