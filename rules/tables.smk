"""Turn runs into tables. Needs: runs. Makes: results/studies/{study}/tables/."""


rule collect_runs:
    """Turn the records of runs into tidy tables."""
    input:
        measured=all_measured,
        study="results/studies/{study}/study.json",
        list="results/studies/{study}/runs.txt",
    output:
        tables=tables("runs", "series", "counters", "files", "operations", "executions", "against"),
    log:
        "results/logs/collect_runs/{study}.log",
    conda:
        "../envs/python.yaml"
    resources:
        host=1,
    params:
        code=CODE,
    shell:
        r"""
        exec python -m scripts.jobs.collect_runs \
            --study {input.study:q} \
            --runs-list {input.list:q} \
            --tables {output.tables:q} \
            --log {log:q}
        """


rule compare_variants:
    """Compare the variants with the reference, block by block."""
    input:
        runs="results/studies/{study}/tables/runs.csv",
        executions="results/studies/{study}/tables/executions.csv",
        study="results/studies/{study}/study.json",
    output:
        tables=tables(*COMPARED),
    log:
        "results/logs/compare_variants/{study}.log",
    conda:
        "../envs/python.yaml"
    resources:
        host=1,
    params:
        code=CODE,
    shell:
        r"""
        exec python -m scripts.jobs.compare_variants \
            --study {input.study:q} \
            --runs {input.runs:q} \
            --executions {input.executions:q} \
            --tables {output.tables:q} \
            --log {log:q}
        """


rule export_tables:
    """Write what every column means, all tables as one JSON, and how the study's expectations stand."""
    input:
        study="results/studies/{study}/study.json",
        tables=tables("runs", "operations", "executions", "against", *COMPARED),
    output:
        verdict="results/studies/{study}/verdict.json",
        meanings="results/studies/{study}/tables/README.md",
        results="results/studies/{study}/tables/results.json",
    log:
        "results/logs/export_tables/{study}.log",
    conda:
        "../envs/python.yaml"
    resources:
        host=1,
    params:
        code=CODE,
    shell:
        r"""
        exec python -m scripts.jobs.export_tables \
            --study {input.study:q} \
            --tables {input.tables:q} \
            --verdict {output.verdict:q} \
            --meanings {output.meanings:q} \
            --results {output.results:q} \
            --log {log:q}
        """
