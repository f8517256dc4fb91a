"""What `make` shows of a run: the plan, a line for each finished step, failures with their logs, the answer last."""

import os
import pty
import re
import signal
import subprocess
import time

import pytest

from tests.workflow import stubbed
from tests.workflow.running import command_line, environment
from tests.workflow.stubbed import STUDY

pytestmark = pytest.mark.slow

REPORT = "results/report.html"
LINE = re.compile(r"^\d\d:\d\d:\d\d  (\w+)(?: (.+?))?: [\d.]+ (?:s|min)\b.*?(, about .+ left)?$", re.M)
SNAKEMAKES_OWN = re.compile(r"jobid|wildcards:|Select jobs|rule \w+:|Building DAG|Job stats|steps \(")


def calling(study, *arguments, **more):
    """Return the words and the environment of the call that `make` makes."""
    plugins = str(study.root / "scripts" / "workflow" / "plugins")
    words = command_line(study.root, "--logger", "steps", *arguments, root=study.root)
    return words, environment(STUB_JOURNAL=str(study.journal), **more) | {"PYTHONPATH": plugins}


def run(study, *arguments, **more):
    words, variables = calling(study, *arguments, **more)
    done = subprocess.run(words, cwd=study.root, env=variables, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """A study of stubs brought to its report in the way of `make`, and what that showed."""
    study = stubbed.copied(tmp_path_factory.mktemp("terminal"))
    variants = {name: STUDY["variants"][name] for name in ("baseline", "pgo")}
    study.configure(variants=variants, workloads={"oltp": None}, repetitions=1)
    planned = run(study, "--dry-run", REPORT)
    return study, planned, run(study, "--cores", "2", REPORT)


@pytest.fixture
def study(first):
    return first[0]


def test_a_plan_ends_with_our_lines_and_the_command_that_shows_snakemakes_list(first):
    _, (status, text), _ = first
    assert status == 0, text
    assert not SNAKEMAKES_OWN.search(text)
    *_, listed, following = text.splitlines()
    assert following == "Next: make report"
    assert listed.startswith("Snakemake's list of jobs: .venv/bin/snakemake ")
    assert listed.endswith(f" --dry-run {REPORT}")
    assert "--logger" not in listed
    assert "  measure      3 of 3     " in text


def test_each_finished_step_has_one_line_in_the_order_of_finishing(first):
    study, _, (status, text) = first
    assert status == 0, text
    assert not SNAKEMAKES_OWN.search(text)
    steps = LINE.findall(text)
    modules = [event.module for event in study.events()]
    commands = {"choose_loader", "finish_preparations", "publish_report"}
    assert sorted(rule for rule, *_ in steps if rule not in commands | {"describe_study"}) == sorted(
        module for module in modules if module != "script"
    )
    assert ("measure_block", "oltp, 8 clients, repetition 1") in [step[:2] for step in steps]
    assert ("build_server", "postgresql-15 baseline") in [step[:2] for step in steps]


def test_time_left_is_told_until_everything_is_measured(first):
    steps = LINE.findall(first[2][1])
    told = [bool(left) for *_, left in steps]
    measured = [rule for rule, *_ in steps].index("measure_block")
    assert all(told[:measured])
    assert not any(told[measured:])


def test_the_answer_the_report_and_the_next_command_are_the_last_lines(first):
    text = first[2][1]
    assert text.startswith("Using workflow specific profile") or text.startswith("plan of study default")
    plan, lines, answer = (text.index(part) for part in ("plan of study", "fetch_source", "A study of stubs"))
    assert plan < lines < text.index("Snakemake's own log: .snakemake/log/") < answer
    assert text.splitlines()[-2] == "Report: results/studies/default/report.html"
    assert text.splitlines()[-1].startswith("Next: ")


def test_a_finished_study_shows_its_answer_again(study):
    status, text = run(study, "--cores", "2", REPORT)
    assert status == 0, text
    assert "nothing to make or measure" in text
    assert text.rstrip().splitlines()[-1] == "Report: results/studies/default/report.html"
    assert LINE.findall(text) == []


def test_a_terminal_has_a_bar_above_which_lines_are_written(study):
    words, variables = calling(study, "--cores", "2", "--forcerun", "publish_report", "--", REPORT, TERM="xterm")
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(study.root)
        os.execve(words[0], words, variables)
    shown = b""
    try:
        while part := os.read(terminal, 65536):
            shown += part
    except OSError:
        pass  # the other end is closed
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0, shown
    text = shown.decode()
    assert "━" in text
    assert text.index("\x1b[?25l") < text.index("publish_report: ") < text.index("\x1b[?25h") < text.index("Report: ")
    assert text.splitlines()[-1].startswith("Next: ")


def test_a_failed_step_is_told_with_its_log_and_what_stands_last_in_it(study):
    (record,) = study.root.glob("results/studies/default/blocks/oltp/8/1/*/pgo.json")
    whole = record.read_bytes()
    record.write_bytes(whole.replace(b'"workload"', b'"workl0ad"', 1))
    status, text = run(study, "--cores", "2", "--forcerun", "collect_runs", "--", REPORT)
    record.write_bytes(whole)
    assert status == 1
    assert "collect_runs default: FAILED; log: results/logs/collect_runs/default.log\n    ERROR ValueError: " in text
    assert "exec python" not in text
    assert text.splitlines()[-1].startswith("1 step failed; ")


def test_an_interrupted_step_is_named(study):
    words, variables = calling(study, "--cores", "2", "--forcerun", "train_server", "--", REPORT, STUB_REST_S="300")
    begun = study.journal.stat().st_size
    with open(study.root / "interrupted.txt", "w+") as output:  # noqa: PTH123
        running = subprocess.Popen(words, cwd=study.root, env=variables, stdout=output, stderr=output)
        end_s = time.monotonic() + 120
        works = re.compile(r"^work\t.*train_server", re.M)
        while not works.search(study.journal.read_text()[begun:]) and time.monotonic() < end_s:
            time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        running.wait(60)
        output.seek(0)
        text = output.read()
    assert text.splitlines()[-1].startswith("interrupted: train_server postgresql-15 mixed; "), text
    assert "FAILED" not in text
    assert running.returncode != 0
