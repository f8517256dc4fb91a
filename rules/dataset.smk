"""Load tables once. Needs: a server's baseline build. Makes: results/datasets/{server}/{dataset}-{digest}/."""


rule choose_loader:
    """Record which build loads a server's datasets; another build later makes no dataset stale."""
    input:
        loader_of_server,
    output:
        "results/datasets/{server}/loader.txt",
    log:
        "results/logs/choose_loader/{server}.log",
    priority: 4000000
    conda:
        "../envs/python.yaml"
    resources:
        host=1,
    shell:
        r"""
        echo {input:q} >{output:q} 2>{log:q}
        """


rule load_dataset:
    """Load a dataset's tables and keep the stopped data directory."""
    input:
        loader=ancient("results/datasets/{server}/loader.txt"),
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
        recipe=recipe_of("dataset"),
        scripts=scripts_of_user,
    shell:
        r"""
        exec python -m scripts.jobs.load_dataset \
            --recipe {params.recipe:q} \
            --loader {input.loader:q} \
            --scripts {params.scripts:q} \
            --snapshot {output.snapshot:q} \
            --dataset {output.dataset:q} \
            --threads {threads} \
            --log {log:q}
        """
