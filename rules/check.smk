"""Check builds before they are measured. Needs: builds. Makes: results/checks/{server}/{build}-{digest}/."""


rule answer_statements:
    """Run the statements of the differential check on a build."""
    input:
        "results/builds/{server}/{build}-{digest}/identity.json",
    output:
        "results/checks/{server}/{build}-{digest}/answers.json.gz",
    log:
        "results/logs/answer_statements/{server}/{build}-{digest}.log",
    priority: 4000000
    conda:
        "../envs/python.yaml"
    resources:
        host=1,
    params:
        recipe=recipe_of("check"),
        may_fail=may_fail,
    shell:
        r"""
        exec python -m scripts.jobs.answer_statements \
            --recipe {params.recipe:q} \
            --identity {input:q} \
            --may-fail {params.may_fail} \
            --answers {output:q} \
            --log {log:q}
        """


rule compare_answers:
    """Compare a build's answers with those of its check reference, and refuse a build whose answers differ."""
    input:
        answers="results/checks/{server}/{build}-{digest}/answers.json.gz",
        reference=reference_answers,
    output:
        "results/checks/{server}/{build}-{digest}/check.json",
    log:
        "results/logs/compare_answers/{server}/{build}-{digest}.log",
    priority: 4000000
    conda:
        "../envs/python.yaml"
    resources:
        host=1,
    params:
        code=CODE_OF_BUILDS,
        may_fail=may_fail,
    shell:
        r"""
        exec python -m scripts.jobs.compare_answers \
            --answers {input.answers:q} \
            --reference {input.reference:q} \
            --may-fail {params.may_fail} \
            --check {output:q} \
            --log {log:q}
        """
