"""Snakemake finds its loggers by the name of their package on sys.path: `--logger steps`, which `make` asks for."""

from scripts.workflow.terminal import LogHandler

__all__ = ["LogHandler"]
