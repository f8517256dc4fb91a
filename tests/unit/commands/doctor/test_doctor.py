"""Each finding of the preflight raised and not raised, on made-up machines; the whole of it on this one."""

import io
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from rich.console import Console

from scripts.build.compilation.toolchain import Toolchain
from scripts.build.sources import debian
from scripts.commands.doctor import __main__ as doctor
from scripts.commands.doctor import folder_checks, load_checks, machine_checks, source_checks, tool_checks
from scripts.commands.doctor.checkup import CheckResult, Machine, answer
from scripts.commands.doctor.folder_checks import FolderSeen
from scripts.commands.doctor.needs import Needs
from scripts.lib.host import locks
from scripts.lib.host import storage as host_storage
from scripts.lib.host.cpus import Cpu, Topology
from scripts.lib.host.entry import WrongCall
from scripts.lib.host.machine_facts import read_memory_limit_mib
from scripts.lib.host.usage import CpuTimes
from scripts.measure.engine.warnings import THRESHOLDS
from scripts.measure.loadgen.sysbench import Capabilities
from scripts.study.config.loading import load as load_study
from scripts.study.config.yaml_lines import ConfigError
from scripts.study.plan.preview.limit import MachineLimit
from tests.endtoend.folders import open_folder
from tests.made.served import Files, served
from tests.made.studies import CHECKOUT, config, paths

CPU = "sys/devices/system/cpu"
CLOCK = "sys/devices/system/clocksource/clocksource0"
SYSBENCH = Capabilities("/bin/sysbench", "1.0.20", "LuaJIT 2.1", "0" * 64, ("mysql", "pgsql"), frozenset())
TWO_CPUS = Topology((Cpu(0, 0, 0, 0), Cpu(0, 0, 1, 1)))
SMALL_TEXT = yaml.safe_dump({key: value for key, value in config().items() if key != "reference"})
ALONE, BEYOND = {"placement": "automatic"}, {"server": "0", "client": "4"}


def needs(**changes) -> Needs:
    return Needs(load_study(config(**changes), CHECKOUT, "small.yaml"))


def variants(*builds: str, server: str = "postgresql-15", **more: str) -> dict:
    made = {f"v{number}": {"server": server, "build": build, **more} for number, build in enumerate(builds)}
    return {"variants": made, "reference": "v0"}


def machine(root: Path, files: dict[str, str] | None = None, answers: dict[str, str] | None = None) -> Machine:
    for name, text in (files or {}).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return Machine(root, lambda command, *_: (answers or {}).get(command))


def told(finding: CheckResult) -> str:
    return f"{finding.fact} | {finding.why} | {finding.change}"


def expect(found: CheckResult, state: str, *parts: str) -> None:
    assert found.state == state, told(found)
    assert all(part in told(found) for part in parts), told(found)
    assert (state == "ok") == (not found.why) == (not found.change), "what is not ok says why, and what changes it"


@pytest.mark.parametrize(
    ("check", "files", "state", "parts"),
    [
        (machine_checks.boost, {}, "ok", ["cannot be set"]),
        (machine_checks.boost, {f"{CPU}/intel_pstate/no_turbo": "1"}, "ok", ["off"]),
        (machine_checks.boost, {f"{CPU}/intel_pstate/no_turbo": "0"}, "note", ["on", "echo 1 |", "no_turbo"]),
        (machine_checks.boost, {f"{CPU}/cpufreq/boost": "0"}, "ok", ["off"]),
        (machine_checks.boost, {f"{CPU}/cpufreq/boost": "1"}, "note", ["echo 0 |", "cpufreq/boost"]),
        (machine_checks.mitigations, {f"{CPU}/vulnerabilities/a": "Not affected"}, "ok", ["none"]),
        (machine_checks.mitigations, {f"{CPU}/vulnerabilities/meltdown": "Mitigation: PTI"}, "note", ["meltdown"]),
        (tool_checks.branch_records, {}, "ok", ["none here"]),
        (tool_checks.branch_records, {"sys/bus/event_source/devices/cpu/caps/branches": "32"}, "ok", ["32 branches"]),
    ],
)
def test_settings_in_proc_and_sys(tmp_path, check, files, state, parts):
    expect(check(machine(tmp_path, files)), state, *parts)


