"""Choose the CPUs of server and load generator: disjoint, whole cores of one NUMA node if there are enough."""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TypeVar

from scripts.lib.host.machine_facts import read_cpu_quota
from scripts.lib.json_record import Json

Wanted = str | Mapping[str, Json]
Key = TypeVar("Key", int, tuple[int, int, int])
CPU_RANGES = re.compile(r"[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*")
NODES_DIRECTORY = re.compile(r"numa[0-9]+(,numa[0-9]+)*")
# Linux is built for 8192 CPUs at most.
LARGEST_CPU = 8191


@dataclass(frozen=True, order=True)
class Cpu:
    """One logical CPU; `core` is the lowest number of the CPUs that are siblings on one SMT core."""

    node: int
    socket: int
    core: int
    number: int


@dataclass(frozen=True)
class Topology:
    """The CPUs this process may use, in order of node, socket and core, and all NUMA nodes of the machine.

    `quota` is the number of CPUs that the cgroup may use at a time, None without a limit.
    """

    cpus: tuple[Cpu, ...]
    nodes: tuple[int, ...] = (0,)
    quota: float | None = None


def read_topology(root: Path = Path("/"), allowed: Iterable[int] | None = None) -> Topology:
    """Return the CPUs that this process may use, read from /sys below `root`.

    `allowed` defaults to sched_getaffinity, which already respects the cgroup's cpuset, taskset, isolcpus and offline
    CPUs.
    """
    numbers = os.sched_getaffinity(0) if allowed is None else set(allowed)
    cpus = sorted(_read_cpu(root / "sys/devices/system/cpu" / f"cpu{number}", number) for number in numbers)
    nodes = _node_numbers(root / "sys/devices/system/node")
    return Topology(tuple(cpus), tuple(sorted(nodes)) or (0,), read_cpu_quota(root))


def _read_cpu(directory: Path, number: int) -> Cpu:
    # core_id is unique only within a die or cluster; the list of siblings is correct everywhere.
    siblings = re.match(r"\d+", _text(directory / "topology/thread_siblings_list"))
    package = _text(directory / "topology/physical_package_id")
    return Cpu(
        node=min(_node_numbers(directory), default=0),
        socket=int(package) if package.isdecimal() else 0,
        core=int(siblings[0]) if siblings else number,
        number=number,
    )


def _node_numbers(directory: Path) -> list[int]:
    return [int(entry.name[4:]) for entry in directory.glob("node[0-9]*")]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def parse_places(key: str, value: Json, topology: Topology) -> tuple[int, ...]:
    """Return the ascending CPU numbers of "0-3,6", a plain number, "numa0" or "numa0,numa1".

    Raises ValueError naming `key`, the value, and the available CPUs.
    """
    text = str(value).replace(" ", "")
    if NODES_DIRECTORY.fullmatch(text):
        return _cpus_of_nodes(key, [int(name[4:]) for name in text.split(",")], topology)
    cpus, available = parse_cpus(key, value), {cpu.number for cpu in topology.cpus}
    if missing := [cpu for cpu in cpus if cpu not in available]:
        text = f"{key}: CPU {format_cpus(missing)} is not available here, expected some of {format_cpus(available)}"
        raise ValueError(f"{text} (what this process may use, cgroup and affinity included)")
    return cpus


def _cpus_of_nodes(key: str, nodes: list[int], topology: Topology) -> tuple[int, ...]:
    numbers: set[int] = set()
    for node in nodes:
        cpus = [cpu.number for cpu in topology.cpus if cpu.node == node]
        if node not in topology.nodes:
            raise ValueError(f"{key}: there is no numa{node} here, expected some of {_usable(topology)}")
        if not cpus:
            raise ValueError(
                f"{key}: numa{node} has no CPU that this process may use, expected some of {_usable(topology)}"
            )
        numbers.update(cpus)
    return tuple(sorted(numbers))


def _usable(topology: Topology) -> str:
    nodes = groupby(topology.cpus, lambda cpu: cpu.node)
    return ", ".join(f"numa{node} (CPU {format_cpus(cpu.number for cpu in cpus)})" for node, cpus in nodes)


def parse_cpus(key: str, value: Json) -> tuple[int, ...]:
    """Return the ascending CPU numbers of a list, "0-3,6" or a plain number. Raises ValueError naming `key`."""
    text = str(value).replace(" ", "")
    if isinstance(value, bool) or not CPU_RANGES.fullmatch(text):
        raise ValueError(f'{key}: {value!r} is no CPU list, expected something like "0-3,6", or "numa0" for a node')
    numbers: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        if int(last or first) < int(first):
            raise ValueError(f"{key}: the range {part} runs backwards, expected {last}-{first}")
        if int(last or first) > LARGEST_CPU:
            raise ValueError(f"{key}: there is no CPU {last or first}, expected 0 to {LARGEST_CPU}")
        numbers.update(range(int(first), int(last or first) + 1))
    return tuple(sorted(numbers))


