"""Running sysbench, or a stand-in for it that misbehaves."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from scripts.measure.loadgen.output import SysbenchFailed, SysbenchMisused, parse
from scripts.measure.loadgen.run_sysbench import SysbenchKilled, run
from scripts.measure.loadgen.sysbench import SysbenchCall

needs_sysbench = pytest.mark.skipif(not shutil.which("sysbench"), reason="sysbench is not installed")


PREAMBLE = "import os, signal, sys, time\nsay = lambda text: print(text, flush=True)\n"


def stand_in(tmp_path: Path, body: str) -> SysbenchCall:
    script = tmp_path / "stand_in.py"
    script.write_text(
        "import os, signal, sys, time\nsay = lambda text: print(text, flush=True)\n" + textwrap.dedent(body)
    )
    return SysbenchCall((sys.executable,), str(script), (), clients=1, seconds=1)


REPORT = "[ {}s ] thds: 1 eps: 10.00 lat (ms,95%): 1.00"


def gone_within(pid: int, patience_s: float) -> bool:
    deadline_s = time.monotonic() + patience_s
    while alive(pid) and time.monotonic() < deadline_s:
        time.sleep(0.02)
    return not alive(pid)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@needs_sysbench
def test_reports_arrive_while_sysbench_runs(tmp_path):
    call = SysbenchCall(("sysbench",), "cpu", (), clients=1, seconds=3)
    heard, cpus = [], sorted(os.sched_getaffinity(0))[-1:]

    def on_report(moment):
        heard.append((moment, time.monotonic(), os.sched_getaffinity(moment.pids[0])))

    finished = run(call, tmp_path / "log.txt", timeout_s=30, on_report=on_report, cpus=cpus)
    assert [moment for moment, _, _ in heard] == list(finished.moments)
    assert len(finished.moments) == len(finished.output.reports) >= 2
    assert all(heard_s - moment.monotonic_s < 0.2 for moment, heard_s, _ in heard)
    assert heard[1][0].monotonic_s - heard[0][0].monotonic_s == pytest.approx(1.0, abs=0.3)
    assert all(affinity == set(cpus) for _, _, affinity in heard)
    assert parse((tmp_path / "log.txt").read_text()) == finished.output
    assert 2.9 < finished.wall_s < 10


@needs_sysbench
def test_refused_option_names_command_and_log(tmp_path):
    with pytest.raises(SysbenchMisused, match=r"invalid option: --nosuch=1(.|\n)*sysbench cpu (.|\n)*log.txt"):
        run(
            SysbenchCall(("sysbench",), "cpu", ("--nosuch=1",), clients=1, seconds=1),
            tmp_path / "log.txt",
            timeout_s=30,
        )


def test_text_is_kept_as_it_comes(tmp_path):
    seen = []
    call = stand_in(tmp_path, f"say({REPORT.format(1)!r}); time.sleep(30)")

    def on_report(moment):
        seen.append((tmp_path / "log.txt").read_text())
        os.kill(moment.programs[0], signal.SIGKILL)

    with pytest.raises(SysbenchKilled, match="died of SIGKILL"):
        run(call, tmp_path / "log.txt", timeout_s=30, on_report=on_report)
    assert seen == [REPORT.format(1) + "\n"]


def test_death_by_signal_is_named(tmp_path):
    call = stand_in(tmp_path, f"say({REPORT.format(1)!r}); os.kill(os.getpid(), signal.SIGSEGV)")
    with pytest.raises(SysbenchFailed, match=r"died of SIGSEGV; its last lines:\n\[ 1s \]") as death:
        run(call, tmp_path / "log.txt", timeout_s=30)
    assert not isinstance(death.value, SysbenchKilled)


def test_status_is_a_failure_even_without_a_complaint(tmp_path):
    with pytest.raises(SysbenchFailed, match="ended with status 3"):
        run(stand_in(tmp_path, "sys.exit(3)"), tmp_path / "log.txt", timeout_s=30)


def test_status_0_with_half_an_output_is_a_failure(tmp_path):
    call = stand_in(tmp_path, f"say({REPORT.format(1)!r})")
    with pytest.raises(SysbenchFailed, match="incomplete"):
        run(call, tmp_path / "log.txt", timeout_s=30)


def test_hanging_sysbench_is_killed_with_its_children(tmp_path):
    call = stand_in(tmp_path, "child = os.fork()\nif child: say(f'child {child}')\ntime.sleep(60)")
    begin_s = time.monotonic()
    with pytest.raises(SysbenchFailed, match=r"still running after 1\.5 s and was killed"):
        run(call, tmp_path / "log.txt", timeout_s=1.5)
    assert time.monotonic() - begin_s < 10
    assert gone_within(int((tmp_path / "log.txt").read_text().split()[1]), 5)


def test_sysbench_is_killed_when_the_caller_fails(tmp_path):
    pids = []

    def on_report(moment):
        pids.append(moment.pids[0])
        raise RuntimeError("counters are gone")

    call = stand_in(tmp_path, f"say({REPORT.format(1)!r}); time.sleep(60)")
    with pytest.raises(RuntimeError, match="counters are gone"):
        run(call, tmp_path / "log.txt", timeout_s=30, on_report=on_report)
    assert not alive(pids[0])


def test_sysbench_dies_with_a_killed_caller(tmp_path):
    call = stand_in(tmp_path, f"say('pid %d' % os.getpid()); say({REPORT.format(1)!r}); time.sleep(60)")
    words = f"run({call!r}, Path({str(tmp_path / 'log.txt')!r}), timeout_s=60)"
    names = "from scripts.measure.loadgen.run_sysbench import run"
    names += "; from scripts.measure.loadgen.sysbench import SysbenchCall"
    code = f"from pathlib import Path; {names}; {words}"
    caller = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[4])
    log = tmp_path / "log.txt"
    deadline_s = time.monotonic() + 20
    while not (log.exists() and "thds" in log.read_text()) and time.monotonic() < deadline_s:
        time.sleep(0.05)
    pid = int(log.read_text().split()[1])
    assert alive(pid)
    caller.kill()
    caller.wait()
    assert gone_within(pid, 5)
