"""Strike a study of real servers in a given phase, and look what is left of it."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import yaml

from scripts import workplace
from scripts.record import file_sha256
from tests.endtoend.watching import leftovers, processes
from tests.unit import studies
from tests.workflow.running import Answer, command_line, environment, snakemake

PROGRAMS = ("mariadbd", "postgres", "sysbench", "sh", "cp")
PLACES = (f"/var/tmp/{workplace.NAME}-{os.getuid()}", f"/tmp/{workplace.NAME}-")
GONE_WITHIN_S = 10
STUDY = studies.tiny(
    study="struck",
    variants={
        "maria": {
            **studies.PREBUILT_MARIADB,
            "options": {"innodb_buffer_pool_size": "64M", "innodb_log_file_size": "32M"},
        },
        "postgres": {"server": "postgresql-installed", "build": "prebuilt"},
    },
    reference="maria",
    workloads={"simple_select": None},
    datasets={"sbtest": {"tables": 2, "rows": 10000}},
)
TABLE = "results/studies/struck/tables/runs.csv"


@dataclass(frozen=True)
class Struck:
    """A working directory with a study, and the Snakemake that works in it."""

    folder: Path

    @property
    def config(self) -> Path:
        return self.folder / "struck.yaml"

    def configure(self, study: dict) -> None:
        self.config.write_text(yaml.safe_dump(study, sort_keys=False))

    def start(self, target: str) -> subprocess.Popen:
        """Start Snakemake as the leader of a process group, as a terminal does."""
        (self.folder / "snakemake.log").unlink(missing_ok=True)
        with (self.folder / "snakemake.log").open("w") as log:
            return subprocess.Popen(
                command_line(self.folder, "--cores", "2", "--configfile", self.config, "--", target),
                cwd=self.folder, env=environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            )  # fmt: skip

    def finish(self, target: str) -> Answer:
        """Run the same command to its end."""
        return snakemake(self.folder, "--cores", "2", "--configfile", self.config, "--", target)

    def files(self, pattern: str) -> list[Path]:
        return sorted((self.folder / "results").glob(pattern))

    def runs(self) -> dict[str, Path]:
        """Return variant -> record of its run."""
        found = self.files("studies/struck/runs/*/*/2/1.json")
        return {path.parts[-4].rsplit("-", 1)[0]: path for path in found}

    def digests(self) -> dict[Path, str]:
        """Return the digests of the record and the text of every run that was finished."""
        pairs = [(run, run.with_suffix(".txt")) for run in self.runs().values()]
        return {path: file_sha256(path) for pair in pairs for path in pair}

    def strike(self, target: str, phase: "Phase", means: Callable[["Struck", subprocess.Popen], None]) -> None:
        """Start the study, strike in the phase, and demand that nothing is left a few seconds after Snakemake's end."""
        before = leftovers()
        snakemake = self.start(target)
        wait_until(lambda: phase.begun(self, before) or snakemake.poll() is not None, seconds=600)
        assert snakemake.poll() is None, (self.folder / "snakemake.log").read_text()
        means(self, snakemake)
        snakemake.wait(timeout=600)
        wait_until(lambda: not self.left(), GONE_WITHIN_S, rest_s=0.1)
        wait_until(lambda: leftovers() == before, GONE_WITHIN_S, rest_s=0.1)

    def forget(self, variant: str) -> None:
        """Remove one run, its texts and the tables, so that the study has one run to make."""
        run = self.runs()[variant]
        logs = self.files(f"logs/measure_run/struck/{variant}-*/*/2/*")
        for path in [run, run.with_suffix(".txt"), *logs, *self.files("studies/struck/tables/*")]:
            path.unlink()

    def jobs(self) -> list[psutil.Process]:
        """Return the entry scripts that work here."""
        return [each for each in self._ours() if any(word.startswith("scripts.") for word in _words(each))]

    def _ours(self) -> Iterator[psutil.Process]:
        for process in psutil.process_iter():
            try:
                if process.cwd() == str(self.folder) and process.status() != psutil.STATUS_ZOMBIE:
                    yield process
            except psutil.Error:
                continue

    def left(self) -> list[str]:
        """Return what still runs of the study, its servers and its clients."""
        servers = [process for name in PROGRAMS for process in processes(name, PLACES)]
        return [str(process) for process in [*self._ours(), *servers]]


def ctrl_c(_study: Struck, snakemake: subprocess.Popen) -> None:
    """Interrupt Snakemake and its jobs, as a terminal does."""
    os.killpg(snakemake.pid, signal.SIGINT)


def interrupt(_study: Struck, snakemake: subprocess.Popen) -> None:
    """Interrupt Snakemake alone."""
    snakemake.send_signal(signal.SIGINT)


def terminate(_study: Struck, snakemake: subprocess.Popen) -> None:
    """Ask Snakemake to end, which lets the running job end first."""
    snakemake.terminate()


def kill(_study: Struck, snakemake: subprocess.Popen) -> None:
    """Kill Snakemake, which can do nothing then."""
    snakemake.kill()


def kill_job(study: Struck, _snakemake: subprocess.Popen) -> None:
    """Kill the entry script at work."""
    for job in study.jobs():
        job.kill()


MEANS = {
    "Ctrl-C": ctrl_c,
    "SIGINT to Snakemake": interrupt,
    "SIGTERM to Snakemake": terminate,
    "kill -9 Snakemake": kill,
    "kill -9 the job": kill_job,
}


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def wait_until(condition: Callable[[], object], seconds: float, rest_s: float = 0.005) -> object:
    """Return what the condition gives as soon as that is true. Raises AssertionError after so many seconds."""
    deadline_s = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline_s, "waited in vain"
        time.sleep(rest_s)
    return found


@dataclass(frozen=True)
class Phase:
    """A stretch of a job: it has begun when a file of the pattern holds the text, or when such a folder is there."""

    name: str
    pattern: str
    text: str = ""

    def begun(self, study: Struck, before: set[Path]) -> bool:
        """Tell whether the phase has begun; `before` are data directories and sockets that were there already."""
        if not self.pattern:
            return bool(leftovers() - before)
        found = study.files(self.pattern)
        return any(path.is_dir() or self.text in path.read_text(errors="replace") for path in found)


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
    Phase("unpack", "sources/*/tree"),
    Phase("configure", f"{BUILD_LOGS}/baseline-*.log", "configure --prefix"),
    Phase("compile", f"{BUILD_LOGS}/baseline-*.log", "-C src/backend all"),
    Phase("load", "logs/load_dataset/*/*"),
    Phase("snapshot", "datasets/*/*/snapshot/data"),
    Phase("compile the instrumented build", f"{BUILD_LOGS}/instrumented*.log", "-C src/backend all"),
    Phase("train", "logs/train_server/*/*"),
    Phase("pack the profile", "profiles/*/*/counters"),
)