@pytest.mark.parametrize(
    ("finding", "state", "parts"),
    [
        (machine_checks.governor(None), "ok", ["none here"]),
        (machine_checks.precedence(0, "-10\n"), "ok", ["go before", "-10"]),
        (machine_checks.precedence(0, "nice: cannot set niceness: Permission denied\n0\n"), "note", ["limits.conf"]),
        (machine_checks.precedence(0, None), "note", ["may not", "as wide"]),
        (machine_checks.precedence(5, "-5\n"), "note", ["value of this shell, 5"]),
        (machine_checks.governor("performance"), "ok", []),
        (machine_checks.governor("powersave"), "warning", ["cpupower frequency-set -g performance"]),
        (machine_checks.huge_pages(None), "ok", []),
        (machine_checks.huge_pages("madvise"), "ok", ["madvise"]),
        (machine_checks.huge_pages("always"), "note", ["echo madvise"]),
        (machine_checks.siblings(None), "ok", ["not known"]),
        (machine_checks.siblings(False), "ok", ["off"]),
        (machine_checks.siblings(True), "note", ["smt/control"]),
        (machine_checks.virtual(None), "ok", []),
        (machine_checks.virtual("kvm"), "note", ["kvm", "steal"]),
        (machine_checks.container(None), "ok", []),
        (machine_checks.container("docker"), "note", ["docker"]),
        (machine_checks.quota(None, 8), "ok", ["none"]),
        (machine_checks.quota(8.0, 8), "ok", ["8.0"]),
        (machine_checks.quota(2.0, 8), "note", ["2.0 of 8 CPUs", "only as many"]),
        (machine_checks.quota(1.5, 8), "warning", ["1.5 of 8 CPUs", "--cpuset-cpus"]),
        (machine_checks.clock(0), "ok", ["in step"]),
        (machine_checks.clock(-1), "ok", ["not known"]),
        (machine_checks.clock(5), "note", ["set-ntp"]),
        (machine_checks.placement(TWO_CPUS, ALONE), "ok", ["server CPU 0, load generator 1"]),
        (machine_checks.placement(replace(TWO_CPUS, quota=1.0), ALONE), "warning", ["only one CPU", "quota of 1.0"]),
        (machine_checks.placement(TWO_CPUS, {"placement": BEYOND}), "problem", ["placement.client: CPU 4 is not"]),
        (
            machine_checks.placement(TWO_CPUS, {"placement": BEYOND, "client": {"ssh": "far"}}),
            "ok",
            ["CPU 0: ", "is on far"],
        ),
        (folder_checks.server_user(1000, False), "ok", ["1000"]),
        (folder_checks.server_user(0, True), "ok", ["nobody"]),
        (folder_checks.server_user(0, False), "problem", ["useradd"]),
        (load_checks.swap(0.0), "ok", []),
        (load_checks.swap(12.0), "warning", ["12 MiB", "swapoff"]),
        (load_checks.locked_memory(-1), "ok", ["no limit"]),
        (load_checks.locked_memory(8192 * 1024), "ok", ["8192 KiB"]),
        (load_checks.locked_memory(64 * 1024), "note", ["64 KiB", "ulimit -l 512"]),
    ],
)
def test_facts_about_the_machine(finding, state, parts):
    expect(finding, state, *parts)


@pytest.mark.parametrize(
    ("source", "available", "state", "change"),
    [
        ("tsc", "tsc hpet", "ok", ""),
        ("hpet", "tsc hpet", "warning", "echo tsc | sudo tee /sys/devices/system/clocksource"),
        ("acpi_pm", "acpi_pm", "warning", "a machine that has tsc"),
        (None, "", "ok", ""),
    ],
)
def test_slow_clock_sources_are_told_with_a_better_one(tmp_path, source, available, state, change):
    expect(
        machine_checks.clocksource(source, machine(tmp_path, {f"{CLOCK}/available_clocksource": available})),
        state,
        change,
    )


