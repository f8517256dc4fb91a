"""Facts of a host: CPUs, memory, kernel, limits of cgroups, traffic of its network interfaces.

Client hosts run this file too, with Python 3.8 and without the other modules: it imports the standard library alone.
"""

import contextlib
import os
import platform
import re
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

CPU_DIRECTORY = "sys/devices/system/cpu"
# Of cgroup version 2 and 1; without a limit, the first says "max" and the second 2^63 less one page, or less one byte.
MEMORY_LIMITS = ("memory.max", "memory.limit_in_bytes")
NO_LIMIT_BYTES = 2**62


@dataclass(frozen=True)
class Host:
    """Facts of a machine; None means unknown (a virtual machine has no governor, for one).

    `cpu_id` holds the numbers by which the CPU identifies itself: a virtual machine may hide its name. `virtualisation`
    and `container` hold a technology's name, None for none; `cpu_quota` is the cgroup's limit in CPUs; `thp` is the
    mode of transparent huge pages.
    """

    hostname: str
    machine_id: str | None
    boot_id: str | None
    distribution: str | None
    kernel: str
    cpu_model: str | None
    cpu_id: str | None
    microcode: str | None
    cpus: int
    cpu_quota: float | None
    memory_mib: int
    swap_mib: int
    numa_nodes: int
    smt: bool | None
    virtualisation: str | None
    container: str | None
    governor: str | None
    thp: str | None
    clocksource: str | None


def read_host(root: Path = Path("/")) -> Host:
    """Read the facts from /proc, /sys and /etc below `root`."""
    cpuinfo = _text(root, "proc/cpuinfo") or ""
    memory_mib = meminfo_mib(root)
    return Host(
        hostname=socket.gethostname(),
        machine_id=_text(root, "etc/machine-id"),
        boot_id=_text(root, "proc/sys/kernel/random/boot_id"),
        distribution=_match(r'^PRETTY_NAME="?([^"\n]+)', _text(root, "etc/os-release")),
        kernel=platform.release(),
        cpu_model=_match(r"^(?:model name|cpu model|Model)\s*: (.+)$", cpuinfo),
        cpu_id=_cpu_id(cpuinfo),
        microcode=_match(r"^microcode\s*: (.+)$", cpuinfo),
        cpus=len(re.findall(r"^processor\s*:", cpuinfo, re.MULTILINE)) or os.cpu_count() or 1,
        cpu_quota=read_cpu_quota(root),
        memory_mib=round(memory_mib["MemTotal"]),
        swap_mib=round(memory_mib["SwapTotal"]),
        numa_nodes=numa_nodes(root),
        smt=_flag(_text(root, f"{CPU_DIRECTORY}/smt/active")),
        virtualisation=_detect("--vm", root) or virtualisation_from(cpuinfo, _dmi(root)),
        container=_detect("--container", root),
        governor=_governor(root),
        thp=_match(r"\[(\w+)\]", _text(root, "sys/kernel/mm/transparent_hugepage/enabled")),
        clocksource=_text(root, "sys/devices/system/clocksource/clocksource0/current_clocksource"),
    )


def _cpu_id(cpuinfo: str) -> str | None:
    """Return family and model as x86 kernels print them, or implementer and part as those of ARM do."""
    names = {"cpu family": "family", "model": "model", "CPU implementer": "implementer", "CPU part": "part"}
    values = {text: _match(rf"^{name}\s*: (\w+)$", cpuinfo) for name, text in names.items()}
    return " ".join(f"{text} {value}" for text, value in values.items() if value) or None


def numa_nodes(root: Path = Path("/")) -> int:
    """Return the number of NUMA nodes, 1 for a kernel that knows none."""
    return len(list((root / "sys/devices/system/node").glob("node[0-9]*"))) or 1


def meminfo_mib(root: Path = Path("/")) -> dict[str, float]:
    """Return the entries of /proc/meminfo, in MiB."""
    lines = re.findall(r"^(\w+): +(\d+) kB$", _text(root, "proc/meminfo") or "", re.MULTILINE)
    return {name: int(kib) / 1024 for name, kib in lines}


def read_cpu_quota(root: Path = Path("/")) -> float | None:
    """Return how many CPUs this process's cgroup and those above it may use (version 2 or 1), None if not limited."""
    quotas = [_quota(folder) for folder in cgroup_folders(root, "cpu")]
    return min((quota for quota in quotas if quota is not None), default=None)


