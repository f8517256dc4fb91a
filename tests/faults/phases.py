"""The phases of a study in which it can be struck, each known by what it writes."""

import contextlib
from dataclasses import dataclass
from pathlib import Path

from tests.endtoend.watching import leftovers
from tests.faults.interrupting import Struck


@dataclass(frozen=True)
class Phase:
    """A stretch of a job: it has begun when a new file of the pattern holds the text, or when a new folder is there.

    `serving`: a server is at work in it, and a client.
    """

    name: str
    pattern: str
    text: str = ""
    serving: bool = False

    def begun(self, study: Struck, before: set[Path], since_s: float) -> bool:
        """Tell whether the phase has begun since then; `before` are data directories and sockets that were there."""
        if not self.pattern:
            return bool(leftovers() - before)
        return any(self._shown(path, since_s) for path in study.files(self.pattern))

    def _shown(self, path: Path, since_s: float) -> bool:
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_ctime >= since_s:
                return path.is_dir() or self.text in path.read_text(errors="replace")
        return False


LOGS, RUNS = "logs/measure_run/struck/aa-*/*/2", "studies/struck/runs/aa-*/*/2"
PHASES = (
    Phase("clone", ""),
    Phase("start", f"{LOGS}/1.server.log"),
    Phase("warm-up", f"{LOGS}/1.warmup.txt", "Threads started!"),
    Phase("measure", f"{RUNS}/1.txt", "[ 1s ]"),
    Phase("stop", f"{RUNS}/1.txt", "execution time"),
)
BUILD_LOGS = "logs/build_server/postgresql-15"
BUILDING = (
    Phase("fetch", "logs/fetch_source/*"),
    Phase("unpack", "sources/*/.tree.unpacking*"),
    Phase("configure", f"{BUILD_LOGS}/*.log", "configure --prefix"),
    Phase("compile", f"{BUILD_LOGS}/*.log", "-C src/backend all"),
    Phase("load", "logs/load_dataset/*/*", serving=True),
    Phase("snapshot", "datasets/*/*/snapshot/data"),
    Phase("train", "logs/train_server/*/*", serving=True),
    Phase("pack the profile", "profiles/*/*/counters"),
    Phase("compile with the profile", f"{BUILD_LOGS}/pgo-*.log", "-C src/backend all"),
)
REPORTING = (
    Phase("collect", "logs/collect_runs/*"),
    Phase("compare", "logs/compare_variants/*"),
    Phase("plot", "logs/plot_figures/*"),
    Phase("render", "logs/render_report/*"),
)