@pytest.mark.parametrize(
    ("khz", "found"),
    [((), 0), ((3_400_000, 3_400_000), 0), ((5_000_000, 4_800_000), 0), ((5_000_000, 3_800_000), 1)],
)
def test_two_kinds_of_cores_are_told(tmp_path, khz, found):
    files = {f"{CPU}/cpu{number}/cpufreq/cpuinfo_max_freq": str(each) for number, each in enumerate(khz)}
    findings = list(machine_checks.rates(machine(tmp_path, files)))
    assert len(findings) == found
    for each in findings:
        expect(each, "warning", "5.0 GHz", "3.8 GHz")


@pytest.mark.parametrize(
    ("nodes", "setting", "state"), [(1, "1", "ok"), (2, "0", "ok"), (2, "1", "note"), (2, None, "ok")]
)
def test_numa_balancing_matters_with_two_nodes(tmp_path, nodes, setting, state):
    files = {} if setting is None else {"proc/sys/kernel/numa_balancing": setting}
    expect(machine_checks.balancing(machine(tmp_path, files), nodes), state, f"{nodes} node")


@pytest.mark.parametrize(
    ("code", "name", "field"),
    [("others", "other load", "others"), ("steal", "steal", "steal"), ("iowait", "disks", "iowait")],
)
def test_load_is_judged_by_the_limits_of_runs(code, name, field):
    limit, quiet = THRESHOLDS[code].threshold, load_checks.BackgroundLoad(0.0, 0.0, 0.0, (("cc1", 77, 0.9),))
    for share, state in ((limit, "ok"), (limit + 0.01, "warning")):
        findings = {each.name: each for each in load_checks.check_load(replace(quiet, **{field: share}))}
        assert findings["other load"].fact.endswith("of all CPU time: cc1 (77) 90% of a CPU")
        expect(findings.pop(name), state)
        assert {each.state for each in findings.values()} == {"ok"}


def test_shares_leave_our_own_time_out():
    before, after = CpuTimes(10, 10, 0, 0, 0, 100), CpuTimes(12, 10.5, 0.5, 0.4, 0.2, 104.4)
    found = load_checks.load_between(before, after, 1.0, (("a", 1, 0.5), ("b", 2, 0.001)))
    assert (found.others, found.steal, found.iowait) == pytest.approx((2 / 8, 0.4 / 8, 0.2 / 8))
    assert found.busiest == (("a", 1, 0.5),)


def test_busy_process_is_seen():
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as spinner:
        try:
            found = load_checks.measure_load(0.5)
        finally:
            spinner.kill()
    assert found.others > 0
    # It may have to share its CPU, but it is not idle.
    assert spinner.pid in [pid for _, pid, _ in found.busiest] or found.others > 0.9


