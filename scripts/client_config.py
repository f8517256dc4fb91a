"""What of a study's `client`, the host of its load generator, makes no sense."""

import ipaddress
from collections.abc import Iterator, Mapping
from typing import Any

from scripts.config_mistakes import Mistake
from scripts.sysbench_many import MOST_CLIENTS

# What the server is told for the client host's sake, in the words of all families.
OWNED = ("skip_networking", "bind_address", "listen_addresses", "port", "skip_name_resolve")


def mistakes(config: dict[str, Any], workloads: dict[str, dict[str, Any]]) -> Iterator[Mistake]:
    """Find what goes wrong with a client host; `workloads` are the whole ones by name."""
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
    yield from _placement(config.get("placement"))
    yield from _options(config)


def _unreachable(address: str) -> str:
    """Return what was expected in place of an address that is none, or that no other host reaches."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return "an IP address such as 10.0.0.1"
    if found.is_loopback or found.is_unspecified or found.is_multicast:
        return "one address of this host that the client host reaches"
    return ""


def _placement(placement: Any) -> Iterator[Mistake]:
    cpus = placement.get("client") if isinstance(placement, Mapping) else None
    if isinstance(cpus, str) and cpus.startswith("numa"):
        yield Mistake(("placement", "client"), f"{cpus!r}, expected CPU numbers: they are those of the client host")


def _options(config: dict[str, Any]) -> Iterator[Mistake]:
    variants = [(("variants", name, "options"), own.get("options")) for name, own in config.get("variants", {}).items()]
    for path, options in [(("options",), config.get("options")), *variants]:
        for name in OWNED:
            if name in (options or {}):
                yield Mistake((*path, name), f"{options[name]!r} cannot be set here, it comes from `client`")
