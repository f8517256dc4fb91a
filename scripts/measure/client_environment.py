"""The proof that the processes of a load have the environment variables that a study gives them."""

from collections.abc import Iterable
from typing import Any

from scripts.loadgen.output import SysbenchFailed
from scripts.measure.setting import Setting
from scripts.servers import environment


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
            libraries |= environment.demand(pid, given)
        except environment.Lacking as error:
            text = f"sysbench runs without client_environment.{error} (log: {setting.text})"
            raise SysbenchFailed(text) from error
    return {"client_environment": dict(given), "client_preloaded": libraries}
