"""Means to strike a study with: signals to Snakemake and its jobs, and the death of a server or of its client."""

import os
import signal
import subprocess
from collections.abc import Callable

import psutil

from tests.faults.interrupting import Struck, wait_until, words

TRIALS = {"--check", "--boot", "--single", "-V"}
Means = Callable[[Struck, subprocess.Popen], None]


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
# SIGTERM lets the running job end, so it strikes no phase of it.
HARD = {name: means for name, means in MEANS.items() if means is not terminate}


def death_of(program: str) -> Means:
    """Return the means that kills all processes of a program as soon as there is one."""

    def strike(study: Struck, snakemake: subprocess.Popen) -> None:
        found = wait_until(lambda: serving(study, program) or snakemake.poll() is not None, seconds=60)
        for process in found if isinstance(found, list) else ():
            process.kill()

    return strike


def serving(study: Struck, program: str) -> list[psutil.Process]:
    """Return the processes of a program, without those that initdb starts to try settings: it gets over their death."""
    found = [(process, words(process)) for process in study.at_work(program)]
    return [process for process, line in found if line and not TRIALS & set(line)]
