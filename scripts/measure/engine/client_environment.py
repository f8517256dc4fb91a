"""The proof that the processes of a load have the environment variables that a study gives them."""

from collections.abc import Iterable
from typing import Any

from scripts.measure.engine.setting import Setting
from scripts.measure.loadgen.output import SysbenchFailed
from scripts.measure.servers import process_environment


def proven(setting: Setting, pids: Iterable[int]) -> dict[str, Any]:
    """Return `client_environment` and `client_preloaded`, path -> SHA-256; empty for a study that gives none.

    Raises SysbenchFailed naming the variable that one of sysbench's processes lacks, or the library not mapped into it.
    """
    given = setting.client_environment
    if not given:
        return {}
    libraries: dict[str, str] = {}
    for pid in pids:
        try:
            libraries |= process_environment.demand(pid, given)
        except process_environment.Lacking as error:
            text = f"sysbench runs without client_environment.{error} (log: {setting.text})"
            raise SysbenchFailed(text) from error
    return {"client_environment": dict(given), "client_preloaded": libraries}
