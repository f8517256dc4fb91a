"""Stop by precision. Needs: blocks. Makes: results/studies/{study}/decisions/. Studies without `precision` have no decisions."""


checkpoint decide_repetition:
    """Decide after a repetition whether the study measures another."""
    input:
        ancient(measured_before),
    output:
        "results/studies/{study}/decisions/{repetition}-{digest}.json",
    log:
        "results/logs/decide_repetition/{study}/{repetition}-{digest}.log",
    conda:
        "../envs/python.yaml"
    resources:
        host=1,
    params:
        plan="results/studies/{study}/plan.json",
    shell:
        r"""
        exec python -m scripts.jobs.decide_repetition \
            --plan {params.plan:q} \
            --repetition {wildcards.repetition} \
            --decision {output:q} \
            --log {log:q}
        """
