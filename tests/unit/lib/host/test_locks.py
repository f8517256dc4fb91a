"""The machine-wide lock: readers together, a writer alone, gone with its holder, and not to be tricked."""

import os
import stat
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from scripts.lib.host import locks

ROOT = Path(__file__).parents[4]
HOLDER = """
import sys, time
from pathlib import Path
from scripts.lib.host import locks
with getattr(locks, sys.argv[1])(directory=Path(sys.argv[2])) as waited_s:
    print(f"got {waited_s:.2f}", flush=True)
    time.sleep(float(sys.argv[3]))
print("left", time.monotonic(), flush=True)
"""


@contextmanager
def holder(kind: str, directory: Path, seconds: float = 60.0, wait: bool = True):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, kind, str(directory), str(seconds)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        if wait:
            assert process.stdout.readline().startswith("got")
        yield process
    finally:
        process.kill()
        process.communicate()


def test_free_lock_is_had_at_once(tmp_path):
    told = []
    with locks.exclusive(told.append, directory=tmp_path) as waited_s:
        assert waited_s < 0.5
    assert told == []


def test_sharers_do_not_wait_for_each_other(tmp_path):
    with holder("shared", tmp_path), locks.shared(directory=tmp_path) as waited_s:
        assert waited_s < 0.5


@pytest.mark.parametrize(("first", "second"), [("shared", "exclusive"), ("exclusive", "shared"), ("exclusive",) * 2])
def test_exclusive_excludes(tmp_path, first, second):
    told = []
    with holder(first, tmp_path, seconds=1.0) as process:
        with getattr(locks, second)(told.append, directory=tmp_path) as waited_s:
            had_s = time.monotonic()
        left_s = float(process.stdout.readline().split()[1])
    # The holder says so a moment after it has left.
    assert had_s > left_s - 0.5
    assert 0.2 < waited_s < 10
    assert len(told) == 1


def test_who_waits_is_told_who_holds(tmp_path):
    told = []
    with holder("shared", tmp_path, seconds=0.5) as process, locks.exclusive(told.append, directory=tmp_path):
        pass
    if told == [()]:
        pytest.skip("this kernel or file system does not name the holders in /proc/locks")
    assert told == [(process.pid,)]


def test_death_of_the_holder_frees_the_lock(tmp_path):
    with holder("exclusive", tmp_path) as process:
        process.kill()
        with locks.exclusive(directory=tmp_path) as waited_s:
            assert waited_s < 5


def test_measurement_does_not_starve_behind_later_compiles(tmp_path):
    with holder("shared", tmp_path, seconds=2.0), holder("exclusive", tmp_path, seconds=1.0, wait=False) as measuring:
        time.sleep(1.0)
        with locks.shared(directory=tmp_path):
            assert measuring.stdout.read().startswith("got")


def test_children_do_not_inherit_the_lock(tmp_path):
    with locks.exclusive(directory=tmp_path):
        child = subprocess.Popen(["sleep", "30"])
    try:
        with locks.exclusive(directory=tmp_path) as waited_s:
            assert waited_s < 0.5
    finally:
        child.kill()
        child.wait()


def test_every_user_may_use_the_file_whatever_the_umask(tmp_path):
    mask = os.umask(0o077)
    try:
        with locks.shared(directory=tmp_path):
            pass
        assert os.umask(0o077) == 0o077
    finally:
        os.umask(mask)
    files = list(tmp_path.iterdir())
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o666}
    assert len(files) == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
def test_two_users_exclude_each_other():
    directory = Path(tempfile.mkdtemp(prefix="test-", dir=locks.lock_directory()))
    directory.chmod(0o1777)
    try:
        os.chown(directory, 65534, 65534)
        # Owned by another user than the directory's owner: what fs.protected_regular is about.
        with locks.exclusive(directory=directory):
            pass
        code = HOLDER.replace("with getattr", "import os; os.setgid(65534); os.setuid(1)\nwith getattr", 1)
        with locks.exclusive(directory=directory):
            command = [sys.executable, "-c", code, "shared", str(directory), "0"]
            other = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
            time.sleep(1.0)
            assert other.poll() is None
        assert float(other.communicate(timeout=20)[0].split()[1]) > 0.1
    finally:
        for file in directory.iterdir():
            file.unlink()
        directory.rmdir()


def test_symbolic_link_in_its_place_is_refused(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / f"{locks.HOST_LOCK_NAME}.lock").symlink_to(victim)
    with pytest.raises(OSError, match=locks.HOST_LOCK_NAME), locks.exclusive(directory=tmp_path):
        pass
    assert victim.read_text() == "precious"


def test_pipe_in_its_place_is_refused(tmp_path):
    os.mkfifo(tmp_path / f"{locks.HOST_LOCK_NAME}.lock")
    with pytest.raises(ValueError, match="is no plain file"), locks.exclusive(directory=tmp_path):
        pass


def test_default_directory_is_for_everyone():
    mode = locks.lock_directory().stat().st_mode
    assert mode & stat.S_IWOTH
    assert mode & stat.S_ISVTX
