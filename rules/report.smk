"""Interpret what was measured. Needs: runs and the facts of what they used. Makes: tables, figures, report.html."""


rule describe_study:
    """Write the study as the workflow understood it, and the list of its runs."""
    output:
        study="results/studies/{study}/study.json",
        runs="results/studies/{study}/runs.txt",
    log:
        "results/logs/describe_study/{study}.log",
    conda:
        "../envs/python.yaml"
    resources:
        host=1,
    params:
        study=study_description,
        runs=run_paths,
    script:
        "../scripts/describe_study.py"


rule collect_runs:
    """Turn the records of runs into tidy tables."""
    input:
        runs=all_runs,
        study="results/studies/{study}/study.json",
        list="results/studies/{study}/runs.txt",
        code=code("collect_runs.py", "tables.py", "metrics.py"),
    output:
        runs="results/studies/{study}/tables/runs.csv",
        series="results/studies/{study}/tables/series.csv",
    log:
        "results/logs/collect_runs/{study}.log",
    conda:
        "../envs/python.yaml"
    resources:
        host=1,
    shell:
        r"""
        exec python -m scripts.collect_runs \
            --study {input.study:q} \
            --runs-list {input.list:q} \
            --tables results/studies/{wildcards.study}/tables \
            > {log:q} 2>&1
        """