def test_limits_are_those_of_the_plan(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    hit = [
        MachineLimit("disk of results: full", "make room", certain=True),
        MachineLimit("memory: scarce", "lower it", certain=False),
    ]
    monkeypatch.setattr(folder_checks.limits, "find_limits", lambda *_: hit)
    full, scarce = folder_checks.check_limits(needs(), Machine())
    expect(full, "problem", "disk of results: full", "make room")
    expect(scarce, "warning", "memory: scarce", "lower it")
    monkeypatch.setattr(folder_checks.limits, "find_limits", lambda *_: [])
    (fits,) = folder_checks.check_limits(needs(), Machine())
    expect(fits, "ok", "in results", "it fits")


def test_room_without_the_tools_is_not_estimated(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    (unknown,) = folder_checks.check_limits(needs(), Machine())
    expect(unknown, "note", "not estimated", "gcc-12", "make setup")


@pytest.mark.parametrize(
    ("files", "limit_mib"),
    [
        ({}, None),
        ({"memory.max": "max"}, None),
        ({"memory.max": str(512 * 2**20)}, 512),
        ({"memory/memory.limit_in_bytes": str(256 * 2**20)}, 256),
        ({"memory.max": str(512 * 2**20), "a/memory.max": str(128 * 2**20)}, 128),
        ({"memory/memory.limit_in_bytes": str(2**63 - 4096)}, None),
        ({"memory/memory.limit_in_bytes": str(2**63 - 65536)}, None),
        ({"memory/memory.limit_in_bytes": str(2**63 - 1)}, None),
        ({"memory.max": "9223372036854771712", "a/memory.max": str(128 * 2**20)}, 128),
        ({"memory.max": str(2**50)}, None),
    ],
)
def test_memory_limit_is_the_smallest_of_own_cgroup_and_those_above(tmp_path, files, limit_mib):
    cgroup = {f"sys/fs/cgroup/{name}": text for name, text in files.items()}
    root = machine(tmp_path, cgroup | {"proc/self/cgroup": "0::/a", "proc/meminfo": "MemTotal: 8388608 kB"}).root
    assert read_memory_limit_mib(root) == limit_mib
    known_mib = {"MemAvailable": 1024, "MemTotal": 8192}
    assert ("cgroup" in load_checks.memory_text(known_mib, read_memory_limit_mib(root))) == (limit_mib is not None)


def test_memory_limit_is_none_where_neither_limit_nor_memory_is_known(tmp_path):
    root = machine(tmp_path, {"sys/fs/cgroup/memory/memory.limit_in_bytes": str(2**63 - 4096)}).root
    assert read_memory_limit_mib(root) is None


PLACE = FolderSeen("storage", Path("/fast"), "xfs", 10_000, True, True)


@pytest.mark.parametrize(
    ("place", "state", "parts"),
    [
        (PLACE, "ok", ["9.8 GiB free"]),
        (replace(PLACE, writable=False), "problem", ["/fast cannot be written to", "chown"]),
    ],
)
def test_places_are_written_to(place, state, parts):
    expect(folder_checks.writable(place), state, *parts)


@pytest.mark.parametrize(
    ("place", "state", "parts"),
    [
        (PLACE, "ok", ["xfs, copies share blocks"]),
        (replace(PLACE, reflink=None), "ok", ["not known"]),
        (replace(PLACE, filesystem="ext4", reflink=False), "note", ["ext4", "no reflink"]),
        (replace(PLACE, filesystem="tmpfs"), "note", ["in memory"]),
        (replace(PLACE, filesystem="nfs4"), "warning", ["not a local disk"]),
        (replace(PLACE, filesystem="fuse.rclone"), "warning", ["not a local disk"]),
        (replace(PLACE, filesystem="overlay"), "warning", ["volume"]),
    ],
)
def test_file_systems_of_data_directories_are_judged(place, state, parts):
    expect(folder_checks.file_system(place), state, *parts)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/", ("ext4", "rw,relatime,barrier=0")),
        ("/home/me", ("ext4", "rw,relatime,barrier=0")),
        ("/fast/x", ("xfs", "rw")),
        ("/fastest", ("ext4", "rw,relatime,barrier=0")),
        ("/a b/c", ("btrfs", "ro,rw")),
        ("/over", ("tmpfs", "rw,size=1g")),
    ],
)
def test_file_system_is_that_of_the_nearest_mount(path, expected):
    mounts = ["/ / rw,relatime - ext4 /dev/a rw,barrier=0", "/ /fast rw - xfs /dev/b rw"]
    mounts += ["/ /a\\040b ro - btrfs /dev/c rw", "/ /over rw - xfs /dev/d rw"]
    mounts += ["/ /over rw shared:1 - tmpfs tmpfs rw,size=1g"]
    assert host_storage.mount_of(Path(path), "\n".join(f"22 1 0:21 {line}" for line in mounts)) == expected


def test_looking_at_a_place_leaves_nothing_behind(tmp_path):
    place = folder_checks.look_at_place("storage", tmp_path / "not" / "there", Machine())
    assert (place.writable, place.free_mib > 0, list(tmp_path.iterdir())) == (True, True, [])
    assert place.reflink in (True, False, None)


@pytest.mark.parametrize(
    ("study", "state", "parts"),
    [
        ({}, "problem", ["configure and other scripts of the sources", "mount -o remount,exec"]),
        (variants("prebuilt", server="postgresql-installed"), "ok", ["nothing of this study runs from there"]),
    ],
)
def test_results_on_a_file_system_that_runs_no_programs_are_told(tmp_path, monkeypatch, study, state, parts):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    mountinfo = f"22 1 0:21 / / rw - ext4 /dev/vda rw\n23 22 0:22 / {tmp_path}/results rw,noexec - tmpfs tmpfs rw\n"
    looked_at = machine(tmp_path, {"proc/self/mountinfo": mountinfo})
    findings = {each.name: each for each in folder_checks.check_places(needs(**study), looked_at)}
    expect(findings["results noexec"], state, "results", "mounted noexec (tmpfs)", *parts)