def format_cpus(cpus: Iterable[int]) -> str:
    """Return CPU numbers as a list with ranges: (0, 1, 2, 5) gives "0-2,5"."""
    ordered = sorted(cpus)
    runs = [list(run) for _, run in groupby(enumerate(ordered), lambda pair: pair[1] - pair[0])]
    return ",".join(str(run[0][1]) if len(run) == 1 else f"{run[0][1]}-{run[-1][1]}" for run in runs)


CLIENT_SHARE = 0.25
FIRST_TOUCH = "its memory is allocated there by first touch"
Unit = tuple[int, ...]


@dataclass(frozen=True)
class Placement:
    """CPU numbers, ascending. `mode` is automatic, shared, stated, remote or running.

    `note` is the reason, for the report; `server_cpus` is None where they are unknown.
    """

    mode: str
    server_cpus: tuple[int, ...] | None
    client_cpus: tuple[int, ...]
    note: str


def place_processes(topology: Topology, asked_cpus: Wanted = "automatic") -> Placement:
    """Choose CPUs by a study's `placement`: automatic, or {server: "0-5", client: "6,7"}, or nodes: "numa0".

    Raises ValueError naming the key, its value, what was expected, and what this machine has.
    """
    match asked_cpus:
        case "automatic":
            return automatic_placement(topology)
        case Mapping():
            return stated_placement(topology, asked_cpus)
        case _:
            expected = 'automatic, {server: "0-5", client: "6,7"} or {server: numa0, client: numa1}'
            raise ValueError(f"placement: {asked_cpus!r}, expected {expected}")


def automatic_placement(topology: Topology) -> Placement:
    """Give the load generator about a quarter of the cores, at least one, and the server the rest.

    At most as many CPUs are used as the cgroup's quota can run at a time: beyond it, the kernel stops both for the rest
    of each tenth of a second, which would distort the measurement.
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
    """Return the units to distribute and a text for them: cores of the largest node, all cores, or CPUs of one core."""
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
    """Return as many whole cores as the quota can run; if fewer than two, one CPU per core of as many cores."""
    if quota is None or quota >= sum(map(len, cores)):
        return cores
    within = [core for index, core in enumerate(cores) if sum(map(len, cores[: index + 1])) <= quota]
    return within if len(within) > 1 else [core[:1] for core in cores[: max(1, int(quota))]]


def _shared(units: list[Unit], limit: str) -> Placement:
    cpus = _flatten(units)
    return Placement(
        "shared", cpus, cpus, f"only one CPU: server and load generator share it, so gains are understated{limit}"
    )


def server_alone(topology: Topology, asked_cpus: Wanted, client_host: str) -> Placement:
    """Give the server the cores of one NUMA node, or the CPUs a study states, if the load generator is on another host.

    The process that relays the load generator's output may use every CPU. Raises ValueError as `parse_places` does.
    """
    everywhere = _numbers(topology.cpus)
    if isinstance(asked_cpus, Mapping):
        server = parse_places("placement.server", asked_cpus["server"], topology)
        notes = ["as the study says", _spread(topology, server), f"the load generator is on {client_host}"]
        return Placement("remote", server, tuple(sorted(everywhere)), "; ".join(filter(None, notes)))
    cores, where = _units(topology)
    note = f"{where} for the server, the load generator is on {client_host}"
    return Placement("remote", _flatten(_within_quota(cores, topology.quota)), tuple(sorted(everywhere)), note)


def client_alone(topology: Topology) -> Placement:
    """Give the load generator all CPUs of this machine, if the server already runs elsewhere."""
    note = "all CPUs of this machine for the load generator; the server already runs, its CPUs are unknown"
    return Placement("running", None, tuple(sorted(_numbers(topology.cpus))), note)


def stated_placement(topology: Topology, asked_cpus: Mapping[str, Json]) -> Placement:
    """Return the CPU sets that a study states. Raises ValueError naming the key, its value and what was expected."""
    if set(asked_cpus) != {"server", "client"}:
        keys = ", ".join(map(str, asked_cpus)) or "nothing"
        raise ValueError(f"placement: has {keys}, expected exactly the keys server and client")
    server, client = (parse_places(f"placement.{key}", asked_cpus[key], topology) for key in ("server", "client"))
    if common := set(server) & set(client):
        raise ValueError(
            f"placement: server ({asked_cpus['server']}) and client ({asked_cpus['client']}) both have "
            f"CPU {format_cpus(common)}, expected disjoint sets"
        )
    notes = [_spread(topology, server), _split_cores(topology, server, client), _over_quota(topology, server, client)]
    return Placement("stated", server, client, "; ".join(["as the study says", *filter(None, notes)]))


def _spread(topology: Topology, server: Unit) -> str:
    """Return a note on which nodes hold the server's memory; empty on a machine with one node and one socket."""
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


def _grouped(cpus: Iterable[Cpu], key: Callable[[Cpu], Key]) -> list[tuple[Cpu, ...]]:
    return [tuple(members) for _, members in groupby(sorted(cpus), key)]


def _numbers(cpus: Iterable[Cpu]) -> Unit:
    return tuple(cpu.number for cpu in cpus)


def _flatten(units: Iterable[Unit]) -> Unit:
    return tuple(sorted(number for unit in units for number in unit))
