"""Interpret the measurements. Needs: tables, and the facts of builds and datasets. Makes: proofs, figures, report.html."""


rule describe_study:
    """Write the study with all defaults, and the list of its runs."""
    input:
        published=published_figures,
        decision=last_decision,
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
        code=CODE,
        study=description_of_study,
        runs=all_runs,
    # Not a shell command: the list of runs does not fit into an argument, which the kernel limits to 128 KiB.
    script:
        "../scripts/jobs/describe_study.py"


rule prove_builds:
    """Prove that the builds of a study differ where they should, and nowhere else."""
    input:
        builds=facts_of("builds"),
        calls=calls_of_builds,
    output:
        "results/studies/{study}/proofs.json",
    log:
        "results/logs/prove_builds/{study}.log",
    conda:
        "../envs/python.yaml"
    resources:
        host=1,
    params:
        code=CODE_OF_BUILDS,
        tolerated=PATHS.tolerated,
    shell:
        r"""
        exec python -m scripts.jobs.prove_builds \
            --builds {input.builds:q} \
            --calls {input.calls:q} \
            --tolerated {params.tolerated:q} \
            --proofs {output:q} \
            --log {log:q}
        """


rule plot_figures:
    """Draw throughput, latency and speedups."""
    input:
        tables=tables("runs", "series", "counters", "cells", "overall", "relinked", "factors", "effects", "statements"),
        study="results/studies/{study}/study.json",
    output:
        figures=directory("results/studies/{study}/figures"),
    log:
        "results/logs/plot_figures/{study}.log",
    conda:
        "../envs/python.yaml"
    resources:
        host=1,
    params:
        code=CODE,
    shell:
        r"""
        exec python -m scripts.jobs.plot_figures \
            --study {input.study:q} \
            --tables {input.tables:q} \
            --figures {output.figures:q} \
            --log {log:q}
        """


rule render_report:
    """Write the report and its summary."""
    input:
        tables=tables("runs", "files", "operations", "against", *COMPARED),
        figures="results/studies/{study}/figures",
        exported="results/studies/{study}/tables/results.json",
        study="results/studies/{study}/study.json",
        list="results/studies/{study}/runs.txt",
        measured=all_measured,
        facts=facts_of("builds"),
        audits=audits_of_builds,
        checks=checks_of_builds,
        proofs="results/studies/{study}/proofs.json",
        profiles=facts_of("profiles"),
        sources=sources_of_study,
        datasets=facts_of("datasets"),
        diagnoses=diagnoses_of_study,
    output:
        report="results/studies/{study}/report.html",
        summary="results/studies/{study}/summary.md",
        answer="results/studies/{study}/answer.json",
    log:
        "results/logs/render_report/{study}.log",
    conda:
        "../envs/python.yaml"
    resources:
        host=1,
    params:
        code=CODE,
    shell:
        r"""
        exec python -m scripts.jobs.render_report \
            --study {input.study:q} \
            --runs-list {input.list:q} \
            --tables {input.tables:q} \
            --figures {input.figures:q} \
            --facts {input.facts:q} \
            --audits {input.audits:q} \
            --checks {input.checks:q} \
            --proofs {input.proofs:q} \
            --profiles {input.profiles:q} \
            --sources {input.sources:q} \
            --datasets {input.datasets:q} \
            --diagnoses {input.diagnoses:q} \
            --output {output.report:q} \
            --summary {output.summary:q} \
            --answer {output.answer:q} \
            --log {log:q}
        """


rule publish_report:
    """Copy the default study's report to the top of results."""
    input:
        default_report,
    output:
        "results/report.html",
    log:
        "results/logs/publish_report/default.log",
    conda:
        "../envs/python.yaml"
    resources:
        host=1,
    shell:
        r"""
        cp {input:q} {output:q} 2>{log:q}
        """