def test_folder_that_others_cannot_enter_is_named():
    with open_folder("doctor-") as folder:
        inner = folder / "closed" / "checkout"
        inner.mkdir(parents=True)
        (folder / "closed").chmod(0o700)
        checkout, storage = folder_checks.enterable(inner, {"storage fast": inner})
        expect(checkout, "note", f"{folder / 'closed'} is closed to nobody", "chmod o+x")
        expect(storage, "problem", f"{folder / 'closed'} is closed to nobody")
        (folder / "closed").chmod(0o711)
        assert [each.state for each in folder_checks.enterable(inner, {"storage fast": inner})] == ["ok"]


def test_cache_of_another_user_is_a_problem(tmp_path):
    expect(folder_checks.cache_folder(tmp_path / "none", os.getuid()), "ok", "not made yet")
    expect(folder_checks.cache_folder(tmp_path, os.getuid()), "ok", "yours")
    expect(folder_checks.cache_folder(tmp_path, os.getuid() + 1), "problem", "another user's")
    (tmp_path / "link").symlink_to(tmp_path)
    expect(folder_checks.cache_folder(tmp_path / "link", os.getuid()), "problem", "another user's")


@pytest.mark.parametrize(
    ("found", "drivers", "state", "parts"),
    [
        (SYSBENCH, {"mysql", "pgsql"}, "ok", ["1.0.20", "mysql pgsql"]),
        (replace(SYSBENCH, version="1.1.0-2ca9e3f"), {"mysql"}, "ok", ["1.1.0"]),
        (replace(SYSBENCH, drivers=("mysql",)), {"mysql", "pgsql"}, "problem", ["driver pgsql"]),
        (replace(SYSBENCH, version="1.0.9"), {"mysql"}, "warning", ["1.0.9", "install sysbench 1.0.20"]),
    ],
)
def test_sysbench_needs_the_drivers_of_the_servers(found, drivers, state, parts):
    expect(tool_checks.load_generator(drivers, lambda: found), state, *parts)


def test_missing_sysbench_is_a_problem():
    def read():
        raise ValueError("sysbench: not found")

    expect(tool_checks.load_generator({"mysql"}, read), "problem", "not found", "make setup")


def test_programs_are_those_that_the_servers_are_compiled_with(tmp_path):
    answers = {"make": "GNU Make 4.3\nBuilt for x86_64", "perl": "\nThis is perl 5, version 36 (v5.36.0)"}
    findings = {each.name: each for each in tool_checks.check_tools(needs(), machine(tmp_path, answers=answers))}
    expect(findings["make"], "ok", "4.3")
    expect(findings["perl"], "ok", "5.36.0")
    expect(findings["bison"], "problem", "not found", "postgresql-15", "make setup")
    assert "cmake" not in findings
    mariadb = {names[0] for names in tool_checks.wanted_programs(needs(**variants("baseline", server="mariadb-10.11")))}
    assert {"cmake", "ninja"} <= mariadb
    assert not tool_checks.wanted_programs(needs(**variants("prebuilt", server="postgresql-installed")))


def test_study_needs_the_compilers_of_its_builds_alone():
    study = needs(**variants("lto", "pgo_lto_bolt", "clang"), builds={"clang": {"toolchain": "clang-16"}})
    assert study.compilers() == ["clang-16", "gcc-12"]
    assert (study.compilers("lto"), study.bolts) == (["gcc-12"], [("bolt-16", "gcc-12")])
    assert study.drivers == {"pgsql"}
    ready = needs(**variants("prebuilt", server="postgresql-installed"))
    assert (ready.compilers(), ready.compiled, ready.bolts) == ([], {}, [])


