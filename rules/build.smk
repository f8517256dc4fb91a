"""Compile servers. Needs: sources, profiles. Makes: results/builds/{server}/{build}-{digest}/."""


rule build_server:
    """Compile one build of one server."""
    input:
        source="results/sources/{server}/source.json",
        profile=profile_of_build,
    output:
        install=directory("results/builds/{server}/{build}-{digest}/install"),
        headers=directory("results/builds/{server}/{build}-{digest}/headers"),
        calls="results/builds/{server}/{build}-{digest}/calls.json.gz",
        facts="results/builds/{server}/{build}-{digest}/facts.json",
        identity="results/builds/{server}/{build}-{digest}/identity.json",
    log:
        "results/logs/build_server/{server}/{build}-{digest}.log",
    priority: 2000000
    conda:
        "../envs/python.yaml"
    threads: all_cores
    resources:
        host=1,
    params:
        recipe=build_recipe,
    shell:
        r"""
        exec python -m scripts.build_server \
            --recipe {params.recipe:q} \
            --source {input.source:q} \
            --profile {input.profile:q} \
            --threads {threads} \
            --install {output.install:q} \
            --headers {output.headers:q} \
            --calls {output.calls:q} \
            --facts {output.facts:q} \
            --identity {output.identity:q} \
            --log {log:q}
        """
