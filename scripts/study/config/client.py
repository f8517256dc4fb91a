"""Mistakes about the host and the environment of the load generator."""

import ipaddress
from collections.abc import Iterator, Mapping
from typing import Any

from scripts.measure.loadgen.many import MOST_CLIENTS
from scripts.study.config.mistakes import Mistake

# The gates that hold sysbench's clients read such variables.
OWN_PREFIX = "GATE"


def client_environment_mistakes(config: dict[str, Any], workloads: dict[str, dict[str, Any]]) -> Iterator[Mistake]:
    """Yield mistakes about sysbench's environment; `workloads` are the complete entries by name."""
    given = config.get("client_environment")
    if not given:
        return
    if "client" in config:
        text = f"{given!r}, expected none beside `client`: sysbench has the environment of the other host"
        yield Mistake(("client_environment",), text)
    for name in given:
        if name.startswith(OWN_PREFIX):
            text = f"the workflow itself sets variables that begin with {OWN_PREFIX}, expected another name"
            yield Mistake(("client_environment", name), text)
    if (ours := config.get("workloads")) and all("sql" in workloads.get(name, {}) for name in ours):
        text = "all workloads are timed SQL, whose statements the workflow itself sends, expected one with a script"
        yield Mistake(("client_environment",), text)


def client_host_mistakes(config: dict[str, Any], workloads: dict[str, dict[str, Any]]) -> Iterator[Mistake]:
    """Yield mistakes about the client host; `workloads` are the complete entries by name."""
    if not (client := config.get("client")):
        return
    if (address := client.get("address")) and (text := _unreachable(address)):
        yield Mistake(("client", "address"), f"{address!r}, expected {text}")
    for name in config.get("workloads", {}):
        if "sql" in workloads.get(name, {}):
            text = "timed SQL: this host sends its statements, whoever the client host is; expected one with a script"
            yield Mistake(("workloads", name), text)
    for place, clients in enumerate(config.get("clients", ())):
        if clients > MOST_CLIENTS:
            text = f"{clients}, expected at most {MOST_CLIENTS}: that is what one sysbench on a client host carries"
            yield Mistake(("clients", place), text)
    yield from _client_placement(config.get("placement"))


def _unreachable(address: str) -> str:
    """Return what was expected in place of an address that is none, or that no other host reaches."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return "an IP address such as 10.0.0.1"
    if found.is_loopback or found.is_unspecified or found.is_multicast:
        return "one address of this host that the client host reaches"
    return ""


def _client_placement(placement: Any) -> Iterator[Mistake]:
    cpus = placement.get("client") if isinstance(placement, Mapping) else None
    if isinstance(cpus, str) and cpus.startswith("numa"):
        yield Mistake(("placement", "client"), f"{cpus!r}, expected CPU numbers: they are those of the client host")