def test_storages_are_those_that_variants_use():
    named = needs(**variants("baseline", storage="fast"), storage={"fast": "/fast", "unused": "/x"})
    assert named.storages == {"fast": "/fast"}
    assert needs().storages == {"data directories": None}


def findings_of_compilers(study: Needs, find) -> dict[str, CheckResult]:
    return {each.name: each for each in tool_checks.check_compilers(study, Machine(), find)}


def test_missing_toolchains_are_problems_and_not_tried():
    def find(name, _entry):
        raise ValueError(f"toolchains.{name}.cc: not found")

    findings = findings_of_compilers(needs(**variants("pgo_lto_bolt")), find)
    assert findings.keys() == {"gcc-12", "bolt-16", "branch records"}
    expect(findings["gcc-12"], "problem", "toolchains.gcc-12.cc: not found", "make setup")
    expect(findings["bolt-16"], "problem", "toolchains.bolt-16.cc: not found")


def broken(tmp_path: Path, name: str) -> str:
    program = tmp_path / name
    program.write_text(f"#!/bin/sh\necho {name}: plugin needed to handle lto object >&2\nexit 1\n")
    program.chmod(0o755)
    return str(program)


def test_compiler_goes_through_its_trials(compiler):
    findings = findings_of_compilers(needs(**variants("pgo_lto")), lambda _name, _entry: compiler)
    for name in ("gcc-12", "gcc-12 profile", "gcc-12 lto"):
        expect(findings[name], "ok")


@pytest.mark.parametrize("part", ["ar", "ranlib"])
def test_archiver_that_does_not_know_lto_is_a_problem(tmp_path, compiler, part):
    bad = replace(compiler, commands={**compiler.commands, part: broken(tmp_path, part)})
    findings = findings_of_compilers(needs(**variants("lto")), lambda _name, _entry: bad)
    expect(findings["gcc-12 lto"], "problem", "plugin needed to handle lto object")


def test_compiler_without_the_profile_flags_is_a_problem(compiler):
    bad = replace(compiler, probe=("-fno-such-flag-anywhere",))
    findings = findings_of_compilers(needs(), lambda _name, _entry: bad)
    expect(findings["gcc-12 profile"], "problem", "-fno-such-flag-anywhere", "silently")


def test_bolt_that_fails_is_a_problem(tmp_path, compiler):
    bolt = broken(tmp_path, "llvm-bolt")
    tools_found = {
        "gcc-12": compiler,
        "bolt-16": Toolchain("bolt-16", "bolt", "16", {"bolt": bolt, "merge_fdata": bolt}),
    }
    findings = findings_of_compilers(needs(**variants("pgo_bolt")), lambda name, _entry: tools_found[name])
    expect(findings["bolt-16 on gcc-12"], "problem", "llvm-bolt: plugin", "name another toolchain")


DEBIAN, URL = {"debian": "postgresql-15"}, {"url": "https://host/x.tar.gz", "sha256": "0" * 64}


@pytest.mark.parametrize(
    ("known", "state", "parts"),
    [
        ({"debian": "15.18", "url": "here"}, "ok", ["15.18"]),
        ({"url": "here"}, "note", ["here; not from debian: no debian", "servers.x.sources"]),
        ({}, "problem", ["debian: no debian | url: no url", "{file: PATH}"]),
    ],
)
def test_sources_are_asked_in_their_order(known, state, parts):
    def look(source, _entry):
        kind = next(iter(source))
        if kind not in known:
            raise RuntimeError(f"no {kind}")
        return known[kind]

    expect(source_checks.offered("x", {"sources": [DEBIAN, URL], "version": "15"}, look), state, *parts)


def test_source_that_is_here_is_not_asked_for(tmp_path):
    folder = tmp_path / Path(paths().source("postgresql-15")).relative_to("results").parent
    folder.mkdir(parents=True)
    (folder / "source.json").write_text('{"format": 1, "origin": "source package postgresql-15 15.18"}')
    (finding,) = source_checks.check(needs(), tmp_path)
    expect(finding, "ok", "here already: source package postgresql-15 15.18")


