"""Which CPUs the server and the load generator get: disjoint, whole cores of one NUMA node where there are enough."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from scripts.topology import Cpu, Topology, format_cpus, parse_places, read_topology

CLIENT_SHARE = 0.25
FIRST_TOUCH = "its memory is allocated there by first touch"
Unit = tuple[int, ...]


@dataclass(frozen=True)
class Placement:
    """CPU numbers, ascending. `mode` is automatic, shared, stated or remote; `note` says why, for the report."""

    mode: str
    server_cpus: tuple[int, ...]
    client_cpus: tuple[int, ...]
    note: str


def here(wanted: str | Mapping[str, Any] = "automatic") -> Placement:
    """Choose CPUs of this machine as a study's `placement` says. Raises ValueError as `place` does."""
    return place(read_topology(), wanted)


def place(topology: Topology, wanted: str | Mapping[str, Any] = "automatic") -> Placement:
    """Choose CPUs as a study's `placement` says: automatic, or {server: "0-5", client: "6,7"}, or nodes: "numa0".

    Raises ValueError naming the key, its value, what was expected, and what this machine has.
    """
    match wanted:
        case "automatic":
            return automatic(topology)
        case Mapping():
            return stated(topology, wanted)
        case _:
            expected = 'automatic, {server: "0-5", client: "6,7"} or {server: numa0, client: numa1}'
            raise ValueError(f"placement: {wanted!r}, expected {expected}")


def automatic(topology: Topology) -> Placement:
    """Give the load generator about a quarter of the cores, at least one, and the server the rest.

    No more CPUs are handed out than a cgroup's quota can run at a time: beyond it the kernel stops both for the rest
    of each tenth of a second, and that would be measured.
    """
    cores, where = _units(topology)
    units = _within_quota(cores, topology.quota)
    limit = "" if units == cores else f"; more would exceed the cgroup's quota of {topology.quota:.1f} CPUs"
    if len(units) < 2:
        return _shared(units, limit)
    client_units = max(1, round(len(units) * CLIENT_SHARE))
    part = "" if set(units) <= set(cores) else ", one CPU of each,"
    for_server = f"{len(units) - client_units} of {where}{part} for the server"
    return Placement(
        mode="automatic",
        server_cpus=_flatten(units[:-client_units]),
        client_cpus=_flatten(units[-client_units:]),
        note=f"{for_server}, {client_units} for the load generator{limit}",
    )


def _units(topology: Topology) -> tuple[list[Unit], str]:
    """Return what is handed out whole, and its name: cores of the largest node, all cores, or a core's CPUs."""
    cores = _grouped(topology.cpus, _core)
    nodes = _grouped(topology.cpus, lambda cpu: cpu.node)
    largest = max(nodes, key=lambda node: len(_cores_of(cores, node)))
    in_node = _cores_of(cores, largest)
    if len(in_node) > 1:
        note = f" of NUMA node {largest[0].node}" if len(nodes) > 1 else ""
        return [_numbers(core) for core in in_node], f"{len(in_node)} cores{note}"
    if len(cores) > 1:
        return [_numbers(core) for core in cores], f"{len(cores)} cores, one in each NUMA node"
    return [(cpu.number,) for cpu in topology.cpus], f"{len(topology.cpus)} CPUs of one core"


def _within_quota(cores: list[Unit], quota: float | None) -> list[Unit]:
    """Return as many whole cores as the quota runs; where that is not two, one CPU each of as many cores."""
    if quota is None or quota >= sum(map(len, cores)):
        return cores
    whole = [core for index, core in enumerate(cores) if sum(map(len, cores[: index + 1])) <= quota]
    return whole if len(whole) > 1 else [core[:1] for core in cores[: max(1, int(quota))]]


def _shared(units: list[Unit], limit: str) -> Placement:
    cpus = _flatten(units)
    return Placement(
        "shared", cpus, cpus, f"only one CPU: server and load generator share it, so gains are understated{limit}"
    )


