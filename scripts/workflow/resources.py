"""The readers/writer lock of this machine as a resource: most jobs take one share; measuring and training take all."""

from typing import Any

from scripts.workflow.release import expect, expect_parameters

HOST = 1000


def register_host(workflow: Any) -> None:
    """Limit the resource `host`, unless `--resources host=N` on the command line did.

    Raises OtherSnakemake if resources cannot be limited in this way.
    """
    expect(workflow, "global_resources", "register_resource")
    expect_parameters(workflow.register_resource, "name", "value")
    if "host" not in workflow.global_resources:
        workflow.register_resource("host", HOST)
