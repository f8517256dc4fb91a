"""Strike a study of real servers in a given phase, and look what is left of it."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import psutil
import yaml

from scripts.host import workplace
from scripts.record import file_sha256
from tests.endtoend.watching import leftovers, processes
from tests.made import studies
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
REPORT = "results/studies/struck/report.html"


class Phase(Protocol):
    """A stretch of a job."""

    def begun(self, study: "Struck", before: set[Path], since_s: float) -> bool:
        """Tell whether the phase has begun since then; `before` are data directories and sockets that were there."""


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

    def said(self) -> str:
        """Return what the Snakemake started last has said so far."""
        return (self.folder / "snakemake.log").read_text()

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

    def strike(self, target: str, phase: Phase, means: Callable[["Struck", subprocess.Popen], None]) -> None:
        """Start the study, strike in the phase, and demand that nothing is left a few seconds after Snakemake's end."""
        before, since_s = leftovers(), time.time()
        snakemake = self.start(target)
        wait_until(lambda: phase.begun(self, before, since_s) or snakemake.poll() is not None, seconds=3000)
        assert snakemake.poll() is None, self.said()
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

    def forget_report(self) -> dict[Path, str]:
        """Remove tables, figures and page, so that only the cheap jobs are to be done; returns their digests.

        Not that of the empty file by which Snakemake dates a folder, now and then.
        """
        page = self.folder / REPORT
        made = [*self.files("studies/struck/tables/*"), *self.files("studies/struck/figures/[!.]*"), page]
        digests = {path: file_sha256(path) for path in made}
        for folder in ("tables", "figures"):
            shutil.rmtree(page.with_name(folder))
        page.unlink()
        return digests

    def jobs(self) -> list[psutil.Process]:
        """Return the entry scripts that work here."""
        return [each for each in self._ours() if any(word.startswith("scripts.jobs.") for word in words(each))]

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


def words(process: psutil.Process) -> list[str]:
    """Return the command line of a process, empty once it is gone."""
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
