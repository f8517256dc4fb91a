"""The phases of a study in which it can be struck, each known by what it writes."""

import contextlib
from dataclasses import dataclass
from pathlib import Path

from tests.faults.interrupting import STRUCK, Struck


@dataclass(frozen=True)
class Phase:
    """A stretch of a job: it has begun when a new file of the pattern holds the text, or is a folder.

    `serving`: a server is at work in it, and a client.
    """

    name: str
    pattern: str
    text: str = ""
    serving: bool = False

    def begun(self, study: Struck, since_s: float) -> bool:
        """Tell whether the phase has begun since then."""
        return any(self._shown(path, since_s) for path in study.files(self.pattern))

    def _shown(self, path: Path, since_s: float) -> bool:
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_ctime >= since_s:
                return path.is_dir() or self.text in path.read_text(errors="replace")
        return False


LOGS, BLOCK = f"logs/measure_block/struck/{STRUCK}", f"studies/struck/blocks/{STRUCK}/*"
BLOCK_LOG = f"{LOGS}/{'[0-9a-f]' * 12}.log"
PHASES = (
    Phase("clone", BLOCK_LOG, "clone the data"),
    Phase("start", BLOCK_LOG, "start the servers"),
    Phase("connect", BLOCK_LOG, "connect the clients"),
    Phase("warm-up", BLOCK_LOG, "warm up"),
    Phase("measure", BLOCK_LOG, "measure "),
    Phase("stop", BLOCK_LOG, "stop the servers"),
)
WARM_UP, MEASURE = PHASES[3:5]
TURNS = (
    Phase("clone", BLOCK_LOG, "turn 2 of 3"),
    Phase("start", f"{LOGS}/*.aa.server.log"),
    Phase("warm-up", f"{LOGS}/*.aa.warmup.txt", "Threads started!"),
    Phase("measure", f"{BLOCK}/aa.txt", "[ 1s ]"),
    Phase("stop", f"{BLOCK}/aa.txt", "execution time"),
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
