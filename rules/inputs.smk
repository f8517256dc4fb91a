"""Functions for the inputs, recipes and priorities of rules; no rules here."""


def all_cores(wildcards):
    return command_line.cores_of_jobs(workflow)


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
    """Return the canonical JSON of a recipe. Raises WorkflowError if the digest in the path is not its digest."""
    made, part = recipe_parts(kind, wildcards)
    if part is not None and part != made.digest:
        raise WorkflowError(f"{kind} {dict(wildcards)}: this config makes digest {made.digest}, not {part}")
    return json_record.canonical(made.dump())


def recipe_parts(kind, wildcards):
    match kind:
        case "source":
            return PLAN.source(wildcards.server), wildcards.digest
        case "build":
            return PLAN.build(wildcards.server, wildcards.build), wildcards.digest
        case "profile":
            return PLAN.profile(*profile_parts(wildcards)), wildcards.digest
        case "check":
            return PLAN.check(wildcards.server, wildcards.build), None
        case "dataset":
            return PLAN.dataset(*PATHS.datasets[f"results/datasets/{server_part(wildcards)}"]), wildcards.digest
        case "diagnosis":
            return DIAGNOSES.recipe(diagnosis_of(wildcards)), None
    raise WorkflowError(f"no recipe of kind {kind!r}")


def server_part(wildcards):
    return f"{wildcards.server}/{wildcards.dataset}-{wildcards.digest}"


def profile_parts(wildcards):
    """Return server, training and trained stage of a profile."""
    folder = f"results/profiles/{wildcards.server}/{wildcards.training}-{wildcards.digest}"
    if folder not in PATHS.profiles:
        raise WorkflowError(f"{folder}: no build of this config uses such a profile")
    return PATHS.profiles[folder]


def diagnosis_of(wildcards):
    folders = f"{wildcards.variant}-{wildcards.digest}/{wildcards.workload}-{wildcards.load}/{wildcards.clients}"
    path = f"{DIAGNOSES.folder}/{folders}/{wildcards.tool}.json"
    if path not in DIAGNOSES.of_paths:
        raise WorkflowError(f"{path}: this config asks for no such diagnosis")
    return DIAGNOSES.of_paths[path]


def names_of(kinds):
    """Return a pattern of the names of all builds and stages of these kinds."""
    return "|".join(map(re.escape, PLAN.stages.names(kinds))) or "(?!)"


def recipe_of(kind):
    """Return a function that gives the recipe of one kind of thing, by wildcards."""

    def recipe_of_wildcards(wildcards):
        return recipe(kind, wildcards)

    return recipe_of_wildcards


# Snakemake does not compare a param whose function takes `output`: what the study says beside the recipe may change, and
# nothing is made again.
def source_places(wildcards, output):
    declared = PLAN.study.declared.servers[wildcards.server].entries
    return json_record.canonical([addresses.without_logins(source) for source in declared])


def diagnosis_place(wildcards, output):
    return json_record.canonical(json_record.dump(DIAGNOSES.context(output.diagnosis)))


def may_fail(wildcards, output):
    """Return whether the study goes on when this step fails, as JSON."""
    return json.dumps(str(Path(output[0]).parent) in PATHS.tolerated)


def relinks(wildcards, output):
    """Return how often a build is relinked: not at all unless it is the study's reference."""
    return relink_choice.wanted(PATHS).get(str(Path(output.install).parent), 0)


def scripts_of_user(wildcards, output):
    """Return name in recipes -> path of the study's Lua scripts outside the checkout, as JSON."""
    return json_record.canonical(lua.outside_scripts(PLAN.study.outside_scripts.values()))


def source_of_build(wildcards):
    return PATHS.source(wildcards.server)


def profile_of_build(wildcards):
    folder = PATHS.profile(wildcards.server, wildcards.build)
    return f"{folder}/profile.json" if folder else []


def input_of_bolt(wildcards):
    return f"{PATHS.build(wildcards.server, PLAN.stages.input(wildcards.build))}/identity.json"


def instrumented_of_build(wildcards):
    used = PLAN.stages.profile(wildcards.build)
    return f"{PATHS.build(wildcards.server, used.stage)}/identity.json" if used else []


def instrumented_of_profile(wildcards):
    server, _, stage = profile_parts(wildcards)
    return f"{PATHS.build(server, stage)}/identity.json"


def datasets_of_profile(wildcards):
    server, training, _ = profile_parts(wildcards)
    return [f"{folder}/dataset.json" for folder in PATHS.training_datasets(server, training)]


def loader_of_server(wildcards):
    return f"{PATHS.build(wildcards.server, PLAN.loader(wildcards.server))}/identity.json"


def reference_answers(wildcards):
    return f"{PATHS.answers(wildcards.server, PLAN.check_reference(wildcards.server))}/answers.json.gz"


def build_of_diagnosis(wildcards):
    return f"{PATHS.build(*PLAN.study.arms[wildcards.variant].built)}/identity.json"


def dataset_of_diagnosis(wildcards):
    return f"{PATHS.dataset(wildcards.variant, wildcards.workload)}/dataset.json"


def block_of(wildcards):
    return PATHS.jobs[f"{PATHS.study}/blocks/{wildcards.block}/block.json"]


def inputs_of_block(wildcards):
    return PATHS.inputs(block_of(wildcards))


def priority_of_block(wildcards):
    # The earlier in the order of measuring, the higher.
    return len(PATHS.every_block) - PATHS.every_block.index(block_of(wildcards))


def measured_before(wildcards):
    """Return the blocks of the repetitions that a decision is about."""
    return PATHS.measured(PATHS.up_to(int(wildcards.repetition)))


def preparations(wildcards):
    builds = [f"{folder}/identity.json" for folder in PATHS.builds]
    proofs = [f"{PATHS.study}/proofs.json"]
    return builds + PATHS.audits + PATHS.checks + proofs + [f"{folder}/dataset.json" for folder in PATHS.datasets]
