"""The parts of a run's record about the machine: what it is, where the run was placed, what it was short of."""

from collections.abc import Collection
from dataclasses import dataclass

from scripts.lib.parts import Part


@dataclass(frozen=True, slots=True)
class HostFacts(Part):
    """A machine, as `host.facts.Host` describes it."""

    hostname: str | None = None
    machine_id: str | None = None
    boot_id: str | None = None
    distribution: str | None = None
    kernel: str | None = None
    cpu_model: str | None = None
    cpu_id: str | None = None
    microcode: str | None = None
    cpus: int | None = None
    cpu_quota: float | None = None
    memory_mib: int | None = None
    swap_mib: int | None = None
    numa_nodes: int | None = None
    smt: bool | None = None
    virtualisation: str | None = None
    container: str | None = None
    governor: str | None = None
    thp: str | None = None
    clocksource: str | None = None

    def written_empty(self) -> Collection[str]:
        """Return none where nothing is known of the machine."""
        return self.values().keys() if self else ()

    @property
    def cpu(self) -> str | None:
        """The name of the CPU with its numbers, as far as they are known: kernels of ARM may print no name."""
        return f"{self.cpu_model} ({self.cpu_id})" if self.cpu_model and self.cpu_id else self.cpu_model or self.cpu_id


@dataclass(frozen=True, slots=True)
class PlacementFacts(Part):
    """The CPUs of this machine that server and load generator could run on, as `host.cpus.Placement` has them."""

    mode: str | None = None
    server_cpus: list[int] | None = None
    client_cpus: list[int] | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Pressure(Part):
    """Seconds of the window in which something waited (pressure stall information)."""

    cpu_some_s: float | None = None
    io_some_s: float | None = None
    memory_some_s: float | None = None


@dataclass(frozen=True, slots=True)
class Memory(Part):
    """The host's memory at both edges of the window, and the processes the kernel killed in it for lack of memory."""

    available_mib_before: float | None = None
    available_mib_after: float | None = None
    swap_used_mib_before: float | None = None
    swap_used_mib_after: float | None = None
    oom_kills: int | None = None


@dataclass(frozen=True, slots=True)
class SuppliesFacts(Part):
    """What the server got of supplies that all servers of a machine share, as `host.supplies.Got` describes it."""

    huge_pages_mib: float | None = None
    aio_contexts: int | None = None
    io_urings: int | None = None
    locked_mib: float | None = None
