"""What Snakemake runs: one module for each rule that starts Python, with the rule's name."""
