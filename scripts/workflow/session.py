"""What is changed in a running Snakemake: before it looks at jobs, and before it starts the first one.

Its scheduler sleeps while a job runs: it would take CPU time from what is measured. The readers/writer lock of this
machine is its resource `host`: most jobs take one share; measuring and training take all.
"""

import logging
import os
import sys
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING

from snakemake.dag import DAG
from snakemake.logging import DefaultFormatter

from scripts.lib.visible import visible
from scripts.workflow import job_records
from scripts.workflow.ancient_inputs import patch_ancient_inputs
from scripts.workflow.interrupts import Received, forward_interrupts
from scripts.workflow.snakemake_release import expect, expect_parameters

if TYPE_CHECKING:
    from snakemake.scheduling.job_scheduler import JobScheduler
    from snakemake.workflow import Workflow

HOST = 1000
HARMLESS = {"PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONNOUSERSITE", "PYTHONUNBUFFERED"}


def prepare(workflow: "Workflow", results: Path) -> None:
    """Change Snakemake while it reads the rules. Raises OtherSnakemake if it is not as expected."""
    patch_ancient_inputs(DAG)
    make_visible(DefaultFormatter)
    register_host(workflow)
    # Snakemake opens its records after it has read the rules.
    job_records.follow(results)


def make_visible(formatter: type[logging.Formatter]) -> None:
    """Change the class that formats Snakemake's messages: they hold logs of failed jobs, which a terminal would obey.

    Colours are added later. Raises OtherSnakemake if it formats them otherwise.
    """
    expect(formatter, "format")
    expect_parameters(formatter.format, "self", "record")
    write = formatter.format

    @wraps(write)
    def shown(self: logging.Formatter, record: logging.LogRecord) -> str | None:
        text: str | None = write(self, record)
        return text and visible(text)

    formatter.format = shown  # type: ignore[method-assign, assignment]  # Snakemake's own returns None, too


def force(rule: str) -> None:
    """Let a rule run again whatever its files say, in every DAG of this process, as with `--forcerun`.

    The DAG raises OtherSnakemake if it knows no rules to force.
    """
    begin_dag = DAG.__init__

    @wraps(begin_dag)
    def init(self: DAG, *arguments: object, **options: object) -> None:
        begin_dag(self, *arguments, **options)
        expect(self, "forcerules", "rules")
        self.forcerules.update(other for other in self.rules if other.name == rule)

    DAG.__init__ = init


def begin(workflow: "Workflow") -> Received:
    """Change Snakemake's scheduler before the first job; return what is known of the signals from then on.

    Raises OtherSnakemake if it is not as expected.
    """
    received = forward_interrupts(workflow.scheduler)
    remove_rate_limit(workflow.scheduler)
    return received


def remove_rate_limit(scheduler: "JobScheduler") -> None:
    """Remove the limit of jobs per time: its timers wake the scheduler every second, once per job so far.

    Raises OtherSnakemake if the scheduler has no such limit.
    """
    expect(scheduler, "job_rate_limiter")
    scheduler.job_rate_limiter = None


def register_host(workflow: "Workflow") -> None:
    """Limit the resource `host`, unless `--resources host=N` on the command line did.

    Raises OtherSnakemake if resources cannot be limited in this way.
    """
    expect(workflow, "global_resources", "register_resource")
    expect_parameters(workflow.register_resource, "name", "value")
    if "host" not in workflow.global_resources:
        workflow.register_resource("host", HOST)


def forget_python_settings() -> None:
    """Remove what the user's shell tells Python from this process's environment: jobs would run otherwise than meant.

    With PYTHONINSPECT a job would wait for commands at its end, with PYTHONHOME it would not start.
    """
    for name in {name for name in os.environ if name.startswith("PYTHON")} - HARMLESS:
        del os.environ[name]


def job_environment(root: Path) -> dict[str, str]:
    """Return the variables of this process that its jobs need; `root` is the checkout."""
    return {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.getenv('PATH')}",
        "PYTHONPATH": str(root),
        "WORKFLOW_PID": str(os.getpid()),
    }
