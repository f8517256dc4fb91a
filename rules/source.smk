"""Fetch the sources of servers. Needs: the catalog. Makes: results/sources/{server}-{digest}/."""


rule fetch_source:
    """Fetch and unpack a server's sources."""
    output:
        tree=directory("results/sources/{server}-{digest}/tree"),
        identity="results/sources/{server}-{digest}/source.json",
    log:
        "results/logs/fetch_source/{server}-{digest}.log",
    conda:
        "../envs/python.yaml"
    resources:
        host=1,
    params:
        recipe=recipe_of("source"),
        places=source_places,
    shell:
        r"""
        exec python -m scripts.jobs.fetch_source \
            --recipe {params.recipe:q} \
            --sources {params.places:q} \
            --tree {output.tree:q} \
            --identity {output.identity:q} \
            --log {log:q}
        """
