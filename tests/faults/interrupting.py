"""Strike a study of real servers in a given phase, and look what is left of it."""

import contextlib
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

from scripts.lib import json_record
from scripts.lib.host import workplace
from scripts.lib.json_record import file_sha256
from tests.endtoend.watching import PLACES, leftovers, processes
from tests.made import studies
from tests.workflow.running import Answer, command_line, environment, snakemake

SERVERS = ("mariadbd", "postgres")
PROGRAMS = (*SERVERS, "sysbench", "sh", "cp")
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
    repetitions=2,
)
ARMS = ["maria", "aa", "postgres"]
# The blocks of the second repetition, which are struck; those of the first must keep their bytes.
STRUCK = "simple_select/2/2"
TABLE = "results/studies/struck/tables/runs.csv"
REPORT = "results/studies/struck/report.html"


class Phase(Protocol):
    """A stretch of a job."""

    def begun(self, study: "Struck", since_s: float) -> bool:
        """Tell whether the phase has begun since then."""


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
                cwd=self.folder,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            )

    def said(self) -> str:
        """Return what the Snakemake started last has said so far."""
        return (self.folder / "snakemake.log").read_text()

    def finish(self, target: str) -> Answer:
        """Run the same command to its end."""
        return snakemake(self.folder, "--cores", "2", "--configfile", self.config, "--", target)

    def files(self, pattern: str) -> list[Path]:
        return sorted((self.folder / "results").glob(pattern))

    def blocks(self) -> dict[Path, dict]:
        """Return record -> content of every finished block."""
        return {path: json_record.read(path) for path in self.files("studies/struck/blocks/*/*/*/*/block.json")}

    def struck_arms(self) -> dict[str, Path]:
        """Return arm -> record of the finished blocks that are struck."""
        found = {path: made for path, made in self.blocks().items() if STRUCK in str(path)}
        return {arm: path.with_name(f"{arm}.json") for path, made in found.items() for arm in made["arms"]}

    def digests(self) -> dict[Path, str]:
        """Return the digests of all files of every finished block."""
        files = [file for block in self.blocks() for file in sorted(block.parent.iterdir())]
        return {file: file_sha256(file) for file in files if file.name != workplace.SNAKEMAKE_STAMP}

    def strike(self, target: str, phase: Phase, means: Callable[["Struck", subprocess.Popen], None]) -> None:
        """Start the study, strike in the phase, and demand that nothing is left a few seconds after Snakemake's end."""
        before, since_s = leftovers(), time.time()
        snakemake = self.start(target)
        wait_until(lambda: phase.begun(self, since_s) or snakemake.poll() is not None, seconds=3000)
        assert snakemake.poll() is None, self.said()
        means(self, snakemake)
        snakemake.wait(timeout=600)
        demand_none(lambda: self.left(since_s))
        demand_no_leftovers(before, since_s)

    def forget(self) -> None:
        """Remove the blocks that are struck, with their logs and the tables, so that there is something to measure."""
        for folder in (f"studies/struck/blocks/{STRUCK}", f"logs/measure_block/struck/{STRUCK}"):
            shutil.rmtree(self.folder / "results" / folder, ignore_errors=True)
        for table in self.files("studies/struck/tables/*"):
            table.unlink()

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

    def at_work(self, program: str) -> list[psutil.Process]:
        """Return the processes of a program that work here, or that write to a log here as servers do."""
        found = processes(program, (*PLACES, str(self.folder)))
        return [each for each in found if str(self.folder) in f"{_link(each, 'cwd')} {_link(each, 'fd/1')}"]

    def left(self, since_s: float) -> list[str]:
        """Return what still runs of the study, its servers and its clients, where it was started `since_s`."""
        found = [process for name in PROGRAMS for process in processes(name, PLACES)]
        return [str(process) for process in [*self._ours(), *(each for each in found if _orphaned(each, since_s))]]


def _link(process: psutil.Process, name: str) -> str:
    """Return where a link of a process leads to, empty once it is gone."""
    try:
        return str(Path(f"/proc/{process.pid}", name).readlink())
    except OSError:
        return ""


def _orphaned(process: psutil.Process, since_s: float) -> bool:
    """Return whether a process has no ancestor from before; others may use servers on this machine meanwhile."""
    with contextlib.suppress(psutil.Error):
        older = [each for each in process.parents() if each.create_time() < since_s]
        return all(each.pid == 1 for each in older)
    return False


def _is_used_elsewhere(path: Path, since_s: float) -> bool:
    """Return whether a process that we did not start names a path."""
    naming = (each for each in psutil.process_iter() if any(str(path) in word for word in words(each)))
    return any(not _orphaned(each, since_s) for each in naming)


def words(process: psutil.Process) -> list[str]:
    """Return the command line of a process, empty once it is gone."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def demand_none(left: Callable[[], list]) -> None:
    """Raise AssertionError naming what is left a few seconds from now."""
    deadline_s = time.monotonic() + GONE_WITHIN_S
    while (found := left()) and time.monotonic() < deadline_s:
        time.sleep(0.1)
    assert found == [], found


def demand_no_leftovers(before: set[Path], since_s: float) -> None:
    """Raise AssertionError naming folders and shared memory that something begun since then has left."""
    demand_none(lambda: [path for path in sorted(leftovers() - before) if not _is_used_elsewhere(path, since_s)])


def wait_until(condition: Callable[[], object], seconds: float, rest_s: float = 0.005) -> object:
    """Return what the condition gives as soon as that is true. Raises AssertionError after so many seconds."""
    deadline_s = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline_s, "waited in vain"
        time.sleep(rest_s)
    return found
