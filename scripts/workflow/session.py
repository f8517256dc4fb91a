"""What is changed in a running Snakemake: before it looks at jobs, and before it starts the first one."""

from pathlib import Path
from typing import Any

from snakemake.dag import DAG

from scripts.workflow import forced, job_records
from scripts.workflow.ancient_inputs import patch_ancient_inputs
from scripts.workflow.interrupts import forward_interrupts
from scripts.workflow.resources import register_host
from scripts.workflow.scheduler import remove_rate_limit


def prepare(workflow: Any, results: Path) -> None:
    """Change Snakemake while it reads the rules. Raises OtherSnakemake if it is not as expected."""
    patch_ancient_inputs(DAG)
    register_host(workflow)
    # Snakemake opens its records after it has read the rules.
    job_records.follow(results)


def force(rule: str) -> None:
    """Let a rule run again whatever its files say. Raises OtherSnakemake if it cannot be forced."""
    forced.force(DAG, rule)


def begin(workflow: Any) -> None:
    """Change Snakemake's scheduler before the first job. Raises OtherSnakemake if it is not as expected."""
    forward_interrupts(workflow.scheduler)
    remove_rate_limit(workflow.scheduler)
