"""Load tables once. Needs: a server's baseline build. Makes: results/datasets/{server}/{dataset}-{digest}/."""


rule load_dataset:
    """Load a dataset's tables and keep the stopped data directory."""
    input:
        identity=loader_of_dataset,
    output:
        snapshot=directory("results/datasets/{server}/{dataset}-{digest}/snapshot"),
        dataset="results/datasets/{server}/{dataset}-{digest}/dataset.json",
    log:
        "results/logs/load_dataset/{server}/{dataset}-{digest}.log",
    priority: 4000000
    conda:
        "../envs/python.yaml"
    threads: all_cores
    resources:
        host=1,
    params:
        recipe=dataset_recipe,
    shell:
        r"""
        exec python -m scripts.load_dataset \
            --recipe {params.recipe:q} \
            --identity {input.identity:q} \
            --snapshot {output.snapshot:q} \
            --dataset {output.dataset:q} \
            --threads {threads} \
            --log {log:q}
        """
