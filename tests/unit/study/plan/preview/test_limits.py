"""Limits that a study would hit, on made-up machines; and what is copied, kept and fetched."""

from dataclasses import replace
from pathlib import Path

import pytest

from scripts.lib.host import machine_supplies
from scripts.lib.host.storage import FileSystem, can_reflink
from scripts.study.config.declared_servers import ServerDeclaration
from scripts.study.plan.preview import limits
from scripts.study.plan.preview.due import Due
from scripts.study.plan.preview.estimates import Durations, Size, Sizes
from scripts.study.plan.preview.limits import Headroom, in_mib
from scripts.study.plan.preview.rerun_reasons import Reasons, RunReasons
from tests.made import results as made_results
from tests.made.studies import SMALL, paths

LARGE = Headroom(64000, 60000, "the machine", 65536, 1_048_576, 100_000)
DISK = FileSystem(1, "ext4", 500_000)
MARIADB = {"baseline": {"server": "mariadb-10.11", "build": "baseline"}}
TEN_GIB = {"datasets": {"sbtest": {"tables": 4, "rows": 10_000_000}}}
POOL = {"options": {"shared_buffers": "80GB"}}
ROOM = {"max_connections": 4200}
GRAPH = {"workloads": {"graph": {"script": "linkbench.lua", "dataset": "graph"}},
         "datasets": {"graph": {"script": "linkbench.lua", "options": {"ids": 1000}}}}  # fmt: skip


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch):
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)


def sizes(**edit):
    due = Due(paths(**edit))
    return Sizes(due, Durations(due, RunReasons(Reasons(due)), cores=1))


def found(edit, machine=LARGE, places=None):
    asked = sizes(**edit)
    system = lambda path: (places or {}).get(str(path), DISK)  # noqa: E731
    return limits.find_limits(asked.due, asked, machine, "/cache", system)


def test_large_machine_has_no_limits():
    assert found({}) == []
    assert found({"variants": MARIADB}) == []


@pytest.mark.parametrize(
    ("edit", "machine", "certain", "words"),
    [
        (
            {"clients": [1098]},
            {},
            True,
            "max_connections: 1100 are granted, 1098 clients and ours need 1101 (aa, baseline, pgo)",
        ),
        ({"clients": [8], "options": {"max_connections": 10}}, {}, True, "10 are granted, 8 clients and ours need 11"),
        ({"clients": [4094], "variants": MARIADB}, {}, True, "4096 are granted, 4094 clients and ours need 4097"),
        (
            {"clients": [1000]},
            {"open_files": 1024},
            True,
            "open files: a process may have 1024, 1000 clients need 1050",
        ),
        ({"variants": MARIADB}, {"most_open_files": 512}, True, "at most 512, the server wants 818"),
        (
            {"clients": [64], "together": 1},
            {"processes": 200},
            False,
            "processes: 200 may run, 64 clients need about 228",
        ),
        (
            {"clients": [64]},
            {"processes": 200},
            True,
            "processes: 200 may run, 64 clients of each of 3 servers need about 484",
        ),
        (
            POOL,
            {},
            False,
            "memory: up to 240 GiB needed, the machine leaves 59 GiB (baseline, aa, pgo at the same time)",
        ),
        ({**POOL, **TEN_GIB}, {"available_mib": 4000}, True, "the machine leaves 4000 MiB"),
        ({"clients": [900]}, {"available_mib": 4000, "memory_limit": "the cgroup"}, True, "the cgroup leaves 4000 MiB"),
        ({"clients": [4096], "options": ROOM}, {"open_files": 1024}, True, "may have 1024, 1024 clients need 1074"),
        ({"clients": [4096], "options": ROOM}, {"waiting": 128}, False, "somaxconn is 128, 4096 clients connect"),
    ],
)
def test_limit_of_servers_is_told_with_the_figures(edit, machine, certain, words):
    every = found(edit, replace(LARGE, **machine))
    assert any(words in limit.text and limit.certain == certain for limit in every), every
    assert all(limit.remedy for limit in every)


