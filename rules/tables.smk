"""Turn runs into tables. Needs: runs. Makes: results/studies/{study}/tables/."""


rule collect_runs:
    """Turn the records of runs into tidy tables."""
    input:
        measured=all_measured,
        study="results/studies/{study}/study.json",
        list="results/studies/{study}/runs.txt",
    output:
        runs="results/studies/{study}/tables/runs.csv",
        series="results/studies/{study}/tables/series.csv",
        counters="results/studies/{study}/tables/counters.csv",
        files="results/studies/{study}/tables/files.csv",
        operations="results/studies/{study}/tables/operations.csv",
        executions="results/studies/{study}/tables/executions.csv",
        against="results/studies/{study}/tables/against.csv",
    log:
        "results/logs/collect_runs/{study}.log",
    conda:
        "../envs/python.yaml"
    resources:
        host=1,
    params:
        code=code("collect_runs"),
    shell:
        r"""
        exec python -m scripts.jobs.collect_runs \
            --study {input.study:q} \
            --runs-list {input.list:q} \
            --tables results/studies/{wildcards.study}/tables \
            >{log:q} 2>&1
        """


rule compare_variants:
    """Compare the variants with the reference, block by block."""
    input:
        runs="results/studies/{study}/tables/runs.csv",
        executions="results/studies/{study}/tables/executions.csv",
        study="results/studies/{study}/study.json",
    output:
        comparisons="results/studies/{study}/tables/comparisons.csv",
        cells="results/studies/{study}/tables/cells.csv",
        overall="results/studies/{study}/tables/overall.csv",
        unflagged="results/studies/{study}/tables/overall_unflagged.csv",
        ladder="results/studies/{study}/tables/ladder.csv",
        bounds="results/studies/{study}/tables/bounds.csv",
        calibration="results/studies/{study}/tables/calibration.csv",
        relinked="results/studies/{study}/tables/relinked.csv",
        factors="results/studies/{study}/tables/factors.csv",
        effects="results/studies/{study}/tables/effects.csv",
        statements="results/studies/{study}/tables/statements.csv",
    log:
        "results/logs/compare_variants/{study}.log",
    conda:
        "../envs/python.yaml"
    resources:
        host=1,
    params:
        code=code("compare_variants"),
    shell:
        r"""
        exec python -m scripts.jobs.compare_variants \
            --study {input.study:q} \
            --tables results/studies/{wildcards.study}/tables \
            >{log:q} 2>&1
        """


rule export_tables:
    """Write what every column means, all tables as one JSON, and how the study's expectations stand."""
    input:
        study="results/studies/{study}/study.json",
        runs="results/studies/{study}/tables/runs.csv",
        comparisons="results/studies/{study}/tables/comparisons.csv",
    output:
        verdict="results/studies/{study}/verdict.json",
        meanings="results/studies/{study}/tables/README.md",
        json="results/studies/{study}/tables/results.json",
    log:
        "results/logs/export_tables/{study}.log",
    conda:
        "../envs/python.yaml"
    resources:
        host=1,
    params:
        code=code("export_tables"),
    shell:
        r"""
        exec python -m scripts.jobs.export_tables \
            --study {input.study:q} \
            --tables results/studies/{wildcards.study}/tables \
            >{log:q} 2>&1
        """
