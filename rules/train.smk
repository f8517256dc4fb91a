"""Train instrumented builds. Needs: an instrumented build, datasets. Makes: results/profiles/{server}/{training}-{digest}/."""


rule train_server:
    """Run a training on an instrumented build and keep its counters."""
    input:
        identity=instrumented_of_profile,
        datasets=datasets_of_profile,
    output:
        counters=directory("results/profiles/{server}/{training}-{digest}/counters"),
        profile="results/profiles/{server}/{training}-{digest}/profile.json",
    log:
        "results/logs/train_server/{server}/{training}-{digest}.log",
    priority: 3000000
    conda:
        "../envs/python.yaml"
    resources:
        host=HOST,
    params:
        recipe=recipe_of("profile"),
        scripts=scripts_of_user,
        may_fail=may_fail,
    shell:
        r"""
        exec python -m scripts.jobs.train_server \
            --recipe {params.recipe:q} \
            --identity {input.identity:q} \
            --datasets {input.datasets:q} \
            --scripts {params.scripts:q} \
            --may-fail {params.may_fail} \
            --counters {output.counters:q} \
            --profile {output.profile:q} \
            --log {log:q}
        """