def test_source_of_each_kind_is_found_or_refused_by_name(tmp_path, monkeypatch):
    archive = tmp_path / "x-15.tar.gz"
    archive.write_bytes(b"x")
    entry = {"version": "15"}
    assert source_checks.found({"file": f"{tmp_path}/x-{{version}}.tar.gz"}, entry, tmp_path) == str(archive)
    assert source_checks.found({"directory": str(tmp_path)}, entry, tmp_path) == str(tmp_path)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with served(Files) as server:
        server.folder = tmp_path
        url = server.url.replace("//", "//user:t0ken@")
        shown = f"{server.url.replace('//', '//***@')}/x-15.tar.gz"
        assert source_checks.found({"url": f"{url}/x-15.tar.gz"}, entry, tmp_path) == f"{shown} (0 MB)"
        with pytest.raises(ValueError, match=r"\*\*\*@.*nowhere\.tar: .*Not Found") as caught:
            source_checks.found({"url": [f"{url}/nowhere.tar"]}, entry, tmp_path)
    assert "t0ken" not in str(caught.value)
    subprocess.run(["git", "init", "-q", str(tmp_path / "repository")], check=True)
    assert "answers" in source_checks.found({"git": str(tmp_path / "repository"), "commit": "0" * 40}, entry, tmp_path)
    for kind in ("file", "directory", "git", "installed"):
        with pytest.raises(source_checks.FAILURES, match="nowhere"):
            source_checks.found({kind: str(tmp_path / "nowhere"), "commit": "0" * 40}, entry, tmp_path)


def test_machine_without_apt_is_told_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    finding = source_checks.offered(
        "x", {"sources": [DEBIAN], "version": "15"}, lambda s, e: source_checks.found(s, e, tmp_path)
    )
    expect(finding, "problem", "apt-get, apt-cache, dpkg-source not found")


def test_machine_without_network_is_told_so(tmp_path, monkeypatch):
    def offered(_configuration, _package, _folder):
        return [], ["apt-get update: exit 100\nE: Could not resolve host"]

    monkeypatch.setattr(debian, "require_tools", lambda: None)
    monkeypatch.setattr(debian, "offered_by_apt", offered)
    monkeypatch.setattr(source_checks, "write_configuration", lambda folder: folder / "apt.conf")
    finding = source_checks.offered(
        "x", {"sources": [DEBIAN], "version": "15"}, lambda s, e: source_checks.found(s, e, tmp_path)
    )
    expect(
        finding, "problem", "apt offers nothing as source package postgresql-15, wanted 15", "Could not resolve host"
    )


def test_command_that_is_missing_or_fails_answers_nothing():
    assert answer("no-such-command-here", "--version") is None
    assert answer("false") is None
    assert answer("sh", "-c", "echo out; echo error >&2") == "out\nerror\n"


@pytest.mark.parametrize(
    ("states", "end"),
    [
        (["ok", "ok"], "2 ok, 0 notes, 0 warnings, 0 problems; nothing here stops the study. Nothing was changed."),
        (["ok", "warning", "problem"], "1 ok, 0 notes, 1 warning, 1 problem; a problem stops the study. Nothing"),
    ],
)
def test_summary_counts(states, end):
    assert doctor.summary(CheckResult(state, "x", "y", "z", "w") for state in states).startswith(end)


@pytest.fixture
def quick(monkeypatch, tmp_path):
    """The doctor with two made-up findings, in place of its checks."""

    def with_findings(*findings: CheckResult) -> tuple[bool, str]:
        monkeypatch.setattr(locks, "lock_directory", lambda: tmp_path)
        monkeypatch.setattr(load_checks, "measure_load", lambda: None)
        monkeypatch.setattr(doctor, "to_build", lambda _needs, _machine: iter(findings[:1]))
        monkeypatch.setattr(doctor, "to_measure", lambda _needs, _machine, _seen: iter(findings[1:]))
        file = tmp_path / "study.yaml"
        file.write_text(yaml.safe_dump(config()))
        out = io.StringIO()
        return doctor.main(file, Console(file=out, highlight=False)), out.getvalue()

    return with_findings


