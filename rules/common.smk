"""The study and its plan, for all rules; no rules here."""

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

from snakemake.utils import min_version

min_version("9.27.1")

try:
    from scripts.lib import json_record
    from scripts.build.compilation.stages import BOLTED, COMPILED, PREBUILT
    from scripts.study.plan import block_layout, study_description, precision_rule, relink_choice
    from scripts.study.plan.diagnosis_plan import Diagnoses
    from scripts.build.sources import addresses
    from scripts.lib.vocabulary import Decision
    from scripts.measure.loadgen import lua
    from scripts.workflow import code_digest, command_line, opening
    from scripts.workflow.session import HOST
except ModuleNotFoundError as error:
    raise WorkflowError(
        f"{error.name}: this Python package is missing in {sys.prefix}; `make setup` makes .venv with it"
    )

# `--configfile` is laid over a config file that is named here: another study would have variants of this one.
if not workflow.configfiles:

    configfile: command_line.default_config(Path(workflow.basedir))


STUDY = opening.open_study(workflow, config)
PLAN, PATHS, PARTIAL = STUDY.plan, STUDY.paths, STUDY.is_partial
DIAGNOSES = Diagnoses(PATHS)


wildcard_constraints:
    digest="[0-9a-f]{12}",
    server="|".join(map(re.escape, PLAN.study.declared.servers)),
    clients=r"\d+",
    repetition=r"\d+",
    study=re.escape(PLAN.study.name),


# Not in a dry run, which may happen beside a run.
onstart:
    STUDY.begin()


onsuccess:
    STUDY.end()
