"""Shared setup: the plan of the study, the paths of its results, and the two locks; no rules here."""

import json
import os
import re
import sys
from pathlib import Path

from snakemake.utils import min_version

min_version("9.27.1")

try:
    from scripts.lib import json_record
    from scripts.build.relink import kept_relinks
    from scripts.build.compilation.stages import BOLTED, COMPILED, PREBUILT
    from scripts.study.config.loading import load
    from scripts.lib.host import leftovers, locks, outcome
    from scripts.measure.loadgen import lua
    from scripts.study.plan import block_layout, decisions, study_description, looks, relink_choice, precision_rule
    from scripts.study.plan.diagnosis_plan import Diagnoses
    from scripts.study.plan.paths import Paths, tolerated_folders
    from scripts.study.plan.preview import plan_text
    from scripts.study.plan.recipes import Plan
    from scripts.measure.servers import credentials
    from scripts.build.sources import addresses
    from scripts.workflow import announcing, code_digest, command_line, job_records, session
    from scripts.workflow.last_lines import last_lines
    from scripts.workflow.session import HOST, job_environment
    from scripts.lib.visible import visible
    from scripts.lib.vocabulary import Decision
except ModuleNotFoundError as error:
    raise WorkflowError(
        f"{error.name}: this Python package is missing in {sys.prefix}; `make setup` makes .venv with it"
    )

# `--config partial=true` gives a text; only True would be a boolean.
if config.get("partial") in ("true", "false"):
    config["partial"] = config["partial"] == "true"

try:
    ROOT, FILES = Path(workflow.basedir), command_line.config_files(workflow)
    PLAN = Plan(load(config, ROOT, " ".join(map(str, FILES)), FILES), ROOT)
    PATHS = Paths(PLAN, None if workflow.is_main_process else decisions.read(PLAN))
    DIAGNOSES = Diagnoses(PATHS)
    PARTIAL = PLAN.study.declared.partial
    session.prepare(workflow, Path("results"))
    if not PARTIAL and PATHS.is_undecided:
        session.force("describe_study")
    if workflow.is_main_process and not PARTIAL and PATHS.lacks_levels:
        session.force("measure_block")
except ValueError as error:
    raise WorkflowError(str(error))

session.forget_python_settings()
os.environ.update(
    **job_environment(ROOT),
    **{outcome.MAY_FAIL: "\n".join(tolerated_folders(PATHS))},
    **{kept_relinks.WANTED: json_record.canonical(relink_choice.wanted(PATHS))},
    **lua.job_environment(PLAN.study.outside_scripts.values()),
    **credentials.job_environment(PLAN.study.entries["servers"]),
    **addresses.job_environment(PLAN.study.entries["servers"]),
)

RUNS_THERE = [path for path in PATHS.runs if Path(path).exists()] if PARTIAL else []
if PARTIAL and not RUNS_THERE:
    raise WorkflowError(
        f"partial: none of the {len(PATHS.runs)} planned runs of study {PLAN.study.name} is measured yet in "
        f"{Path(PATHS.study).resolve()}, so there is nothing to report; the same command without `partial` measures"
    )


def announce(is_dry_run):
    if PARTIAL:
        sys.stderr.write(
            f"partial report of study {PLAN.study.name}: {len(RUNS_THERE)} of {len(PATHS.runs)} planned runs\n\n"
        )
        return
    try:
        cores = command_line.planned_cores(workflow, is_dry_run, sys.argv[1:])
        sys.stderr.write(visible(plan_text.plan_text(PATHS, cores, announcing.forced_steps(workflow))))
    except ValueError as error:
        raise WorkflowError(str(error))


if workflow.is_main_process:
    announcing.before_jobs(workflow, announce)


# Called by onstart, so not in a dry run, which may happen beside a run.
def begin():
    if not PARTIAL and (refused := plan_text.refusals(PATHS)):
        raise WorkflowError("\n".join(["this machine cannot carry out the study", *refused]))
    try:
        session.begin(workflow)
        locks.hold_checkout(Path("results"))
        leftovers.clear_if_free()
        job_records.keep(Path("results"))
        looks.keep(Path(PATHS.study))
        if not PARTIAL:
            decisions.write(PATHS)
    except ValueError as error:
        why = "; a report would take CPU time from what it measures; `make watch` shows its figures so far"
        raise WorkflowError(f"{error}{why if PARTIAL else ''}")


onsuccess:
    if workflow.is_main_process:
        sys.stderr.write(last_lines(Path(PATHS.study) / "summary.md"))
