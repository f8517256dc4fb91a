"""Used CPU time, I/O and stalls, on recorded files and on real processes."""

import multiprocessing
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from scripts.lib.host.usage import (
    CpuTimes,
    ProcessTimes,
    Sample,
    cpu_times,
    oom_kills,
    pressure_s,
    process_times,
    sample_usage,
    usage_between,
)

# A parent that lets children work one after the other, as PostgreSQL's postmaster does, and waits for each.
PARENT = """
import os, sys, time
def work(seconds):
    begin = time.process_time()
    while time.process_time() - begin < seconds:
        pass
for _ in range(2):
    if (child := os.fork()) == 0:
        work(0.3)
        os._exit(0)
    os.waitpid(child, 0)
if (child := os.fork()) == 0:
    work(0.3)
    print("ready", flush=True)
    time.sleep(60)
    os._exit(0)
time.sleep(60)
"""


@pytest.fixture
def parent():
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout.readline() == "ready\n"
    yield process.pid
    os.killpg(process.pid, 9)
    process.communicate()


def test_proc_stat_is_read_in_seconds_of_all_cpus(tmp_path):
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/stat").write_text("cpu  1000 50 700 25000 800 3 17 39 9 1\ncpu0 1 1 1 1 1 1 1 1 1 1\n")
    tick_s = 1 / os.sysconf("SC_CLK_TCK")
    found = cpu_times(tmp_path)
    expected = CpuTimes(user_s=1050, system_s=700, irq_s=20, steal_s=39, iowait_s=800, idle_s=25000)
    assert [round(value / tick_s) for value in vars(found).values()] == list(vars(expected).values())


def test_pressure_is_the_some_total_in_seconds(tmp_path):
    (tmp_path / "proc/pressure").mkdir(parents=True)
    text = "some avg10=25.30 avg60=9.67 avg300=3.53 total=27436562\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"
    (tmp_path / "proc/pressure/cpu").write_text(text)
    assert pressure_s("cpu", tmp_path) == pytest.approx(27.436562)


def test_kernel_without_pressure_gives_none(tmp_path):
    assert pressure_s("cpu", tmp_path) is None


def test_killed_for_lack_of_memory_are_counted_since_boot_where_the_kernel_tells(tmp_path):
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/vmstat").write_text("pgfault 9\noom_kill 12\nnuma_hit 3\n")
    assert oom_kills(tmp_path) == 12
    (tmp_path / "proc/vmstat").write_text("pgfault 9\nnuma_hit 3\n")
    assert oom_kills(tmp_path) is None


def test_ended_and_living_children_count_as_the_server(parent):
    times = process_times(parent)
    assert times.user_s + times.system_s == pytest.approx(0.9, abs=0.25)
    own = psutil.Process(parent).cpu_times()
    assert own.user + own.system < 0.3


def test_context_switches_of_all_threads_count():
    code = (
        "import threading, time\n"
        "def hop():\n"
        "    while True: time.sleep(0.0005)\n"
        "for _ in range(4): threading.Thread(target=hop, daemon=True).start()\n"
        "time.sleep(2); print('ready', flush=True); time.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        first_thread = psutil.Process(process.pid).num_ctx_switches()
        assert process_times(process.pid).context_switches > 5 * sum(first_thread)
    finally:
        process.kill()
        process.communicate()


def write_and_end(path: Path) -> None:
    with path.open("wb") as stream:
        stream.write(b"x" * 2**20)
        stream.flush()
        os.fsync(stream.fileno())


def test_bytes_written_by_ended_children_count():
    path = Path(f"/var/tmp/test-usage-{os.getpid()}")
    before = process_times(os.getpid()).write_bytes
    try:
        child = multiprocessing.get_context("fork").Process(target=write_and_end, args=(path,))
        child.start()
        child.join()
        after = process_times(os.getpid()).write_bytes
    finally:
        path.unlink(missing_ok=True)
    if before is None:
        pytest.skip("/proc/PID/io is not readable here")
    assert after - before >= 2**20


def test_server_that_is_gone_is_an_error(parent):
    process = subprocess.Popen(["true"])
    process.wait()
    with pytest.raises(psutil.NoSuchProcess):
        sample_usage(process.pid, parent)


def test_busy_process_shows_in_its_own_column_and_in_the_machines():
    def spent_s() -> float:
        return sum(psutil.Process(busy.pid).cpu_times()[:2])

    with (
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy,
        subprocess.Popen(["sleep", "600"]) as idle,
    ):
        try:
            begin_s = spent_s()
            before = sample_usage(busy.pid, idle.pid)
            # On a full machine a process gets far less CPU time than time passes.
            inner_s = spent_s()
            while (between_s := spent_s() - inner_s) < 0.5:
                time.sleep(0.05)
            after = sample_usage(busy.pid, idle.pid)
            whole_s = spent_s() - begin_s
        finally:
            busy.kill()
            idle.kill()
    cpu = usage_between(before, after)["cpu"]
    server_s = cpu["server_user_s"] + cpu["server_system_s"]
    assert between_s - 0.02 <= server_s <= whole_s + 0.02
    assert cpu["client_user_s"] + cpu["client_system_s"] < 0.05
    assert cpu["host_user_s"] + cpu["host_system_s"] > 0.8 * server_s - 0.05


def example() -> Sample:
    return Sample(
        monotonic_s=10.0,
        host=CpuTimes(100.0, 50.0, 1.0, 2.0, 3.0, 400.0),
        server=ProcessTimes(9, 7.0, 3.0, 1000, None, 4096),
        client=ProcessTimes(1, 2.0, 1.0, 10, 0, 0),
        pressure_s={"cpu": 1.0, "io": None, "memory": 0.0},
        available_mib=2000.0,
        swap_used_mib=0.0,
        oom_kills=7,
    )


def test_difference_has_the_run_files_names():
    before = example()
    after = replace(
        before,
        host=CpuTimes(104.0, 51.0, 1.5, 2.25, 3.0, 402.0),
        server=ProcessTimes(9, 9.5, 3.5, 1600, None, 8192),
        pressure_s={"cpu": 1.5, "io": None, "memory": 0.0},
        available_mib=1900.0,
        oom_kills=9,
    )
    found = usage_between(before, after)
    assert found["cpu"] == {
        "cpus": os.cpu_count(),
        **{"server_user_s": 2.5, "server_system_s": 0.5, "client_user_s": 0.0, "client_system_s": 0.0},
        **{"host_user_s": 4.0, "host_system_s": 1.0, "host_irq_s": 0.5},
        **{"host_steal_s": 0.25, "host_iowait_s": 0.0, "host_idle_s": 2.0},
    }
    assert found["pressure"] == {"cpu_some_s": 0.5, "io_some_s": None, "memory_some_s": 0.0}
    assert found["memory"] == {
        **{"available_mib_before": 2000.0, "available_mib_after": 1900.0},
        **{"swap_used_mib_before": 0.0, "swap_used_mib_after": 0.0, "oom_kills": 2},
    }
    assert found["io"] == {"read_bytes": None, "write_bytes": 4096, "context_switches": 600}


def test_context_switches_are_unknown_once_a_process_has_ended():
    before = example()
    after = replace(before, server=ProcessTimes(8, 9.5, 3.5, 1600, None, 8192))
    assert usage_between(before, after)["io"]["context_switches"] is None
    assert usage_between(before, after)["cpu"]["server_user_s"] == 2.5