def test_output_is_plain_in_a_pipe_and_says_what_changes_a_finding(quick):
    long = "a fact that is a good deal longer than the eighty columns which a terminal is taken to have in a pipe"
    sound, text = quick(
        CheckResult("warning", "governor", long, "clocks", "cpupower"), CheckResult("ok", "make", "4.3")
    )
    assert sound
    assert text.splitlines() == [
        "To build",
        f"  warning   governor                  {long}",
        "                                      why: clocks",
        "                                      change: cpupower",
        "To measure",
        "  ok        make                      4.3",
        "1 ok, 0 notes, 1 warning, 0 problems; nothing here stops the study. Nothing was changed.",
    ]


def test_only_a_problem_makes_it_fail(quick):
    assert quick(CheckResult("warning", "a", "b", "c", "d"), CheckResult("note", "a", "b", "c", "d"))[0]
    assert not quick(CheckResult("ok", "a", "b"), CheckResult("problem", "a", "b", "c", "d"))[0]


def test_it_does_not_disturb_a_measurement(quick, tmp_path):
    with (
        locks.exclusive(directory=tmp_path),
        pytest.raises(ValueError, match=f"is measuring on this machine .*{os.getpid()}"),
    ):
        quick()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("study: small\nvariants: [\n", ":3: this is not YAML: "),
        ("a: " + 3000 * "[" + 3000 * "]", ": is nested "),
        (
            "reference: basline\n" + SMALL_TEXT,
            "study.yaml:1: reference: 'basline' is unknown, did you mean 'baseline'?",
        ),
    ],
    ids=["not YAML", "nested", "unknown name"],
)
def test_config_with_mistakes_is_refused_by_file(tmp_path, text, message):
    file = tmp_path / "study.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        doctor.main(file, Console(file=io.StringIO()))
    assert str(caught.value).startswith(f"{file}:")
    assert message in str(caught.value)


def test_config_that_is_missing_is_named_with_the_nearest_there_is(tmp_path):
    (tmp_path / "studies.yaml").touch()
    with pytest.raises(WrongCall, match=r"study\.yaml: no such file, expected a study .*did you mean .*/studies\.yaml"):
        doctor.main(tmp_path / "study.yaml", Console(file=io.StringIO()))


def open_to_others(*paths: Path) -> bool:
    folders = {parent for path in paths for parent in [path.resolve().parent, *path.resolve().parent.parents]}
    return all(folder.stat().st_mode & 0o001 for folder in folders)


# A study that measures on this machine meanwhile is not asked for its leave.
WITH_OWN_LOCK = """
import sys
from pathlib import Path
from rich.console import Console
from scripts.commands.doctor import __main__ as doctor
from scripts.lib.host import locks
locks.LOCK_DIRECTORIES = (Path(sys.argv[1]),)
sys.exit(not doctor.main(Path(sys.argv[2]), Console(highlight=False)))
"""


def test_whole_look_works_with_every_tool_missing_and_without_root(tmp_path):
    """With an empty PATH; as an unprivileged user where we are root and others can start our Python."""
    file, empty, lock = (tmp_path / name for name in ("study.yaml", "empty", "lock"))
    file.write_text(yaml.safe_dump(config(**variants("pgo_lto_bolt", "lto"))))
    for folder, mode in ((empty, 0o777), (lock, 0o1777)):
        folder.mkdir(exist_ok=True)
        folder.chmod(mode)
    for folder in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        if folder.stat().st_uid == os.getuid():
            folder.chmod(folder.stat().st_mode | 0o055)
    dropped = os.getuid() == 0 and open_to_others(Path(sys.executable), Path(doctor.__file__), Path(os.__file__), file)
    done = subprocess.run(
        [sys.executable, "-c", WITH_OWN_LOCK, str(lock), str(file)],
        cwd=empty,
        env={"PATH": str(empty), "PYTHONPATH": str(CHECKOUT), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        **({"user": 65534, "group": 65534, "extra_groups": []} if dropped else {}),
    )
    assert (done.returncode, done.stderr) == (1, "")
    for name in ("sysbench", "make", "gcc-12", "bolt-16", "source of postgresql-15"):
        assert f"  problem   {name:26}" in done.stdout
    for name in ("memory", "placement", "governor", "user", "results", "other load"):
        assert f"  {name:26}" in done.stdout
    assert list(empty.iterdir()) == []
