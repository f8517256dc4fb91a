"""Make servers. Needs: sources, profiles. Makes: results/builds/{server}/{build}-{digest}/."""


rule build_server:
    """Compile one build of one server."""
    input:
        source=source_of_build,
        profile=profile_of_build,
    output:
        install=directory("results/builds/{server}/{build}-{digest}/install"),
        headers=directory("results/builds/{server}/{build}-{digest}/headers"),
        calls="results/builds/{server}/{build}-{digest}/calls.json.gz",
        facts="results/builds/{server}/{build}-{digest}/facts.json",
        identity="results/builds/{server}/{build}-{digest}/identity.json",
    log:
        "results/logs/build_server/{server}/{build}-{digest}.log",
    wildcard_constraints:
        build=names_of(COMPILED),
    priority: 2000000
    conda:
        "../envs/python.yaml"
    threads: all_cores
    resources:
        host=1,
    params:
        recipe=recipe_of("build"),
        relinks=relinks,
        may_fail=may_fail,
    shell:
        r"""
        exec python -m scripts.jobs.build_server \
            --recipe {params.recipe:q} \
            --source {input.source:q} \
            --profile {input.profile:q} \
            --relinks {params.relinks} \
            --may-fail {params.may_fail} \
            --threads {threads} \
            --install {output.install:q} \
            --headers {output.headers:q} \
            --calls {output.calls:q} \
            --facts {output.facts:q} \
            --identity {output.identity:q} \
            --log {log:q}
        """


rule bolt_server:
    """Instrument a finished server with BOLT, or optimise it with BOLT by a profile."""
    input:
        base=input_of_bolt,
        profile=profile_of_build,
    output:
        install=directory("results/builds/{server}/{build}-{digest}/install"),
        facts="results/builds/{server}/{build}-{digest}/facts.json",
        identity="results/builds/{server}/{build}-{digest}/identity.json",
    log:
        "results/logs/bolt_server/{server}/{build}-{digest}.log",
    wildcard_constraints:
        build=names_of(BOLTED),
    priority: 2000000
    conda:
        "../envs/python.yaml"
    threads: all_cores
    resources:
        host=1,
    params:
        recipe=recipe_of("build"),
        relinks=relinks,
        may_fail=may_fail,
    shell:
        r"""
        exec python -m scripts.jobs.bolt_server \
            --recipe {params.recipe:q} \
            --base {input.base:q} \
            --profile {input.profile:q} \
            --relinks {params.relinks} \
            --may-fail {params.may_fail} \
            --install {output.install:q} \
            --facts {output.facts:q} \
            --identity {output.identity:q} \
            --log {log:q}
        """


rule install_prebuilt:
    """Install a ready-made server."""
    input:
        source=source_of_build,
    output:
        install=directory("results/builds/{server}/{build}-{digest}/install"),
        facts="results/builds/{server}/{build}-{digest}/facts.json",
        identity="results/builds/{server}/{build}-{digest}/identity.json",
    log:
        "results/logs/install_prebuilt/{server}/{build}-{digest}.log",
    wildcard_constraints:
        build=PREBUILT,
    priority: 2000000
    conda:
        "../envs/python.yaml"
    resources:
        host=1,
    params:
        recipe=recipe_of("build"),
    shell:
        r"""
        exec python -m scripts.jobs.install_prebuilt \
            --recipe {params.recipe:q} \
            --source {input.source:q} \
            --install {output.install:q} \
            --facts {output.facts:q} \
            --identity {output.identity:q} \
            --log {log:q}
        """


rule audit_build:
    """Count the units of a build that its profile optimised, and refuse a build that lost the profile."""
    input:
        calls="results/builds/{server}/{build}-{digest}/calls.json.gz",
        identity="results/builds/{server}/{build}-{digest}/identity.json",
        profile=profile_of_build,
        instrumented=instrumented_of_build,
    output:
        "results/builds/{server}/{build}-{digest}/audit.json",
    log:
        "results/logs/audit_build/{server}/{build}-{digest}.log",
    wildcard_constraints:
        build=names_of(COMPILED),
    priority: 2000000
    conda:
        "../envs/python.yaml"
    resources:
        host=1,
    params:
        code=CODE_OF_BUILDS,
        recipe=recipe_of("build"),
        may_fail=may_fail,
    shell:
        r"""
        exec python -m scripts.jobs.audit_build \
            --recipe {params.recipe:q} \
            --calls {input.calls:q} \
            --identity {input.identity:q} \
            --profile {input.profile:q} \
            --instrumented {input.instrumented:q} \
            --may-fail {params.may_fail} \
            --audit {output:q} \
            --log {log:q}
        """
