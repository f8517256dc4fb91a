"""What `make watch` shows follows from the files alone, costs next to nothing, and never ends in a traceback."""

import contextlib
import io
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import psutil
import pytest
import yaml
from rich.console import Console

from scripts.commands.watch import loop, progress
from scripts.commands.watch import view as watch_view
from scripts.commands.watch.loop import Looks
from scripts.commands.watch.progress import SHOWN, StudyProgress, last_line, ratios_so_far
from scripts.lib import json_record
from scripts.lib.host import locks
from scripts.lib.json_record import digest, read
from scripts.measure.engine import run_record
from scripts.report.analysis import comparison, run_tables
from scripts.report.analysis.metrics import METRICS
from tests.made import laid_out, refused
from tests.made import run as made_run
from tests.made.run import record_of
from tests.made.studies import CHECKOUT, config, paths

pytestmark = pytest.mark.slow

STEAL = {"code": "steal", "text": "the hypervisor took 5.1 %", "value": 0.051, "threshold": 0.02}
ABSENT = {"code": "not_measured", "text": "this machine does not tell", "value": [], "threshold": None}


@pytest.fixture
def study(tmp_path, monkeypatch):
    """The small study of 2 x 3 x 6 = 36 runs, nothing of it made; the working directory is the test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(locks, "checkout_holder", lambda folder: None)
    return paths(repetitions=6)


@pytest.fixture
def at_work(monkeypatch):
    monkeypatch.setattr(locks, "checkout_holder", lambda folder: 4242)


def shown(study, looked=None) -> str:
    """Return the view as text, each run of white space as one space."""
    console = Console(width=200, record=True, file=io.StringIO())
    console.print((looked or Looks(StudyProgress(study))).next())
    return " ".join(console.export_text().replace("\u202f", " ").split())


def write_report(study):
    (Path(study.study) / "report.html").write_text("report")


def test_study_without_results_has_not_started(study):
    text = shown(study)
    assert "study small: Two builds phase not started (no Snakemake works here)" in text
    assert "sources 0 of 1, builds 0 of 3, checks 0 of 3, datasets 0 of 1, profiles 0 of 1" in text
    # Nothing was measured, so a run takes what the config says: 2 s, 5 s and 5 s for the rest.
    assert "run 0 of 36, about 7 min 12 s of measuring left" in text
    assert "ratio" not in text
    assert "now" not in text


def test_view_changes_nothing_on_disk(study):
    laid_out.make(study, runs=7)
    before = {path: path.stat().st_mtime_ns for path in Path().rglob("*")}
    shown(study)
    assert {path: path.stat().st_mtime_ns for path in Path().rglob("*")} == before


@pytest.mark.parametrize(
    ("kind", "log", "phase", "name"),
    [
        ("sources", "fetch_source/{source}.log", "fetching sources", "source postgresql-15"),
        ("builds", "build_server/postgresql-15/{build}.log", "building", "build postgresql-15 pgo-"),
        ("datasets", "load_dataset/postgresql-15/{dataset}.log", "loading datasets", "dataset postgresql-15 sbtest-"),
        ("profiles", "train_server/postgresql-15/{profile}-oltp.txt", "training", "profile postgresql-15 mixed-"),
        ("checks", "compare_answers/postgresql-15/{build}.log", "checking builds", "check postgresql-15 pgo-"),
        ("checks", "audit_build/postgresql-15/{build}.log", "checking builds", "check postgresql-15 pgo-"),
    ],
)
def test_newest_log_of_what_is_missing_tells_the_phase(study, at_work, kind, log, phase, name):
    laid_out.prepare(study)
    for record in progress.expected_s(study)[kind]:
        Path(record).unlink()
    folders = {"build": study.build("postgresql-15", "pgo"), "dataset": next(iter(study.datasets))}
    folders |= {"profile": next(iter(study.profiles)), "source": str(Path(study.source("postgresql-15")).parent)}
    written = Path("results/logs", log.format(**{key: Path(folder).name for key, folder in folders.items()}))
    written.parent.mkdir(parents=True)
    written.write_text("first\n[12/854] \x1b[1mcompiling sql.cc\x1b[0m\n\n")
    text = shown(study)
    assert f"phase {phase} (Snakemake is process 4242)" in text
    assert f"now {name}" in text
    assert "ago: [12/854] [1mcompiling sql.cc[0m" in text


def test_run_that_is_measured_is_named_with_the_last_line_of_sysbench(study, at_work):
    laid_out.make(study, runs=9)
    path = list(study.runs)[9]
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).with_suffix(".txt").write_text("Threads started!\n[ 3s ] thds: 8 tps: 612.00\n")
    text, run = shown(study), study.runs[path]
    assert "phase measuring (Snakemake is process 4242)" in text
    assert f"now {run.variant}, {run.workload}, 8 clients, repetition {run.repetition}" in text
    assert "ago: [ 3s ] thds: 8 tps: 612.00" in text


def test_log_of_a_killed_job_is_called_the_last_one_not_the_present(study):
    laid_out.make(study, runs=9)
    Path(list(study.runs)[9]).parent.mkdir(parents=True, exist_ok=True)
    Path(list(study.runs)[9]).with_suffix(".txt").write_text("[ 3s ] thds: 8\n")
    text = shown(study)
    assert "phase not running, unfinished (no Snakemake works here)" in text
    assert "last " in text
    assert "now " not in text
    assert "ends about" not in text


def test_time_left_is_that_of_the_runs_that_went_well(study, at_work):
    laid_out.make(study, runs=34)
    short = {"outcome": "failed", "times": {"started_at": 5.0, "ended_at": 6.0}}
    laid_out.measure(study, list(study.runs)[3], **short)
    assert StudyProgress(study).run_s() == 2 + 5 + 5
    looked = StudyProgress(study)
    looked.look(everything=True)
    assert looked.run_s() == pytest.approx(sum(made_run.PHASES_S.values()) - made_run.PHASES_S["wait_lock"])
    assert "run 34 of 36, about 23 s of measuring left, ends about" in shown(study)


def test_time_left_leaves_out_what_runs_waited_for_the_machine(study, at_work):
    laid_out.make(study, runs=34)
    for path in list(study.runs)[:34]:
        laid_out.measure(study, path, phases_s={**made_run.PHASES_S, "wait_lock": 400.0})
    assert "run 34 of 36, about 23 s of measuring left, ends about" in shown(study)


def test_finished_study_says_so_only_when_the_report_is_newer_than_the_runs(study):
    laid_out.make(study)
    write_report(study)
    looked = Looks(StudyProgress(study))
    assert "phase finished" in shown(study, looked)
    assert looked.last
    os.utime(Path(study.study) / "report.html", (1, 1))
    assert "phase not running, unfinished" in shown(study)


def test_a_snakemake_at_work_keeps_a_finished_study_on_the_screen(study, at_work):
    laid_out.make(study)
    write_report(study)
    looked = Looks(StudyProgress(study))
    looked.next()
    assert not looked.last


def test_ratios_are_those_the_report_will_have(study):
    laid_out.make(study)
    runs = [read(Path(path)) for path in study.runs]
    for facts in runs:  # noise, for an interval with a width
        facts["window"]["tps"] *= 1 + int(digest([facts["variant"], facts["block"]])[:4], 16) / 1e6
    rows = [run_tables.run_row(record_of(facts)) for facts in runs]
    terms = comparison.Terms("baseline", tuple(METRICS))
    expected = comparison.compare(pd.DataFrame(rows), terms).overall.set_index(["variant", "metric"])
    found = ratios_so_far(rows, "baseline")
    assert {(each.variant, each.metric) for each in found} == {(name, of) for name in ("aa", "pgo") for of in SHOWN}
    for each in found:
        row = expected.loc[(each.variant, each.metric)]
        assert (each.ratio, each.low, each.high) == pytest.approx((row.ratio, row.ratio_low, row.ratio_high), rel=1e-12)
        assert each.blocks == 12


def test_ratio_has_an_interval_from_five_whole_repetitions_on(study):
    def tps(runs):
        rows = [run_tables.run_row(run_record.read(Path(path))) for path in list(study.runs)[:runs]]
        return next(each for each in ratios_so_far(rows, "baseline") if each.variant == "pgo")

    laid_out.make(study)
    assert [tps(29).blocks, tps(30).blocks] == [9 if list(study.runs.values())[29].variant != "aa" else 10, 10]
    assert pd.isna(tps(24).low)
    assert tps(24).ratio == pytest.approx((1.55 * 1.31) ** 0.5)
    assert tps(30).low == pytest.approx(tps(30).high) == pytest.approx((1.55 * 1.31) ** 0.5)


def test_without_a_run_of_the_reference_there_is_no_ratio(study):
    laid_out.prepare(study)
    laid_out.measure(study, next(path for path, run in study.runs.items() if run.variant == "pgo"))
    assert "last runs" in shown(study)
    assert "ratio" not in shown(study)


def test_split_blocks_are_counted_and_left_out(study):
    laid_out.make(study, runs=6)
    path = next(path for path, run in study.runs.items() if run.variant == "pgo")
    host = read(Path(path))["host"]
    laid_out.measure(study, path, host={**host, "boot_id": "another"})
    assert "1, 1 split" in shown(study)


def test_warnings_of_the_last_runs_are_told_with_how_many_runs_have_them(study):
    laid_out.make(study, runs=20)
    for number in (2, 18):
        laid_out.measure(study, list(study.runs)[number], warnings=[STEAL, ABSENT])
    laid_out.measure(study, list(study.runs)[3], warnings=[{**STEAL, "code": "swap"}])
    text = shown(study)
    assert "warning: steal in 2 of 20 runs: the hypervisor took 5.1 %" in text
    assert "not_measured" not in text
    assert "warning: swap" not in text, "no run shown has it"


def test_equal_failures_are_one_line_with_advice_that_fits(study):
    lost = list(study.runs)[:9]
    laid_out.make(study, runs=9)
    for number, path in enumerate(lost, start=1):
        known = {"kind": "option", "cause": "x"}
        laid_out.measure(study, path, outcome="failed", reason=refused.reason(number), failure=known)
    text = shown(study)
    assert text.count("failed:") == 1
    assert "failed: 9 results alike, the last results/" in text
    assert "the server refuses an option; correct it in the study" in text
    assert "make retry" not in text


def test_failures_are_named_with_their_reason(study):
    laid_out.make(study, runs=20)
    failed = {"outcome": "failed", "reason": "server died with signal 11\nits last lines", "window": None}
    path = list(study.runs)[19]
    laid_out.measure(study, path, **failed)
    folder = study.build("postgresql-15", "pgo")
    laid_out.build(folder, "postgresql-15", "pgo", outcome="failed", reason="no profile [sic]")
    text = shown(study)
    assert f"failed: {path}: server died with signal 11 " in text
    assert f"failed: {folder}/identity.json: no profile [sic]" in text
    assert "`make retry` removes failed results" in text


def test_damaged_record_is_shown_and_ends_nothing(study):
    laid_out.make(study, runs=20)
    path = Path(list(study.runs)[4])
    path.write_text('{"format": 1, ')
    assert f"failed: {path}: {path}: not JSON" in shown(study)


def test_record_is_read_once_and_again_when_it_changes(study, monkeypatch):
    seen = []
    monkeypatch.setattr(json_record, "read", lambda path: seen.append(str(path)) or read(path))
    laid_out.make(study, runs=20)
    looked, planned = StudyProgress(study), list(study.runs)
    assert looked.look(everything=True)
    assert sorted(set(seen)) == sorted(seen)
    seen.clear()
    assert not looked.look(everything=False)
    laid_out.measure(study, planned[20])
    assert looked.look(everything=False)
    assert seen == [planned[20]]
    os.utime(planned[7], (1, 1))
    Path(planned[5]).unlink()
    assert not looked.look(everything=False)
    assert looked.look(everything=True)
    assert seen == [planned[20], planned[7]]
    assert planned[5] not in looked.rows
    assert looked.count("runs") == (20, 36)


def test_look_beside_a_measurement_touches_the_next_runs_only(study, monkeypatch):
    laid_out.make(study, runs=20)
    looked = StudyProgress(study)
    looked.look(everything=True)
    asked = []
    real = Path.stat
    monkeypatch.setattr(Path, "stat", lambda self, **more: asked.append(str(self)) or real(self, **more))
    looked.look(everything=False)
    assert [path for path in asked if "/blocks/" in path] == list(study.runs)[20 : 20 + progress.LOOKAHEAD]


def test_rest_keeps_all_looks_under_one_per_cent_of_a_core(study, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(loop.time, "process_time", lambda: clock[0])
    view = watch_view.progress_view
    monkeypatch.setattr(loop, "progress_view", lambda *given: clock.__setitem__(0, clock[0] + 0.1) or view(*given))
    looked = Looks(StudyProgress(study))
    looked.next()
    assert looked.rest_s() == loop.REFRESH_S, "the first look reads everything"
    looked.next()
    assert looked.rest_s() == pytest.approx(20)


def test_last_line_is_found_behind_what_is_long_and_rewritten(tmp_path):
    log = tmp_path / "log"
    log.write_bytes(b"x" * 10_000 + b"\nfirst\rsecond \xff\n  \n")
    assert last_line(log) == "second \ufffd"
    log.write_bytes(b"")
    assert last_line(log) == ""


def wait_until(condition, seconds=10):
    deadline_s = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline_s, "waited in vain"
        time.sleep(0.01)


def test_holder_is_a_living_snakemake_and_asking_takes_no_lock(tmp_path):
    assert locks.checkout_holder(tmp_path) is None
    lock = tmp_path / ".lock"
    lock.write_text(f"{os.getpid()}\n")
    assert locks.checkout_holder(tmp_path) is None, "pytest is no Snakemake"
    with subprocess.Popen([sys.executable, "-c", "input()", "snakemake"], stdin=subprocess.PIPE) as process:
        lock.write_text(f"{process.pid}\n")
        # Popen returns while exec(2) still lays out the new command line.
        wait_until(lambda: Path(f"/proc/{process.pid}/cmdline").read_bytes())
        assert locks.checkout_holder(tmp_path) == process.pid
        locks.hold_checkout(tmp_path)
        process.communicate(b"\n")
    lock.write_text(f"{process.pid}\n")
    assert locks.checkout_holder(tmp_path) is None, "it ended"


def command(folder, *arguments, first="watch.stand_back = int"):
    """Return Popen's arguments for the command; on a busy machine it would starve at idle priority."""
    more = {"PYTHONPATH": str(CHECKOUT), "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "120", "TERM": "xterm"}
    environment = {**os.environ, **more}
    code = f"from scripts.commands.watch import __main__ as watch\n{first}\nwatch.command()"
    script = [sys.executable, "-c", code, "--config", "small.yaml", *arguments]
    return {"args": script, "cwd": folder, "env": environment, "text": True}


def test_command_without_a_terminal_shows_it_once(study, tmp_path):
    Path("small.yaml").write_text(yaml.safe_dump(config(repetitions=6)))
    laid_out.make(study, runs=9)
    done = subprocess.run(**command(tmp_path), capture_output=True, timeout=120, check=True)
    assert "run 9 of 36" in done.stdout
    assert done.stderr == ""


def test_command_names_the_mistake_of_a_config(tmp_path):
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(config(repetitions="many")))
    done = subprocess.run(**command(tmp_path, "--once"), capture_output=True, timeout=120, check=False)
    assert done.returncode == 1
    assert "repetitions: 'many', expected a whole number" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "results").exists()


