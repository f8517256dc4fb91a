"""What Snakemake's command line said: the config files and the cores."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scripts.workflow.release import expect

# Snakemake takes --jobs for --cores where it is called without --cores.
CORES_OPTION = re.compile(r"(-[cj]|--(cores|jobs)\b)")


def config_files(workflow: Any) -> list[Path]:
    """Return the config files, of which a later one wins."""
    expect(workflow, "configfiles")
    return [Path(file) for file in workflow.configfiles]


def planned_cores(workflow: Any, arguments: Sequence[str]) -> int:
    """Return the cores that jobs may use; in a dry run whose `arguments` name none, those of this machine."""
    expect(workflow, "cores", "dryrun")
    if workflow.dryrun and not any(map(CORES_OPTION.match, arguments)):
        return len(os.sched_getaffinity(0))
    return workflow.cores or 1
