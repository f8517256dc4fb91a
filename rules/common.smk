"""What everything else stands on: the plan of the study, the paths of what it makes, and two locks; no rules here."""

import json
import os
import re
import sys
from pathlib import Path

from scripts import checkoutlock, description, own_imports, preview, record
from scripts.paths import Paths
from scripts.plan import Plan
from scripts.stages import BOLTED, COMPILED, PREBUILT
from scripts.study import load

try:
    PLAN = Plan(load(config, Path(workflow.basedir), " ".join(map(str, workflow.configfiles))), Path(workflow.basedir))
    PATHS = Paths(PLAN)
    RUNS = PATHS.runs
except ValueError as error:
    raise WorkflowError(str(error))

# Jobs run this Python and find our package from any working directory.
os.environ.update(
    PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.getenv('PATH')}",
    PYTHONPATH=str(workflow.basedir),
    PYTHONDONTWRITEBYTECODE="1",
    WORKFLOW_PID=str(os.getpid()),
)

# A readers/writer lock on this machine: building takes one share, measuring and training take all of them.
HOST = 1000
if "host" not in workflow.global_resources:
    workflow.register_resource("host", HOST)

if workflow.is_main_process:
    sys.stderr.write(preview.text(PATHS, workflow.cores or 1))


def take_directory():
    try:
        checkoutlock.hold(Path("results"))
    except ValueError as error:
        raise WorkflowError(str(error))
