"""Patch Snakemake so that a rule runs again whatever its files say, as with `--forcerun`."""

import inspect
from functools import wraps
from typing import Any

from scripts.workflow.snakemake_release import other_snakemake


def force(dag: Any, rule: str) -> None:
    """Change Snakemake's class DAG: the jobs of a rule are forced in every DAG of this process.

    Raises OtherSnakemake if the class takes no such rules.
    """
    begin = dag.__init__
    if "forcerules" not in (parameters := inspect.signature(begin).parameters) or "rules" not in parameters:
        raise other_snakemake("DAG takes no forcerules")

    @wraps(begin)
    def init(self: Any, workflow: Any, rules: Any, **options: Any) -> None:
        forced = {*(options.pop("forcerules", None) or ()), *(other for other in rules if other.name == rule)}
        begin(self, workflow, rules, forcerules=forced, **options)

    dag.__init__ = init
