"""Measure. Needs: builds and datasets. Makes: results/studies/{study}/runs/ and diagnoses/."""


rule finish_preparations:
    """Mark that all builds and datasets are there; no run starts before, so that blocks stay together."""
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
        sha256sum {input:q} >{output:q} 2>{log:q}
        """


rule measure_run:
    """Measure one variant under one workload with one client count, once."""
    input:
        identity=build_of_run,
        dataset=dataset_of_run,
        prepared=ancient("results/studies/{study}/prepared.txt"),
    output:
        run="results/studies/{study}/runs/{variant}-{digest}/{workload}-{load}/{clients}/{repetition}.json",
        text="results/studies/{study}/runs/{variant}-{digest}/{workload}-{load}/{clients}/{repetition}.txt",
    log:
        "results/logs/measure_run/{study}/{variant}-{digest}/{workload}-{load}/{clients}/{repetition}.log",
    wildcard_constraints:
        load="[0-9a-f]{12}",
        variant="|".join(map(re.escape, PLAN.study.variants)),
        workload="|".join(map(re.escape, PLAN.study.workloads)),
    priority: order_of_run
    conda:
        "../envs/python.yaml"
    resources:
        host=HOST,
    params:
        recipe=recipe_of("run"),
        place=run_place,
    shell:
        r"""
        exec python -m scripts.jobs.measure_run \
            --recipe {params.recipe:q} \
            --place {params.place:q} \
            --identity {input.identity:q} \
            --dataset {input.dataset:q} \
            --run {output.run:q} \
            --text {output.text:q} \
            --log {log:q}
        """


rule diagnose_run:
    """Observe the server with one tool in an extra run, after all measured runs."""
    input:
        identity=build_of_run,
        dataset=dataset_of_run,
        measured=ancient("results/studies/{study}/tables/runs.csv"),
    output:
        diagnosis="results/studies/{study}/diagnoses/{variant}-{digest}/{workload}-{load}/{clients}/{tool}.json",
        text="results/studies/{study}/diagnoses/{variant}-{digest}/{workload}-{load}/{clients}/{tool}.txt",
    log:
        "results/logs/diagnose_run/{study}/{variant}-{digest}/{workload}-{load}/{clients}/{tool}.log",
    wildcard_constraints:
        load="[0-9a-f]{12}",
        tool="[a-z]+",
        variant="|".join(map(re.escape, PLAN.study.variants)),
        workload="|".join(map(re.escape, PLAN.study.workloads)),
    conda:
        "../envs/python.yaml"
    resources:
        host=HOST,
    params:
        recipe=recipe_of("diagnosis"),
        place=diagnosis_place,
    shell:
        r"""
        exec python -m scripts.jobs.diagnose_run \
            --recipe {params.recipe:q} \
            --place {params.place:q} \
            --identity {input.identity:q} \
            --dataset {input.dataset:q} \
            --diagnosis {output.diagnosis:q} \
            --text {output.text:q} \
            --log {log:q}
        """
