"""What a killed process held is gone soon after it, and what it gave back before stays."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from scripts.lib.host import lifetime

CHECKOUT = Path(__file__).parents[4]
# Holds a folder and a process group whose leader has a child that would outlive it, then gives back another folder.
HOLDER = """
import subprocess, sys, time
from pathlib import Path
from scripts.lib.host import lifetime
held, given_back = Path(sys.argv[1]), Path(sys.argv[2])
gone = lifetime.remove_folder_at_death(given_back)
lifetime.remove_folder_at_death(held)
gone()
dropped = lifetime.run_at_death(["touch", str(given_back / "dropped")])
lifetime.run_at_death(["touch", str(given_back / "it's run")])
dropped()
tree = subprocess.Popen(["sh", "-c", "sleep 63 & echo $!; wait"], start_new_session=True, stdout=subprocess.PIPE)
grandchild = int(tree.stdout.readline())
with lifetime.kill_group_at_death(tree.pid):
    print(tree.pid, grandchild, flush=True)
    time.sleep(60)
"""


def gone(pid):
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def wait_until(condition, seconds=10):
    deadline_s = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline_s, "waited in vain"
        time.sleep(0.02)


@pytest.fixture
def folders(tmp_path):
    made = [tmp_path / name for name in ("it's $(held) 'here'", "given back")]
    for folder in made:
        (folder / "below").mkdir(parents=True)
        (folder / "below" / "file").write_text("content")
    return made


def killed(folders, number):
    """Start a holder, send it a signal, and return the processes it held."""
    command = [sys.executable, "-c", HOLDER, *map(str, folders)]
    with subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True) as holder:
        pids = [int(word) for word in holder.stdout.readline().split()]
        assert not any(map(gone, pids))
        holder.send_signal(number)
    return pids


def test_killed_process_leaves_neither_its_folder_nor_its_grandchildren(folders):
    pids = killed(folders, signal.SIGKILL)
    wait_until(lambda: all(map(gone, pids)))
    wait_until(lambda: [each.name for each in folders[0].parent.iterdir()] == ["given back"])
    assert (folders[1] / "below" / "file").exists()
    wait_until(lambda: (folders[1] / "it's run").exists())
    assert not (folders[1] / "dropped").exists()


def test_what_is_left_in_order_is_left_alone(tmp_path):
    code = "import sys, pathlib; from scripts.lib.host import lifetime as at; "
    code += "at.remove_folder_at_death(pathlib.Path(sys.argv[1]))()"
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=CHECKOUT, check=True, timeout=30)
    time.sleep(0.5)
    assert tmp_path.is_dir()


def test_path_that_the_watcher_could_not_read_is_refused(tmp_path):
    with pytest.raises(ValueError, match="expected a path without line breaks"):
        lifetime.remove_folder_at_death(tmp_path / "a\nb")


def test_signal_to_our_group_right_after_its_start_does_not_reach_the_watcher():
    code = """
import os, signal, time
from pathlib import Path
from scripts.lib.host import lifetime
signal.signal(signal.SIGINT, lambda *_: None)
for _ in range(20):
    lifetime._watcher.clear()
    gone = lifetime.remove_folder_at_death(Path("/nowhere"))
    os.killpg(0, signal.SIGINT)
    time.sleep(0.01)
    gone()
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=CHECKOUT, start_new_session=True, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_threads_that_hold_things_at_once_have_one_watcher_and_one_ledger(tmp_path):
    code = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from scripts.lib.host import lifetime
begin = Barrier(8)
starting, starts = lifetime._start_watcher, []
def start():
    starts.append(1)
    return starting()
lifetime._start_watcher = start
def hold(number):
    begin.wait()
    return lifetime.remove_folder_at_death(Path(sys.argv[1], str(number)))
with ThreadPoolExecutor(8) as threads:
    gone = list(threads.map(hold, range(8)))
print(len(starts), len(lifetime._watcher), len(lifetime._ledger))
for drop in gone:
    drop()
"""
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["1", "1", "1"]
