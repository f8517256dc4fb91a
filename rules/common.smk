"""Names derived from the config, and the functions rules take their inputs and recipes from; no rules here."""

import json
import os
import re
import sys
from pathlib import Path

from scripts import checkoutlock, description, preview, record
from scripts.plan import LOADER, Plan
from scripts.paths import Paths
from scripts.study import ConfigError, load

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


def all_cores(wildcards):
    return workflow.cores


def report_to_make(wildcards):
    return "results/report.html" if PLAN.study.name == "default" else f"{PATHS.study}/report.html"


def default_report(wildcards):
    if PLAN.study.name != "default":
        raise WorkflowError(
            f"results/report.html is the report of the study `default`, this config file's is `{PLAN.study.name}`: "
            f"ask for {PATHS.study}/report.html"
        )
    return f"{PATHS.study}/report.html"


def recipe(kind, wildcards):
    """Return the canonical JSON of what a costly rule makes; a digest in the path that no config gives is refused."""
    made, part = recipe_parts(kind, wildcards)
    if part is not None and part != record.digest(made):
        raise WorkflowError(f"{kind} {dict(wildcards)}: this config makes digest {record.digest(made)}, not {part}")
    return record.canonical(made)


def recipe_parts(kind, wildcards):
    match kind:
        case "source":
            return PLAN.source(wildcards.server), None
        case "build":
            return PLAN.build(wildcards.server, wildcards.build), wildcards.digest
        case "profile":
            server, build = profile_user(wildcards)
            return PLAN.profile(server, wildcards.training, build), wildcards.digest
        case "dataset":
            server, dataset, options = PATHS.datasets[f"results/datasets/{server_part(wildcards)}"]
            return PLAN.dataset(server, dataset, options), wildcards.digest
        case "run":
            return {
                "variant": PLAN.variant(wildcards.variant),
                "load": PLAN.load(wildcards.variant, wildcards.workload),
            }, None
    raise WorkflowError(f"no recipe of kind {kind!r}")


def server_part(wildcards):
    return f"{wildcards.server}/{wildcards.dataset}-{wildcards.digest}"


def profile_user(wildcards):
    """Return server and build of one build that uses this profile."""
    folder = f"results/profiles/{wildcards.server}/{wildcards.training}-{wildcards.digest}"
    if folder not in PATHS.profiles:
        raise WorkflowError(f"{folder}: no build of this config uses such a profile")
    return PATHS.profiles[folder]


def source_recipe(wildcards):
    return recipe("source", wildcards)


def build_recipe(wildcards):
    return recipe("build", wildcards)


def profile_recipe(wildcards):
    return recipe("profile", wildcards)


def dataset_recipe(wildcards):
    return recipe("dataset", wildcards)


def run_recipe(wildcards):
    return recipe("run", wildcards)


# A param whose function takes `output` is left out of Snakemake's comparison: mirrors, numbers and folders
# may change without anything being made again.
def source_places(wildcards, output):
    return record.canonical(PLAN.study.entries["servers"][wildcards.server]["sources"])


def run_place(wildcards, output):
    return record.canonical(PATHS.place(output.run))


def profile_of_build(wildcards):
    folder = PATHS.profile(wildcards.server, wildcards.build)
    return f"{folder}/profile.json" if folder else []


def instrumented_of_profile(wildcards):
    server, build = profile_user(wildcards)
    return f"{PATHS.build(server, PLAN.instrumented(build))}/identity.json"


def datasets_of_profile(wildcards):
    server, build = profile_user(wildcards)
    return [f"{folder}/dataset.json" for folder in PATHS.training_datasets(server, build)]


def loader_of_server(wildcards):
    return f"{PATHS.build(wildcards.server, LOADER)}/identity.json"


def build_of_run(wildcards):
    variant = PLAN.study.variants[wildcards.variant]
    return f"{PATHS.build(variant['server'], variant['build'])}/identity.json"


def dataset_of_run(wildcards):
    return f"{PATHS.dataset(wildcards.variant, wildcards.workload)}/dataset.json"


def order_of_run(wildcards):
    return PATHS.priority(wildcards.variant, wildcards.workload, int(wildcards.clients), int(wildcards.repetition))


def preparations(wildcards):
    builds = [f"{folder}/identity.json" for folder in PATHS.builds]
    return builds + [f"{folder}/dataset.json" for folder in PATHS.datasets]


def all_runs(wildcards):
    return list(RUNS)


def facts_of(kind):
    """Return a function that gives the records of one kind the report shows."""
    folders = {
        "builds": ("facts.json", [*PATHS.builds, *PATHS.instrumented_builds]),
        "profiles": ("profile.json", PATHS.profiles),
        "datasets": ("dataset.json", PATHS.datasets),
    }

    def records(wildcards):
        name, found = folders[kind]
        return [f"{folder}/{name}" for folder in found]

    return records


def sources_of_study(wildcards):
    return [PATHS.source(server) for server in sorted({server for server, _ in PATHS.builds.values()})]


def study_description(wildcards):
    # Not the canonical form: variants and workloads are shown in the order of the config.
    return json.dumps(description.describe(PLAN, [Path(file) for file in workflow.configfiles]))


def code(*names):
    """Return scripts whose content decides what a cheap rule makes."""
    return [str(Path(workflow.basedir, "scripts", name)) for name in names]


def report_code():
    """Return everything figures and page are made with, so that a change of it renders every report again."""
    modules = (
        "plot_figures charts drawing render_report page verdict trust timeline wording value_tables run_details "
        "build_details comparison overall stats metrics tables record sysbench"
    )
    templates = sorted(file.name for file in Path(workflow.basedir, "scripts", "templates").iterdir())
    return code(*(f"{module}.py" for module in modules.split()), *(f"templates/{name}" for name in templates))
