"""Commands are run, told and killed as promised; an entry script ends in order whatever happens to it or its parent."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from scripts.lib.host import entry, process
from scripts.lib.host.made_environment import made_environment
from scripts.lib.host.process import CommandFailed, CommandKilled, output_of, run

CHECKOUT = Path(__file__).parents[4]
ENTRY = """
import sys, time
from pathlib import Path
from scripts.lib.host.entry import entry
with entry(Path(sys.argv[1])):
    try:
        {body}
    finally:
        Path(sys.argv[1]).with_suffix(".cleaned").touch()
"""
SLEEP = "Path(sys.argv[1]).with_suffix('.ready').touch(); time.sleep(60)"
SHOW = "import json, os; print(json.dumps([dict(os.environ), os.getcwd()]))"
# Starts the command line it is given, tells its process id, and stays.
PARENT = """
import os, subprocess, sys, time
os.environ["WORKFLOW_PID"] = str(os.getpid())
print(subprocess.Popen(sys.argv[1:]).pid, flush=True)
time.sleep(60)
"""


def script(body, log):
    """Return the command line of an entry script with this body."""
    return [sys.executable, "-c", ENTRY.format(body=body), str(log)]


def finish(command):
    return subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=60)


def wait_until(condition, seconds=20):
    deadline_s = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline_s, "waited in vain"
        time.sleep(0.01)


def ended(pid):
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_output_of_a_command_goes_to_the_log_below_its_command_line(tmp_path):
    log = tmp_path / "x.log"
    log.write_text("before\n")
    run(["sh", "-c", "echo out; echo err >&2"], log)
    assert log.read_text() == "before\n$ sh -c 'echo out; echo err >&2'\nout\nerr\n"


def test_failure_tells_command_status_and_last_lines(tmp_path):
    with pytest.raises(CommandFailed) as caught:
        run(["sh", "-c", "seq 100; exit 3"], tmp_path / "x.log")
    lines = str(caught.value).splitlines()
    assert lines[0] == "sh -c 'seq 100; exit 3' ended with status 3:"
    assert lines[1:] == [str(number) for number in range(86, 101)]


@pytest.mark.parametrize("name", ["HUP", "INT", "KILL", "TERM"])
def test_command_killed_from_outside_says_by_which_signal(tmp_path, name):
    for call in (lambda argv: run(argv, tmp_path / "x.log"), output_of):
        with pytest.raises(CommandKilled, match=f"was killed by SIG{name}:"):
            call(["sh", "-c", f"kill -{name} $$"])


def test_command_that_crashes_was_not_killed_from_outside(tmp_path):
    with pytest.raises(CommandFailed, match="ended with status -11") as caught:
        run(["sh", "-c", "kill -SEGV $$"], tmp_path / "x.log")
    assert not isinstance(caught.value, CommandKilled)


@pytest.mark.parametrize("call", [lambda *words, **how: run(*words, **how).output, process.output_of])
def test_command_has_the_made_environment_with_more_laid_over_it_and_its_folder(tmp_path, monkeypatch, call):
    monkeypatch.setenv("OURS", "1")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    printed = call([sys.executable, "-c", SHOW], environment={"MORE": "2"}, cwd=tmp_path)
    assert json.loads(printed) == [{**made_environment(), "MORE": "2"}, str(tmp_path)]


def test_command_reads_a_file_or_nothing(tmp_path):
    (tmp_path / "in").write_text("given\n")
    run(["cat"], tmp_path / "one.log", stdin=tmp_path / "in")
    run(["cat"], tmp_path / "two.log")
    assert (tmp_path / "one.log").read_text() == "$ cat\ngiven\n"
    assert (tmp_path / "two.log").read_text() == "$ cat\n"


def test_cost_of_a_command_is_that_of_all_its_children(tmp_path):
    code = "import time\nx = bytearray(64 << 20)\nwhile time.process_time() < 0.5: pass"
    usage = run(["sh", "-c", f'"{sys.executable}" -c "{code}"; true'], tmp_path / "x.log").usage
    assert 0.5 <= usage.cpu_s < 5
    assert usage.wall_s >= 0.4
    assert 64 < usage.peak_rss_mib < 400


@pytest.mark.skipif(os.getuid() != 0, reason="only root can run a command as another user")
def test_command_runs_as_the_user_it_is_given(tmp_path):
    run(["id", "-u"], tmp_path / "x.log", identity={"user": 65534, "group": 65534, "extra_groups": []})
    assert (tmp_path / "x.log").read_text().endswith("\n65534\n")


def test_error_of_an_entry_script_is_one_sentence_with_the_log_and_status_1(tmp_path):
    log = tmp_path / "logs" / "x.log"
    done = finish(script('raise ValueError("clients: 0, expected more")', log))
    assert done.returncode == 1
    assert done.stderr == f"clients: 0, expected more\n(log: {log})\n"
    assert "ERROR ValueError: clients: 0, expected more" in log.read_text()
    assert log.with_suffix(".cleaned").exists()


def test_slip_of_ours_keeps_its_traceback(tmp_path):
    done = finish(script("{}['missing']", tmp_path / "x.log"))
    assert done.returncode == 1
    assert "Traceback" in done.stderr


def test_entry_script_that_ends_well_says_nothing(tmp_path):
    done = finish(script("pass", tmp_path / "x.log"))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_lets_an_entry_script_clean_up(tmp_path, number):
    log = tmp_path / "x.log"
    job = subprocess.Popen(script(SLEEP, log), cwd=CHECKOUT)
    wait_until(log.with_suffix(".ready").exists)
    job.send_signal(number)
    assert job.wait(timeout=20) == 128 + number
    assert log.with_suffix(".cleaned").exists()


def test_death_of_the_parent_lets_an_entry_script_clean_up(tmp_path):
    log = tmp_path / "x.log"
    command = [sys.executable, "-c", PARENT, *script(SLEEP, log)]
    with subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True) as parent:
        job = int(parent.stdout.readline())
        wait_until(log.with_suffix(".ready").exists)
        parent.kill()
    wait_until(lambda: ended(job))
    assert log.with_suffix(".cleaned").exists()


def test_entry_script_whose_parent_died_before_it_began_does_no_work(tmp_path):
    log = tmp_path / "x.log"
    late = ["sh", "-c", 'sleep 0.5; exec "$@"', "sh", *script("Path(sys.argv[1]).with_suffix('.worked').touch()", log)]
    with subprocess.Popen([sys.executable, "-c", PARENT, *late], cwd=CHECKOUT, stdout=subprocess.PIPE) as parent:
        job = int(parent.stdout.readline())
        parent.kill()
    wait_until(lambda: ended(job))
    assert not log.with_suffix(".worked").exists()


def test_killed_script_takes_its_command_along(tmp_path):
    body = "from scripts.lib.host.process import run; run(['sleep', '61'], Path(sys.argv[1]))"
    job = subprocess.Popen(script(body, tmp_path / "x.log"), cwd=CHECKOUT)
    wait_until(lambda: [child for child in psutil.Process(job.pid).children() if child.name() == "sleep"])
    children = psutil.Process(job.pid).children()
    job.kill()
    job.wait()
    wait_until(lambda: all(ended(child.pid) for child in children))


def test_interrupted_wait_kills_the_whole_group(tmp_path):
    body = "from scripts.lib.host.process import run; run(['sh', '-c', 'sleep 62 & sleep 62'], Path(sys.argv[1]))"
    job = subprocess.Popen(script(body, tmp_path / "x.log"), cwd=CHECKOUT)
    wait_until(lambda: len(psutil.Process(job.pid).children(recursive=True)) == 3)
    group = [child.pid for child in psutil.Process(job.pid).children(recursive=True)]
    job.terminate()
    assert job.wait(timeout=20) == 128 + signal.SIGTERM
    wait_until(lambda: all(ended(pid) for pid in group))


def test_start_of_this_process_is_known_to_a_tick():
    assert entry.started_s() == pytest.approx(psutil.Process().create_time(), abs=1.1)
    assert entry.started_s() < time.time()


def test_last_lines_of_a_log_that_is_missing_or_empty_are_told(tmp_path):
    (tmp_path / "empty.log").touch()
    assert process.last_lines(tmp_path / "no.log") == process.last_lines(tmp_path / "empty.log") == "(the log is empty)"


def test_output_without_a_log_is_returned_and_logged_line_by_line(tmp_path, caplog):
    caplog.set_level("DEBUG")
    finished = run(["sh", "-c", "echo one; echo two >&2; printf 'a\\0b'"], cwd=tmp_path)
    assert finished.output == "one\na\0b"
    assert "sh: one" in caplog.messages
    assert "sh: two" in caplog.messages
    assert f"in {tmp_path}: sh -c" in caplog.text


def test_failure_without_a_log_tells_the_last_lines_errors_last():
    with pytest.raises(CommandFailed) as caught:
        run(["sh", "-c", "echo bad >&2; seq 100; exit 3"])
    assert str(caught.value).splitlines()[1:] == [*(str(number) for number in range(87, 101)), "bad"]


def test_lines_of_progress_are_neither_output_nor_logged(caplog):
    caplog.set_level("DEBUG")
    taken = []
    finished = run(["sh", "-c", "echo 50%; echo out"], progress=lambda line: "%" in line and not taken.append(line))
    assert (finished.output, taken) == ("out\n", ["50%\n"])
    assert "sh: 50%" not in caplog.messages


def test_error_in_progress_kills_the_group():
    pids = []

    def fail(line):
        pids.append(int(line))
        raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        run(["sh", "-c", "sleep 63 & echo $!; wait"], progress=fail)
    wait_until(lambda: ended(pids[0]))


def test_silent_command_is_reported_as_running(monkeypatch, caplog):
    caplog.set_level("INFO")
    monkeypatch.setattr(process, "PROGRESS_S", 0.1)
    run(["sleep", "0.5"])
    assert "sleep: still running after 0 s" in caplog.messages


def test_answer_of_a_short_command_is_its_standard_output():
    assert process.output_of(["cat"], stdin="given") == "given"
    assert process.output_of(["sh", "-c", "echo $MORE; echo err >&2"], environment={"MORE": "more"}) == "more\n"
    with pytest.raises(CommandFailed, match=r"^sh -c 'echo no >&2; exit 4' ended with status 4:\nno$"):
        process.output_of(["sh", "-c", "echo no >&2; exit 4"])
    with pytest.raises(FileNotFoundError, match="command no-such-command not found: install the package"):
        process.output_of(["no-such-command"])


def test_long_command_line_is_shortened_in_its_failure():
    with pytest.raises(CommandFailed, match=r"^sh -c 'exit 1' x … ended with status 1:\n\(no output\)$"):
        process.output_of(["sh", "-c", "exit 1", *["x"] * 400])
