"""Functions for the inputs and params of tables, figures and report; no rules here."""


def reported(files):
    """Return the files that the report is made from: all of them, or for a partial report those that exist."""
    return [file for file in files if not PARTIAL or Path(file).exists()]


def last_decision(wildcards):
    """Return the decision with which the study stopped; none for one whose number of blocks is fixed."""
    for repetition in () if PARTIAL else precision_rule.looks(PLAN.study, PATHS.every_block):
        decision = PATHS.decision(repetition)
        checkpoints.decide_repetition.get(study=PLAN.study.name, **precision_rule.names_in(decision))
        if json_record.read(Path(decision))["decision"] != Decision.ANOTHER:
            return [decision]
    return []


def decided_blocks(wildcards):
    """Return the blocks that the report is made from."""
    if PARTIAL:
        return PATHS.blocks
    (decision,) = last_decision(wildcards) or [None]
    return PATHS.up_to(precision_rule.names_in(decision)["repetition"]) if decision else PATHS.every_block


def all_runs(wildcards):
    return reported(PATHS.runs_of(decided_blocks(wildcards)))


def all_measured(wildcards):
    return reported(PATHS.measured(decided_blocks(wildcards)))


def facts_of(kind):
    """Return a function that gives the records of one kind that the report shows."""
    folders = {
        "builds": ("facts.json", [*PATHS.builds, *PATHS.stages]),
        "profiles": ("profile.json", PATHS.profiles),
        "datasets": ("dataset.json", PATHS.datasets),
    }

    def records(wildcards):
        name, found = folders[kind]
        return reported(f"{folder}/{name}" for folder in found)

    return records


def calls_of_builds(wildcards):
    compiled = set(PLAN.stages.names(COMPILED))
    made = {**PATHS.builds, **PATHS.stages}
    return reported(f"{folder}/calls.json.gz" for folder, (_, build) in made.items() if build in compiled)


def audits_of_builds(wildcards):
    return reported(PATHS.audits)


def checks_of_builds(wildcards):
    return reported(PATHS.checks)


def diagnoses_of_study(wildcards):
    return reported(DIAGNOSES.of_paths)


def sources_of_study(wildcards):
    return reported(PATHS.source(server) for server in sorted({server for server, _ in PATHS.builds.values()}))


def description_of_study(wildcards):
    # Not the canonical form: variants and workloads are shown in the order of the config.
    (decision,) = [json_record.read(Path(path)) for path in last_decision(wildcards)] or [None]
    described = study_description.describe(PATHS, STUDY.files, decided_blocks(wildcards), decision)
    return json.dumps(json_record.dump(replace(described, partial=PARTIAL)))


# As a param it makes a cheap rule run again when the code changes.
CODE = code_digest.digest_of(code_digest.EVERYTHING)
CODE_OF_BUILDS = code_digest.digest_of(code_digest.OF_BUILDS)


# What is computed from the tables of runs.
COMPARED = (
    "comparisons",
    "cells",
    "overall",
    "overall_unflagged",
    "ladder",
    "bounds",
    "calibration",
    "relinked",
    "factors",
    "effects",
    "statements",
)


def tables(*names):
    """Return the files of these tables of a study."""
    return [f"results/studies/{{study}}/tables/{name}.csv" for name in names]


def published_figures(wildcards):
    named = PLAN.study.declared.published
    return [str(PLAN.root / named)] if named else []
