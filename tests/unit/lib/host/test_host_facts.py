"""Facts of a machine, read from recorded /proc and /sys files."""

import socket
from pathlib import Path

import pytest

from scripts.lib.host.machine_facts import read_cpu_quota, read_host, virtualisation_from

FILES = {
    "proc/cpuinfo": """processor\t: 0
cpu family\t: 6
model\t\t: 63
model name\t: Intel(R) Xeon(R) CPU E5-2643 v3 @ 3.40GHz
microcode\t: 0x49
flags\t\t: fpu vme sse2

processor\t: 1
model name\t: Intel(R) Xeon(R) CPU E5-2643 v3 @ 3.40GHz
microcode\t: 0x49
flags\t\t: fpu vme sse2
""",
    "proc/meminfo": "MemTotal:       131922940 kB\nMemAvailable: 1024 kB\nSwapTotal:      4194300 kB\n",
    "proc/sys/kernel/random/boot_id": "c34aa929-b2ec-4924-98b8-8b6a19f1c20f\n",
    "etc/machine-id": "0123456789abcdef0123456789abcdef\n",
    "etc/os-release": 'NAME="Rocky Linux"\nPRETTY_NAME="Rocky Linux 8.9 (Green Obsidian)"\n',
    "sys/devices/system/cpu/smt/active": "1\n",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
    "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "powersave\n",
    "sys/devices/system/node/node0/cpulist": "0\n",
    "sys/devices/system/node/node1/cpulist": "1\n",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
    "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
}


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_facts_are_read_from_proc_and_sys(tmp_path):
    host = read_host(write(tmp_path, FILES))
    assert host.cpu_model == "Intel(R) Xeon(R) CPU E5-2643 v3 @ 3.40GHz"
    assert host.cpu_id == "family 6 model 63"
    assert (host.microcode, host.cpus, host.numa_nodes, host.smt) == ("0x49", 2, 2, True)
    assert (host.memory_mib, host.swap_mib) == (128831, 4096)
    assert host.boot_id == "c34aa929-b2ec-4924-98b8-8b6a19f1c20f"
    assert host.machine_id == "0123456789abcdef0123456789abcdef"
    assert host.distribution == "Rocky Linux 8.9 (Green Obsidian)"
    assert (host.thp, host.clocksource) == ("madvise", "tsc")
    assert host.virtualisation is None
    assert host.hostname == socket.gethostname()


def test_cpus_with_different_governors_are_told(tmp_path):
    assert read_host(write(tmp_path, FILES)).governor == "performance,powersave"


def test_what_the_machine_does_not_tell_is_none(tmp_path):
    host = read_host(write(tmp_path, {"proc/meminfo": FILES["proc/meminfo"]}))
    unknown = (host.governor, host.thp, host.smt, host.machine_id, host.boot_id, host.clocksource, host.cpu_model)
    assert unknown == (None,) * 7
    assert host.cpu_id is None


def test_numbers_of_a_cpu_of_arm(tmp_path):
    cpuinfo = "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n"
    host = read_host(write(tmp_path, {**FILES, "proc/cpuinfo": cpuinfo}))
    assert (host.cpu_model, host.cpu_id) == (None, "implementer 0x41 part 0xd0c")


def test_own_machine_is_read():
    host = read_host()
    assert host.cpus >= 1
    assert host.memory_mib > 100
    assert len(host.boot_id) == 36


@pytest.mark.parametrize(
    ("flags", "vendor", "expected"),
    [("fpu vme", "QEMU", None), ("fpu hypervisor", "QEMU", "QEMU"), ("fpu hypervisor", None, "unknown hypervisor")],
)
def test_virtualisation_is_seen_without_systemd(flags, vendor, expected):
    assert virtualisation_from(f"flags\t\t: {flags}\n", vendor) == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"cpu.max": "150000 100000\n"}, 1.5),
        ({"cpu.max": "max 100000\n"}, None),
        ({"cpu/cpu.cfs_quota_us": "200000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 2.0),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
        ({"cpu/cpu.cfs_quota_us": "200000\n"}, None),
        ({}, None),
    ],
)
def test_cpu_quota_of_both_cgroup_versions(tmp_path, files, expected):
    write(tmp_path, {f"sys/fs/cgroup/{name}": text for name, text in files.items()})
    assert read_cpu_quota(tmp_path) == expected


@pytest.mark.parametrize(
    ("own", "files", "expected"),
    [
        ("0::/a.slice/b.scope", {"a.slice/cpu.max": "200000 100000", "a.slice/b.scope/cpu.max": "max 100000"}, 2.0),
        ("0::/a.slice/b.scope", {"a.slice/cpu.max": "400000 100000", "a.slice/b.scope/cpu.max": "150000 100000"}, 1.5),
        ("0::/a.slice", {"other.slice/cpu.max": "100000 100000"}, None),
        ("0::/../a.slice", {"a.slice/cpu.max": "100000 100000"}, None),
        (
            "5:memory:/m\n4:cpu,cpuacct:/a",
            {f"cpu/a/cpu.cfs_{n}_us": s for n, s in (("quota", "5"), ("period", "2"))},
            2.5,
        ),
        (
            "4:cpu,cpuacct:/a",
            {f"cpu,cpuacct/a/cpu.cfs_{n}_us": s for n, s in (("quota", "5"), ("period", "2"))},
            2.5,
        ),
        ("0::/", {"cpu.max": "max"}, None),
    ],
)
def test_cpu_quota_is_the_smallest_of_own_cgroup_and_those_above(tmp_path, own, files, expected):
    write(tmp_path, {f"sys/fs/cgroup/{name}": text for name, text in files.items()} | {"proc/self/cgroup": own})
    assert read_cpu_quota(tmp_path) == expected
