"""Which CPUs this process may use, which core, socket and NUMA node they are of, and lists of them as people write."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from scripts.host import read_cpu_quota

RANGES = re.compile(r"[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*")
NODES = re.compile(r"numa[0-9]+(,numa[0-9]+)*")
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

    `quota` is how many CPUs its cgroup may use at a time, None without a limit.
    """

    cpus: tuple[Cpu, ...]
    nodes: tuple[int, ...] = (0,)
    quota: float | None = None


def read_topology(root: Path = Path("/"), allowed: Iterable[int] | None = None) -> Topology:
    """Read the CPUs this process may use.

    `allowed` defaults to sched_getaffinity, in which the kernel has already taken the cgroup's cpuset, taskset,
    isolcpus and CPUs that are offline into account.
    """
    numbers = os.sched_getaffinity(0) if allowed is None else set(allowed)
    cpus = sorted(_read_cpu(root / "sys/devices/system/cpu" / f"cpu{number}", number) for number in numbers)
    nodes = _node_numbers(root / "sys/devices/system/node")
    return Topology(tuple(cpus), tuple(sorted(nodes)) or (0,), read_cpu_quota(root))


def _read_cpu(directory: Path, number: int) -> Cpu:
    # core_id is unique only within a die or cluster; the siblings are told the same way everywhere.
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


def parse_places(key: str, value: Any, topology: Topology) -> tuple[int, ...]:
    """Return the CPUs that "0-3,6", a plain number, "numa0" or "numa0,numa1" stands for, ascending.

    Raises ValueError naming `key`, the value, and what is to be had.
    """
    text = str(value).replace(" ", "")
    if NODES.fullmatch(text):
        return _cpus_of_nodes(key, [int(name[4:]) for name in text.split(",")], topology)
    cpus, available = parse_cpus(key, value), {cpu.number for cpu in topology.cpus}
    if missing := [cpu for cpu in cpus if cpu not in available]:
        text = f"{key}: CPU {format_cpus(missing)} is not to be had here, expected some of {format_cpus(available)}"
        raise ValueError(f"{text} (what this process may use, cgroup and affinity included)")
    return cpus


def _cpus_of_nodes(key: str, wanted: list[int], topology: Topology) -> tuple[int, ...]:
    found: list[int] = []
    for node in wanted:
        cpus = [cpu.number for cpu in topology.cpus if cpu.node == node]
        if node not in topology.nodes:
            raise ValueError(f"{key}: there is no numa{node} here, expected some of {_usable(topology)}")
        if not cpus:
            raise ValueError(
                f"{key}: numa{node} has no CPU that this process may use, expected some of {_usable(topology)}"
            )
        found += cpus
    return tuple(sorted(set(found)))


def _usable(topology: Topology) -> str:
    nodes = groupby(topology.cpus, lambda cpu: cpu.node)
    return ", ".join(f"numa{node} (CPU {format_cpus(cpu.number for cpu in cpus)})" for node, cpus in nodes)


def parse_cpus(key: str, value: Any) -> tuple[int, ...]:
    """Read a CPU list, "0-3,6" or a plain number, into ascending numbers; `key` names it in the ValueError."""
    text = str(value).replace(" ", "")
    if isinstance(value, bool) or not RANGES.fullmatch(text):
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
    """Write CPU numbers as a list with ranges: (0, 1, 2, 5) gives "0-2,5"."""
    ordered = sorted(cpus)
    runs = [list(run) for _, run in groupby(enumerate(ordered), lambda pair: pair[1] - pair[0])]
    return ",".join(str(run[0][1]) if len(run) == 1 else f"{run[0][1]}-{run[-1][1]}" for run in runs)
