"""What the record of a run says of a failure of the server or of its load."""

from typing import Any

from scripts.lib.host.outcome import failure_facts
from scripts.measure.loadgen.output import SysbenchFailed
from scripts.measure.servers.server import ServerFailed


def facts_of_failure(failure: ServerFailed | SysbenchFailed) -> dict[str, Any]:
    """Return the facts that mark a run as failed, with the code of its cause and what the server said of it."""
    return {**failure_facts(str(failure)), "failure": {"kind": failure.cause.code, "cause": failure.cause.text}}
