"""Measure. Needs: builds and datasets. Makes: results/studies/{study}/blocks/ and diagnoses/."""


rule finish_preparations:
    """Mark that all builds and datasets are there; no block is measured before."""
    input:
        preparations,
    output:
        "results/studies/{study}/prepared.txt",
    log:
        "results/logs/finish_preparations/{study}.log",
    conda:
        "../envs/python.yaml"
    resources:
        host=1,
    shell:
        r"""
        {{ sha256sum {input:q} | tee {output:q} >/dev/null; }} 2>{log:q}
        """


rule measure_block:
    """Measure all arms of a block: a workload with one client count, once."""
    input:
        needed=inputs_of_block,
        prepared=ancient("results/studies/{study}/prepared.txt"),
    output:
        "results/studies/{study}/blocks/{block}/block.json",
    log:
        "results/logs/measure_block/{study}/{block}.log",
    wildcard_constraints:
        # A block that is measured already is an input which no rule makes.
        block=block_layout.pattern(PATHS.jobs),
    priority: priority_of_block
    conda:
        "../envs/python.yaml"
    resources:
        host=HOST,
    params:
        plan="results/studies/{study}/plan.json",
        scripts=scripts_of_user,
    shell:
        r"""
        exec python -m scripts.jobs.measure_block \
            --plan {params.plan:q} \
            --scripts {params.scripts:q} \
            --block {output:q} \
            --log {log:q}
        """


rule diagnose_run:
    """Observe the server with one tool in an extra run, after all measured runs."""
    input:
        identity=build_of_diagnosis,
        dataset=dataset_of_diagnosis,
        measured=ancient("results/studies/{study}/tables/runs.csv"),
    output:
        diagnosis="results/studies/{study}/diagnoses/{variant}-{digest}/{workload}-{load}/{clients}/{tool}.json",
        text="results/studies/{study}/diagnoses/{variant}-{digest}/{workload}-{load}/{clients}/{tool}.txt",
    log:
        "results/logs/diagnose_run/{study}/{variant}-{digest}/{workload}-{load}/{clients}/{tool}.log",
    wildcard_constraints:
        load="[0-9a-f]{12}",
        tool="[a-z]+",
        variant="|".join(map(re.escape, PLAN.study.arms)),
        workload="|".join(map(re.escape, PLAN.study.workloads)),
    conda:
        "../envs/python.yaml"
    resources:
        host=HOST,
    params:
        recipe=recipe_of("diagnosis"),
        place=diagnosis_place,
        scripts=scripts_of_user,
    shell:
        r"""
        exec python -m scripts.jobs.diagnose_run \
            --recipe {params.recipe:q} \
            --place {params.place:q} \
            --scripts {params.scripts:q} \
            --identity {input.identity:q} \
            --dataset {input.dataset:q} \
            --diagnosis {output.diagnosis:q} \
            --text {output.text:q} \
            --log {log:q}
        """
