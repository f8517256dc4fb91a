"""A progress bar as the last line of a terminal, below all that this process and its jobs write.

It is drawn when a step begins or ends, never by a clock: a refresh would take CPU time from what is measured.
"""

import os
import threading

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from scripts.lib.wording import duration

JOINED_WITHIN_S = 1.0


class ProgressBar:
    """Stands between standard error, which jobs write to, and the terminal."""

    def __init__(self) -> None:
        """Take over standard error, and draw an empty bar."""
        self.terminal = os.dup(2)
        read_end, write_end = os.pipe()
        os.dup2(write_end, 2)
        os.close(write_end)
        columns = (BarColumn(), TextColumn("{task.percentage:>3.0f} %"), TextColumn("{task.description}"))
        console = Console(file=os.fdopen(os.dup(self.terminal), "w", encoding="utf-8"), force_terminal=True)
        self.progress = Progress(
            *columns,
            console=console,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
            transient=True,
        )
        self.task = self.progress.add_task("", total=1.0)
        self.progress.start()
        self.thread = threading.Thread(target=self._pass_on, args=(read_end,), daemon=True)
        self.thread.start()

    def show(self, words: str, share_done: float, left_s: float) -> None:
        """Draw the bar: what is done now, the share of the time that has passed, the seconds left (0: unknown)."""
        to_come = f", about {duration(left_s)} left" if left_s else ""
        self.progress.update(self.task, completed=share_done, description=f"{words}{to_come}")
        self.progress.refresh()

    def close(self) -> None:
        """Remove the bar and give standard error back."""
        os.dup2(self.terminal, 2)
        # Whoever outlives this process may keep the pipe open.
        self.thread.join(JOINED_WITHIN_S)
        self.progress.stop()

    def _pass_on(self, read_end: int) -> None:
        """Print what is written to standard error above the bar, line by line, until nobody holds the other end."""
        with os.fdopen(read_end, encoding="utf-8", errors="replace") as stream:
            for line in stream:
                self.progress.console.print(Text(line.rstrip("\n")), soft_wrap=True)