def test_command_stands_back_before_it_imports_what_costs_time(tmp_path):
    code = """
import os, sys, psutil
stand_back = watch.stand_back
def ask():
    stand_back()
    print(os.nice(0), os.sched_getscheduler(0), int(psutil.Process().ionice().ioclass))
    print({"pandas", "rich", "scipy"} & set(sys.modules))
    raise KeyboardInterrupt
watch.stand_back = ask
"""
    done = subprocess.run(**command(tmp_path, first=code), capture_output=True, timeout=120, check=True)
    assert done.stdout == f"19 {os.SCHED_IDLE} {int(psutil.IOPRIO_CLASS_IDLE)}\nset()\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_on_a_terminal_it_stays_until_it_is_told_to_leave_and_leaves_quietly(study, tmp_path, number):
    Path("small.yaml").write_text(yaml.safe_dump(config(repetitions=6)))
    laid_out.make(study, runs=9)
    above, below = os.openpty()
    ends = {"stdin": below, "stdout": below, "stderr": below, "start_new_session": True}
    with subprocess.Popen(**command(tmp_path), **ends) as process:
        try:
            os.close(below)
            seen = read_until(above, b"run 9 of 36")
            time.sleep(0.5)
            assert process.poll() is None
            process.send_signal(number)
            seen += read_until(above, None)
            assert process.wait(timeout=60) == 0
        finally:
            process.kill()
    assert b"Traceback" not in seen
    assert seen.endswith(b"\x1b[?25h"), "the cursor is shown again"
    os.close(above)


def read_until(terminal: int, wanted: bytes | None) -> bytes:
    """Return what a terminal shows until something wanted, or until its program has left."""
    seen = b""
    with contextlib.suppress(OSError):  # nobody has the other end open any more
        while (wanted is None or wanted not in seen) and select.select([terminal], [], [], 60)[0]:
            seen += os.read(terminal, 4096)
    return seen
