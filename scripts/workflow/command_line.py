"""Config files and cores, as given on Snakemake's command line."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from snakemake.exceptions import WorkflowError

from scripts.study.config import yaml_lines
from scripts.workflow.snakemake_release import expect

if TYPE_CHECKING:
    from snakemake.workflow import Workflow

# Snakemake takes --jobs for --cores where it is called without --cores.
CORES_OPTION = re.compile(r"-[cj]|--(cores|jobs)\b")


def config_files(workflow: "Workflow") -> list[Path]:
    """Return the config files, of which a later one wins."""
    expect(workflow, "configfiles")
    return [Path(file) for file in workflow.configfiles]


def default_config(root: Path) -> str:
    """Return the path of the default study. Raises WorkflowError where Snakemake's parser would end in a traceback."""
    try:
        yaml_lines.read(root / "config.yaml")
    except (yaml_lines.ConfigError, OSError) as error:
        raise WorkflowError(str(error)) from error
    return str(root / "config.yaml")


def planned_cores(workflow: "Workflow", is_dry_run: bool, arguments: Sequence[str]) -> int:
    """Return the cores that jobs may use; in a dry run whose `arguments` name none, those of this machine.

    Snakemake gives such a dry run one core, unless a profile says how many.
    """
    expect(workflow, "cores")
    named = any(map(CORES_OPTION.match, arguments))
    return cores_here() if is_dry_run and not named and workflow.cores == 1 else workflow.cores


def cores_of_jobs(workflow: "Workflow") -> int:
    """Return the cores that jobs may use; without `--cores`, as for `--dag` and `--summary`, those of this machine."""
    try:
        return int(workflow.cores)
    except WorkflowError:
        return cores_here()


def cores_here() -> int:
    """Return the number of CPUs that this process may use."""
    return len(os.sched_getaffinity(0))