def read_memory_limit_mib(root: Path = Path("/")) -> float | None:
    """Return the memory this process's cgroup and those above it may use (version 2 or 1), None if not limited.

    A limit that the machine's memory does not reach is none.
    """
    files = [folder / name for folder in cgroup_folders(root, "memory") for name in MEMORY_LIMITS]
    texts = [_text(file.parent, file.name) or "" for file in files]
    most_mib = meminfo_mib(root).get("MemTotal", NO_LIMIT_BYTES / 2**20)
    limits_mib = [int(text) / 2**20 for text in texts if text.isdecimal()]
    return min((limit for limit in limits_mib if limit < most_mib), default=None)


def cgroup_folders(root: Path, controller: str) -> set[Path]:
    """Return the folders that may limit this process (version 2 or 1): a container sees its own cgroup as the root."""
    base = root / "sys/fs/cgroup"
    folders = {base, base / controller}
    for _, controllers, path in (line.split(":", 2) for line in (_text(root, "proc/self/cgroup") or "").splitlines()):
        parts = Path(path.lstrip("/")).parts
        if ".." not in parts and controller in (controllers or controller).split(","):
            # Of version 1, several controllers may share a folder that has no link of a single one's name.
            tops = (base / controller, base / controllers) if controllers else (base,)
            folders |= {top.joinpath(*parts[:depth]) for top in tops for depth in range(len(parts) + 1)}
    return folders


def _quota(folder: Path) -> float | None:
    both = _text(folder, "cpu.max")
    if both is None:
        parts = [_text(folder, f"cpu.cfs_{name}_us") for name in ("quota", "period")]
        both = " ".join(part for part in parts if part)
    quota, _, period = both.partition(" ")
    return int(quota) / int(period) if quota.isdecimal() and period.isdecimal() else None


def virtualisation_from(cpuinfo: str, vendor: str | None) -> str | None:
    """Guess the hypervisor when systemd-detect-virt is missing: the DMI vendor if the hypervisor flag is set."""
    if not re.search(r"^flags\s*:.*\bhypervisor\b", cpuinfo, re.MULTILINE):
        return None
    return vendor or "unknown hypervisor"


def _detect(kind: str, root: Path) -> str | None:
    # The program looks at the running machine, not at another root.
    if root != Path("/"):
        return None
    # Not through `host.process`, which is not shipped to client hosts.
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
        command = ["systemd-detect-virt", kind]
        answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=10)
        return answer.stdout.strip() if answer.returncode == 0 else None
    return None


def _dmi(root: Path) -> str | None:
    return _text(root, "sys/class/dmi/id/sys_vendor")


def _governor(root: Path) -> str | None:
    governors = {path.read_text().strip() for path in (root / CPU_DIRECTORY).glob("cpu[0-9]*/cpufreq/scaling_governor")}
    return ",".join(sorted(governors)) or None


def _flag(text: str | None) -> bool | None:
    return None if text is None else text == "1"


def _text(root: Path, path: str) -> str | None:
    try:
        return (root / path).read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None


def _match(pattern: str, text: str | None) -> str | None:
    match = re.search(pattern, text or "", re.MULTILINE)
    return match[1].strip() if match else None


# proc_pid_net(5): the receiver's eight fields, then the transmitter's.
TRAFFIC_FIELDS = {
    "rx_bytes": 0,
    "rx_packets": 1,
    "rx_dropped": 3,
    "tx_bytes": 8,
    "tx_packets": 9,
    "tx_dropped": 11,
}


def traffic_counters(root: Path = Path("/")) -> dict[str, dict[str, int]]:
    """Return bytes and packets by interface since boot, the loopback left out."""
    lines = (root / "proc/self/net/dev").read_text(encoding="utf-8").splitlines()[2:]
    counters = {name.strip(): list(map(int, rest.split())) for name, _, rest in (line.partition(":") for line in lines)}
    return {
        name: {key: fields[index] for key, index in TRAFFIC_FIELDS.items()}
        for name, fields in counters.items()
        if name != "lo"
    }


def traffic_rates(
    before: dict[str, dict[str, int]], after: dict[str, dict[str, int]], seconds: float
) -> dict[str, str | float] | None:
    """Return the interface with the most packets, and its traffic per second; None without interfaces.

    Of a bridge or a bond and its parts, one is counted.
    """
    moved = {
        name: {key: after[name][key] - before[name][key] for key in TRAFFIC_FIELDS} for name in before if name in after
    }
    if not moved:
        return None
    busiest = max(moved, key=lambda name: moved[name]["rx_packets"] + moved[name]["tx_packets"])
    return {"interface": busiest, **{f"{key}_per_s": moved[busiest][key] / seconds for key in TRAFFIC_FIELDS}}
