"""Which CPUs the server and the load generator get: disjoint, whole cores of one NUMA node where there are enough."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

CLIENT_SHARE = 0.25
RANGES = re.compile(r"\d+(-\d+)?(,\d+(-\d+)?)*")


@dataclass(frozen=True, order=True)
class Cpu:
    """One logical CPU; two with the same socket and core are siblings of one SMT core."""

    node: int
    socket: int
    core: int
    number: int


@dataclass(frozen=True)
class Placement:
    """CPU numbers, ascending. `mode` is automatic, shared or stated; `note` says why, for the report."""

    mode: str
    server_cpus: tuple[int, ...]
    client_cpus: tuple[int, ...]
    note: str


def read_topology(root: Path = Path("/"), allowed: Iterable[int] | None = None) -> tuple[Cpu, ...]:
    """Read the CPUs this process may use.

    `allowed` defaults to sched_getaffinity, in which the kernel has already taken the cgroup's cpuset, taskset and
    isolcpus into account.
    """
    numbers = os.sched_getaffinity(0) if allowed is None else set(allowed)
    return tuple(sorted(_read_cpu(root / "sys/devices/system/cpu" / f"cpu{number}", number) for number in numbers))


def _read_cpu(directory: Path, number: int) -> Cpu:
    nodes = [int(entry.name[4:]) for entry in directory.glob("node[0-9]*")]
    core = _read_number(directory / "topology/core_id")
    return Cpu(
        node=min(nodes, default=0),
        socket=_read_number(directory / "topology/physical_package_id") or 0,
        # Without a topology every CPU counts as a core of its own.
        core=number if core is None else core,
        number=number,
    )


def _read_number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def place(topology: tuple[Cpu, ...], wanted: str | Mapping[str, Any] = "automatic") -> Placement:
    """Choose CPUs as a study's `placement` says: automatic, shared, or {server: "0-5", client: "6,7"}.

    Raises ValueError naming the key, its value and what was expected.
    """
    match wanted:
        case "automatic":
            return automatic(topology)
        case "shared":
            return _shared(topology, "the study says shared: server and load generator disturb each other")
        case Mapping():
            return stated(topology, wanted)
        case _:
            expected = 'automatic, shared, or {server: "0-5", client: "6,7"}'
            raise ValueError(f"placement: {wanted!r}, expected {expected}")


def automatic(topology: tuple[Cpu, ...]) -> Placement:
    """Give the load generator about a quarter of the cores, at least one, and the server the rest."""
    units, where = _units(topology)
    if len(units) < 2:
        return _shared(topology, "only one CPU: server and load generator share it, so gains are understated")
    client_units = max(1, round(len(units) * CLIENT_SHARE))
    return Placement(
        mode="automatic",
        server_cpus=_flatten(units[:-client_units]),
        client_cpus=_flatten(units[-client_units:]),
        note=f"{len(units) - client_units} of {where} for the server, {client_units} for the load generator",
    )


def _units(topology: tuple[Cpu, ...]) -> tuple[list[tuple[int, ...]], str]:
    """Return what is handed out whole, and its name: cores of the largest node, all cores, or a core's CPUs."""
    cores = _grouped(topology, lambda cpu: (cpu.node, cpu.socket, cpu.core))
    nodes = _grouped(topology, lambda cpu: cpu.node)
    largest = max(nodes, key=lambda node: len(_cores_of(cores, node)))
    in_node = _cores_of(cores, largest)
    if len(in_node) > 1:
        note = f" of NUMA node {largest[0].node}" if len(nodes) > 1 else ""
        return [_numbers(core) for core in in_node], f"{len(in_node)} cores{note}"
    if len(cores) > 1:
        return [_numbers(core) for core in cores], f"{len(cores)} cores, one in each NUMA node"
    return [(cpu.number,) for cpu in topology], f"{len(topology)} CPUs of one core"


def _cores_of(cores: list[tuple[Cpu, ...]], node: tuple[Cpu, ...]) -> list[tuple[Cpu, ...]]:
    return [core for core in cores if core[0].node == node[0].node]


def _grouped(topology: Iterable[Cpu], key) -> list[tuple[Cpu, ...]]:
    return [tuple(members) for _, members in groupby(sorted(topology), key)]


def _numbers(cpus: Iterable[Cpu]) -> tuple[int, ...]:
    return tuple(cpu.number for cpu in cpus)


def _flatten(units: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(sorted(number for unit in units for number in unit))


def _shared(topology: tuple[Cpu, ...], note: str) -> Placement:
    everything = tuple(sorted(_numbers(topology)))
    return Placement("shared", everything, everything, note)


def stated(topology: tuple[Cpu, ...], wanted: Mapping[str, Any]) -> Placement:
    """Take a study's own CPU sets. Raises ValueError naming what is wrong with them."""
    if set(wanted) != {"server", "client"}:
        found = ", ".join(map(str, wanted)) or "nothing"
        raise ValueError(f"placement: has {found}, expected exactly the keys server and client")
    available = set(_numbers(topology))
    server, client = (_available(f"placement.{key}", wanted[key], available) for key in ("server", "client"))
    common = sorted(set(server) & set(client))
    if common:
        raise ValueError(f"placement: server and client both have CPU {format_cpus(common)}, expected disjoint sets")
    return Placement("stated", server, client, _split_cores(topology, server, client))


def _available(key: str, value: Any, available: set[int]) -> tuple[int, ...]:
    cpus = parse_cpus(key, value)
    missing = [cpu for cpu in cpus if cpu not in available]
    if missing:
        text = f"{key}: CPU {format_cpus(missing)} is not to be had here, expected some of {format_cpus(available)}"
        raise ValueError(f"{text} (what this process may use, cgroup and affinity included)")
    return cpus


def _split_cores(topology: tuple[Cpu, ...], server: tuple[int, ...], client: tuple[int, ...]) -> str:
    cores = _grouped(topology, lambda cpu: (cpu.node, cpu.socket, cpu.core))
    split = [core for core in cores if set(_numbers(core)) & set(server) and set(_numbers(core)) & set(client)]
    if not split:
        return "as the study says"
    pairs = ", ".join(format_cpus(_numbers(core)) for core in split)
    return f"as the study says; server and load generator share the cores of CPUs {pairs} and slow each other down"


def parse_cpus(key: str, value: Any) -> tuple[int, ...]:
    """Read a CPU list, "0-3,6" or a plain number, into ascending numbers; `key` names it in the ValueError."""
    text = str(value).replace(" ", "")
    if isinstance(value, bool) or not RANGES.fullmatch(text):
        raise ValueError(f'{key}: {value!r} is no CPU list, expected something like "0-3,6"')
    numbers: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        if int(last or first) < int(first):
            raise ValueError(f"{key}: the range {part} runs backwards, expected {last}-{first}")
        numbers.update(range(int(first), int(last or first) + 1))
    return tuple(sorted(numbers))


def format_cpus(cpus: Iterable[int]) -> str:
    """Write CPU numbers as a list with ranges: (0, 1, 2, 5) gives "0-2,5"."""
    ordered = sorted(cpus)
    runs = [list(run) for _, run in groupby(enumerate(ordered), lambda pair: pair[1] - pair[0])]
    return ",".join(str(run[0][1]) if len(run) == 1 else f"{run[0][1]}-{run[-1][1]}" for run in runs)