def server_alone(topology: Topology, wanted: str | Mapping[str, Any], client_host: str) -> Placement:
    """Give the server the cores of one NUMA node, or the CPUs a study states: the load generator is on another host.

    What passes the load generator's words on may run on every CPU. Raises ValueError as `place` does.
    """
    everywhere = _numbers(topology.cpus)
    if isinstance(wanted, Mapping):
        server = parse_places("placement.server", wanted["server"], topology)
        notes = ["as the study says", _spread(topology, server), f"the load generator is on {client_host}"]
        return Placement("remote", server, tuple(sorted(everywhere)), "; ".join(filter(None, notes)))
    cores, where = _units(topology)
    note = f"{where} for the server, the load generator is on {client_host}"
    return Placement("remote", _flatten(_within_quota(cores, topology.quota)), tuple(sorted(everywhere)), note)


def stated(topology: Topology, wanted: Mapping[str, Any]) -> Placement:
    """Take a study's own CPU sets. Raises ValueError naming what is wrong with them."""
    if set(wanted) != {"server", "client"}:
        found = ", ".join(map(str, wanted)) or "nothing"
        raise ValueError(f"placement: has {found}, expected exactly the keys server and client")
    server, client = (parse_places(f"placement.{key}", wanted[key], topology) for key in ("server", "client"))
    if common := set(server) & set(client):
        raise ValueError(
            f"placement: server ({wanted['server']}) and client ({wanted['client']}) both have "
            f"CPU {format_cpus(common)}, expected disjoint sets"
        )
    notes = [_spread(topology, server), _split_cores(topology, server, client), _over_quota(topology, server, client)]
    return Placement("stated", server, client, "; ".join(["as the study says", *filter(None, notes)]))


def _spread(topology: Topology, server: Unit) -> str:
    """Say where the server's memory will be; nothing on a machine that has one node and one socket."""
    cpus = [cpu for cpu in topology.cpus if cpu.number in server]
    nodes, sockets = sorted({cpu.node for cpu in cpus}), {cpu.socket for cpu in cpus}
    if len(nodes) > 1:
        across = f"NUMA nodes {', '.join(map(str, nodes))}" + (
            f" of {len(sockets)} sockets" if len(sockets) > 1 else ""
        )
        return f"the server's CPUs span {across}: part of its accesses to memory cross between them"
    if len(sockets) > 1:
        return f"the server's CPUs span {len(sockets)} sockets: they share data only through the link between them"
    return f"the server's CPUs are of NUMA node {nodes[0]}: {FIRST_TOUCH}" if len(topology.nodes) > 1 else ""


def _split_cores(topology: Topology, server: Unit, client: Unit) -> str:
    cores = [set(_numbers(core)) for core in _grouped(topology.cpus, _core)]
    split = [format_cpus(core) for core in cores if core & set(server) and core & set(client)]
    if not split:
        return ""
    return f"server and load generator share the cores of CPUs {', '.join(split)} and slow each other down"


def _over_quota(topology: Topology, server: Unit, client: Unit) -> str:
    count = len(server) + len(client)
    if topology.quota is None or topology.quota >= count:
        return ""
    return f"{count} CPUs exceed the cgroup's quota of {topology.quota:.1f}: both are stopped whenever it is used up"


def _core(cpu: Cpu) -> tuple[int, int, int]:
    return cpu.node, cpu.socket, cpu.core


def _cores_of(cores: list[tuple[Cpu, ...]], node: tuple[Cpu, ...]) -> list[tuple[Cpu, ...]]:
    return [core for core in cores if core[0].node == node[0].node]


def _grouped(cpus: Iterable[Cpu], key: Callable[[Cpu], Any]) -> list[tuple[Cpu, ...]]:
    return [tuple(members) for _, members in groupby(sorted(cpus), key)]


def _numbers(cpus: Iterable[Cpu]) -> Unit:
    return tuple(cpu.number for cpu in cpus)


def _flatten(units: Iterable[Unit]) -> Unit:
    return tuple(sorted(number for unit in units for number in unit))
