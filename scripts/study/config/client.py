"""Mistakes about the host and the environment of the load generator."""

import ipaddress
from collections.abc import Iterator

from scripts.measure.loadgen.processes import MOST_CLIENTS
from scripts.study.config.declared_hosts import CpuPlacement
from scripts.study.config.mistakes import Mistake
from scripts.study.config.sound import Sound

# The gates that hold sysbench's clients read such variables.
OWN_PREFIX = "GATE"


def client_environment_mistakes(sound: Sound) -> Iterator[Mistake]:
    """Yield mistakes about sysbench's environment."""
    variables = sound.declared.client_environment
    if not variables:
        return
    if sound.declared.client:
        text = f"{variables!r}, expected none beside `client`: sysbench has the environment of the other host"
        yield Mistake(("client_environment",), text)
    for name in variables:
        if name.startswith(OWN_PREFIX):
            text = f"the workflow itself sets variables that begin with {OWN_PREFIX}, expected another name"
            yield Mistake(("client_environment", name), text)
    if sound.is_timed_sql_alone:
        text = "all workloads are timed SQL, whose statements the workflow itself sends, expected one with a script"
        yield Mistake(("client_environment",), text)


def client_host_mistakes(sound: Sound) -> Iterator[Mistake]:
    """Yield mistakes about the client host."""
    if not (client := sound.declared.client):
        return
    if client.address and (text := _unreachable(client.address)):
        yield Mistake(("client", "address"), f"{client.address!r}, expected {text}")
    for name, load in sound.loads.items():
        if load.sql:
            text = "timed SQL: this host sends its statements, whoever the client host is; expected one with a script"
            yield Mistake(("workloads", name), text)
    for index, clients in enumerate(sound.declared.clients):
        if clients > MOST_CLIENTS:
            text = f"{clients}, expected at most {MOST_CLIENTS}: that is what one sysbench on a client host carries"
            yield Mistake(("clients", index), text)
    placement = sound.declared.placement
    if isinstance(placement, CpuPlacement) and str(placement.client).startswith("numa"):
        text = f"{placement.client!r}, expected CPU numbers: they are those of the client host"
        yield Mistake(("placement", "client"), text)


def _unreachable(address: str) -> str:
    """Return what was expected in place of an address that is none, or that no other host reaches."""
    try:
        host_address = ipaddress.ip_address(address)
    except ValueError:
        return "an IP address such as 10.0.0.1"
    if host_address.is_loopback or host_address.is_unspecified or host_address.is_multicast:
        return "one address of this host that the client host reaches"
    return ""
