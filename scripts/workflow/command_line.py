"""Config files and cores, as given on Snakemake's command line."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from snakemake.exceptions import WorkflowError

from scripts.config import text
from scripts.workflow.release import expect

# Workflow.dryrun is not known yet while rules are read.
DRY_RUN_OPTION = re.compile(r"-[a-zA-Z]*n|--dry-?run$")
# Snakemake takes --jobs for --cores where it is called without --cores.
CORES_OPTION = re.compile(r"-[cj]|--(cores|jobs)\b")


def config_files(workflow: Any) -> list[Path]:
    """Return the config files, of which a later one wins."""
    expect(workflow, "configfiles")
    return [Path(file) for file in workflow.configfiles]


def default_config(root: Path) -> str:
    """Return the path of the default study. Raises WorkflowError where Snakemake's parser would end in a traceback."""
    try:
        text.read(root / "config.yaml")
    except (text.ConfigError, OSError) as error:
        raise WorkflowError(str(error)) from error
    return str(root / "config.yaml")


def planned_cores(workflow: Any, arguments: Sequence[str]) -> int:
    """Return the cores that jobs may use; in a dry run whose `arguments` name none, those of this machine.

    Snakemake gives such a dry run one core, unless a profile says how many.
    """
    expect(workflow, "cores")
    looking, named = (any(map(option.match, arguments)) for option in (DRY_RUN_OPTION, CORES_OPTION))
    return len(os.sched_getaffinity(0)) if looking and not named and workflow.cores == 1 else workflow.cores
