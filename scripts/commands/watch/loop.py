"""Look at the progress of a study again and again, at a cost no measurement notices."""

import time
from pathlib import Path

from rich.console import Console, RenderableType
from rich.live import Live

from scripts.commands.arguments import paths_of
from scripts.commands.watch.progress import Progress, SoFar, ratios_so_far
from scripts.commands.watch.view import view
from scripts.host import locks

REFRESH_S = 5
LONGEST_REST_S = 60
# A look is followed by a rest of this many times its own CPU time: all looks together take 0.5 % of a core.
REST = 200
EVERYTHING_EVERY = 60


class Looks:
    """One look after the other; `last` once the study is finished and nobody works on it."""

    def __init__(self, progress: Progress) -> None:
        self.progress, self.last = progress, False
        self._number, self._cpu_s = 0, 0.0
        self._ratios: list[SoFar] = []

    def next(self) -> RenderableType:
        """Read what is new and return the view of it."""
        begin_s, progress = time.process_time(), self.progress
        config = progress.paths.plan.study.config
        if progress.look(everything=self._number % EVERYTHING_EVERY == 0):
            self._ratios = ratios_so_far(progress.rows.values(), config["reference"], config["block_span_s"])
        holder = locks.checkout_holder(Path("results"))
        self.last = progress.finished() and holder is None
        shown = view(progress, self._ratios, holder, time.time())
        # The first look reads all there is, and is no guide to the next ones.
        self._cpu_s = time.process_time() - begin_s if self._number else 0.0
        self._number += 1
        return shown

    def rest_s(self) -> float:
        """Return how long to rest after the last look."""
        return min(LONGEST_REST_S, max(REFRESH_S, REST * self._cpu_s))


def show(config: Path, scale: str, once: bool, console: Console) -> None:
    """Show the study of `config` at a scale until it is finished, or a single time: `once`, or on a poor terminal.

    Raises ValueError naming what is wrong with the config.
    """
    looks = Looks(Progress(paths_of(config, scale)))
    if once or not console.is_terminal or console.is_dumb_terminal:
        console.print(looks.next())
        return
    with Live(console=console, auto_refresh=False) as live:
        while not looks.last:
            live.update(looks.next(), refresh=True)
            time.sleep(0 if looks.last else looks.rest_s())
