"""The environment of jobs: they run this Python and import this checkout from any working directory."""

import os
import sys
from pathlib import Path


def job_environment(root: Path) -> dict[str, str]:
    """Return the variables of this process that its jobs need; `root` is the checkout."""
    return {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.getenv('PATH')}",
        "PYTHONPATH": str(root),
        "WORKFLOW_PID": str(os.getpid()),
    }
