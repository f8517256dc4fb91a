"""Say what will be run before it is: with `-n` and in real runs, not with --dag, --summary and the like."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING

from scripts.workflow.snakemake_release import expect, other_snakemake

if TYPE_CHECKING:
    from snakemake.workflow import Workflow
    from snakemake_interface_executor_plugins.registry import Plugin  # type: ignore[import-untyped]  # has no stubs


def before_jobs(workflow: "Workflow", announce: Callable[[bool], None]) -> None:
    """Let `announce` be called, with whether it is a dry run, before jobs are chosen; not where files are touched only.

    Raises OtherSnakemake if a workflow is executed in another way.
    """
    expect(workflow, "execute")
    execute = workflow.execute
    if "executor_plugin" not in inspect.signature(execute).parameters:
        raise other_snakemake("Workflow.execute takes no executor_plugin")

    @wraps(execute)
    def announced(*, executor_plugin: "Plugin", **settings: object) -> bool:
        common = executor_plugin.common_settings
        if not common.touch_exec:
            announce(common.dryrun_exec)
        succeeded: bool = execute(executor_plugin=executor_plugin, **settings)
        return succeeded

    workflow.execute = announced


def forced_steps(workflow: "Workflow") -> list[str]:
    """Return what runs again whatever its files say, with the option: `all steps (-F)`, or names of rules and files."""
    expect(workflow, "dag_settings")
    settings = workflow.dag_settings
    expect(settings, "forceall", "forcetargets", "forcerun", "targets")
    if settings.forceall:
        return ["all steps (-F)"]
    targets = sorted(settings.targets) or ["all"]
    return [
        *(f"{name} (-R)" for name in sorted(settings.forcerun)),
        *(f"{name} (-f)" for name in targets if settings.forcetargets),
    ]