@pytest.mark.parametrize(
    ("edit", "machine", "words"),
    [
        ({"clients": [600]}, {}, "max_connections: 1100 are granted, 600 clients and ours need 1203"),
        ({"clients": [500]}, {"open_files": 1024}, "a process may have 1024, 500 clients need 1050"),
        ({"clients": [64], "together": 1}, {"processes": 200}, "200 may run, 64 clients need about 292"),
    ],
)
def test_a_client_of_linkbench_has_two_connections(edit, machine, words):
    every = found({**GRAPH, **edit}, replace(LARGE, **machine))
    assert any(words in limit.text for limit in every), every


def test_soft_limit_of_open_files_is_raised_by_ulimit_and_the_hard_one_is_not():
    clients = {"clients": [1000], "options": {"max_connections": 2000}}
    assert "`ulimit -n 1050`" in found(clients, replace(LARGE, open_files=256))[0].remedy
    assert "limits.conf" in found(clients, replace(LARGE, open_files=256, most_open_files=256))[0].remedy


def test_clients_beyond_a_count_are_refused_and_estimates_are_not():
    machine = replace(LARGE, open_files=500, processes=4000, process_limit="kernel.pid_max", waiting=9)
    every = found({"clients": [2000]}, replace(machine, available_mib=100), {"results": FileSystem(2, "ext4", 0)})
    assert {limit.text.split(":")[0]: limit.refused for limit in every} == {
        "disk of results (ext4)": False, "open files": True, "processes": False, "max_connections": True,
        "memory": False, "waiting connections": False,
    }  # fmt: skip
    assert [limit.remedy for limit in every if limit.text.startswith("processes")] == ["raise kernel.pid_max"]


def test_unix_sockets_that_block_need_no_room_to_wait():
    small = replace(LARGE, waiting=9)
    assert found({"clients": [64], "variants": MARIADB}, small) == []


@pytest.mark.parametrize(("free_mib", "certain"), [(100, True), (2500, False)])
def test_small_disk_is_told_with_what_it_would_have_to_hold(free_mib, certain):
    [limit] = found({}, places={"results": FileSystem(2, "xfs", free_mib), "/cache": FileSystem(2, "xfs", free_mib)})
    assert limit.text.startswith(f"disk of results, /cache (xfs): {free_mib} MiB free, up to")
    assert all(
        part in limit.text for part in ("sources 210 MiB", "a build tree 300 MiB", "the data directories of a block")
    )
    assert limit.certain == certain


def test_small_tmpfs_is_told_by_its_path_and_counts_as_memory():
    arms = {"pgo": {**SMALL["variants"]["pgo"], "storage": "fast"}}
    edit = {"variants": arms, "reference": "pgo", "storage": {"fast": "/fast"}, **TEN_GIB}
    every = found(edit, replace(LARGE, available_mib=12000), {"/fast": FileSystem(3, "tmpfs", 1000)})
    assert [limit.text.split(":")[0] for limit in every if "/fast" in limit.text] == ["disk of /fast (tmpfs)"]
    assert any(limit.text.startswith("memory: up to") for limit in every)
    assert not any(limit.text.startswith("memory") for limit in found(edit, replace(LARGE, available_mib=12000)))


def test_nothing_to_measure_hits_no_limit():
    made_results.finish(paths())
    assert found({}, replace(LARGE, available_mib=1, open_files=10), {"results": FileSystem(2, "ext4", 0)}) == []


@pytest.mark.parametrize(
    ("value", "unit_bytes", "mib"),
    [("4096M", 1, 4096), ("1G", 1, 1024), ("128MB", 8192, 128), (16384, 8192, 128), (2**27, 1, 128), ("what", 1, 0)],
)
def test_size_options_are_read_as_servers_read_them(value, unit_bytes, mib):
    assert in_mib(value, unit_bytes) == mib


