"""Show the progress of a study repeatedly, with too little CPU time to disturb a measurement."""

import time
from pathlib import Path

from rich.console import Console, RenderableType
from rich.live import Live

from scripts.commands.arguments import paths_of
from scripts.commands.watch.progress import SoFar, StudyProgress, ratios_so_far
from scripts.commands.watch.view import progress_view
from scripts.lib.host import locks
from scripts.report.analysis.widening import widened_for
from scripts.study.plan.looks import earlier

REFRESH_S = 5
LONGEST_REST_S = 60
# After a look, rest for this many times its CPU time: all looks together take 0.5 % of a core.
REST = 200
EVERYTHING_EVERY = 60


class Looks:
    """A sequence of looks; `last` is true once the study is finished and no Snakemake works on it."""

    def __init__(self, progress: StudyProgress) -> None:
        self.progress, self.last = progress, False
        self._number, self._cpu_s = 0, 0.0
        self._ratios: list[SoFar] = []

    def next(self) -> RenderableType:
        """Read new records and return the view."""
        begin_s, progress = time.process_time(), self.progress
        declared = progress.paths.plan.study.declared
        if progress.look(everything=self._number % EVERYTHING_EVERY == 0):
            before = earlier(Path(progress.paths.study), progress.paths.blocks)
            wider = widened_for(declared.precision is not None, len(before))
            self._ratios = ratios_so_far(progress.rows.values(), declared.reference, wider)
        holder = locks.checkout_holder(Path("results"))
        self.last = progress.finished() and holder is None
        shown = progress_view(progress, self._ratios, holder, time.time())
        # The first look reads every record, so its time says nothing about the next ones.
        self._cpu_s = time.process_time() - begin_s if self._number else 0.0
        self._number += 1
        return shown

    def rest_s(self) -> float:
        """Return how long to rest after the last look."""
        return min(LONGEST_REST_S, max(REFRESH_S, REST * self._cpu_s))


def show_progress(config: Path, scale: str, once: bool, console: Console) -> None:
    """Show the study of `config` at a scale until it is finished; once if `once`, or without a capable terminal.

    Raises ValueError naming the mistakes in the config.
    """
    looks = Looks(StudyProgress(paths_of(config, scale)))
    if once or not console.is_terminal or console.is_dumb_terminal:
        console.print(looks.next())
        return
    with Live(console=console, auto_refresh=False) as live:
        while not looks.last:
            live.update(looks.next(), refresh=True)
            time.sleep(0 if looks.last else looks.rest_s())
