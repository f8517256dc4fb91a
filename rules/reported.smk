"""Functions for the inputs and params of tables, figures and report; no rules here."""


def reported(files):
    """Return the files that the report is made from: all of them, or for a partial report those that exist."""
    return [file for file in files if not PARTIAL or Path(file).exists()]


def all_runs(wildcards):
    return list(RUNS)


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


def study_description(wildcards):
    # Not the canonical form: variants and workloads are shown in the order of the config.
    described = description.describe(PLAN, FILES)
    return json.dumps({**described, **({"partial": True} if PARTIAL else {})})


def code(script):
    """Return the digest of all code behind a job: as a param it makes the rule run again when the code changes."""
    return code_digest.digest_of(f"jobs.{script}")


def published_figures(wildcards):
    named = PLAN.study.config.get("published")
    return [str(ROOT / named)] if named else []