def test_known_snapshot_counts_and_an_unknown_one_is_estimated_from_its_rows():
    assert sizes().copied().mib == pytest.approx(19 * (100 + 400_000 * 260 / 2**20))
    made_results.finish(paths())
    copied = sizes(measure_s=9).copied()
    assert (copied.mib, copied.measured) == (18 * 150, True)
    assert sizes(measure_s=9).kept()["builds"].mib == 0


def test_relinks_of_the_reference_take_a_program_each():
    reference, other = (next(thing for thing in sizes(relinked=True).due.of("build") if thing.name == name)
                        for name in ("baseline", "pgo"))  # fmt: skip
    assert (sizes(relinked=True).relinked(reference).mib, sizes(relinked=True).relinked(other).mib) == (5 * 20, 0)
    facts = {"stage": "plain", "cpu_s": 9, "file_bytes": 7 * 2**20}
    made_results.write("results/builds/postgresql-15/old-123456789012/facts.json", facts)
    assert sizes(relinked=True).relinked(reference) == Size(5 * 7, measured=True)


def test_bytes_to_fetch_are_the_catalogs_else_those_fetched_before_else_unknown():
    def fetched_mib(**entry):
        asked = sizes()
        servers = asked.plan.study.declared.servers
        stated = {**servers["postgresql-15"].written(), "archive_mib": None, **entry}
        written = {key: value for key, value in stated.items() if value is not None}
        servers["postgresql-15"] = ServerDeclaration.model_validate(written)
        return asked.fetched(asked.due.source("postgresql-15")).mib

    assert fetched_mib() is None
    assert fetched_mib(archive_mib=25) == 25
    assert fetched_mib(sources=[{"file": "/pg.tar"}]) == 0
    made_results.write(paths().source("postgresql-15"), {"files": [{"name": "pg.tar", "sha256": "0"}]})
    archive = Path(paths().source("postgresql-15")).parent / "downloads" / "pg.tar"
    archive.parent.mkdir()
    archive.write_bytes(bytes(2**20))
    assert fetched_mib() == 1


def test_blocks_are_shared_on_one_file_system_that_can():
    xfs = FileSystem(1, "xfs", 0)
    assert can_reflink(xfs, xfs)
    assert not can_reflink(xfs, replace(xfs, number=2))
    assert not can_reflink(DISK, DISK)


@pytest.mark.parametrize(
    ("own", "files", "left"),
    [
        ("8:pids:/user/mine\n4:memory:/", {"pids/user/pids.max": "300", "pids/user/pids.current": "100"}, 200),
        ("8:pids:/", {"pids/pids.max": "max"}, None),
        ("0::/a", {"a/pids.max": "0"}, 0),
        ("0::/a", {"a/pids.max": "max"}, None),
        ("", {}, None),
    ],
)
def test_limit_on_processes_is_read_of_both_cgroup_versions(tmp_path, own, files, left):
    for name, text in {
        "proc/self/cgroup": own,
        **{f"sys/fs/cgroup/{name}": text for name, text in files.items()},
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert machine_supplies.read_pids(tmp_path) == left


def test_headroom_of_this_machine_and_of_a_container_is_read(tmp_path):
    mine = limits.read_headroom()
    assert mine.total_mib >= mine.available_mib > 0
    (tmp_path / "proc/self").mkdir(parents=True)
    own = tmp_path / "sys/fs/cgroup/user.slice/mine"
    own.mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("0::/user.slice/mine\n")
    (own / "pids.max").write_text("max\n")
    (own.parent / "pids.max").write_text("300\n")
    (own.parent / "pids.current").write_text("100\n")
    assert machine_supplies.read_pids(tmp_path) == 200
    assert machine_supplies.read_pids(tmp_path, remaining=False) == 300
    kernel = tmp_path / "proc/sys/kernel"
    kernel.mkdir(parents=True)
    (kernel / "threads-max").write_text("150\n")
    assert machine_supplies.read_processes(tmp_path) == ("kernel.threads-max", 150)
    (kernel / "pid_max").write_text("90\n")
    assert machine_supplies.read_processes(tmp_path) == ("kernel.pid_max", 90)
