"""sysbench's processes have the environment that a study gives them, or the run fails by name."""

import os
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from scripts.lib.json_record import file_sha256
from scripts.measure.engine.setting import Setting
from scripts.measure.loadgen.output import SysbenchFailed
from tests.unit.measure.servers.test_process_environment import library

__all__ = ["library"]
STARTED_WITHIN_S = 10


def preloaded_by(environment, pids, tmp_path):
    """Return what a setting with this environment of its clients proves of processes."""
    load = SimpleNamespace(client_environment=environment)
    return Setting.preloaded_by(SimpleNamespace(load=load, text=tmp_path / "sysbench.txt"), pids)


@pytest.fixture
def sleeping():
    """A function that starts a process with more environment variables; it ends with the test."""
    running = []

    def start(**environment):
        running.append(subprocess.Popen(["sleep", "60"], env={**os.environ, **environment}))
        # The loader maps libraries after the process has its new name.
        maps = Path(f"/proc/{running[-1].pid}/maps")
        until_s = time.monotonic() + STARTED_WITHIN_S
        while "/sleep" not in (text := maps.read_text()) or "libc" not in text:
            assert time.monotonic() < until_s
            time.sleep(0.01)
        return running[-1].pid

    yield start
    for process in running:
        process.kill()
        process.wait()


def test_variables_and_libraries_of_every_process_are_recorded(tmp_path, sleeping, library):
    given = {"LD_PRELOAD": str(library), "MALLOC_ARENA_MAX": "2"}
    libraries = preloaded_by(given, [sleeping(**given), sleeping(**given)], tmp_path)
    assert libraries == {str(library): file_sha256(library)}


def test_one_process_without_the_variable_is_a_failure_that_names_it(tmp_path, sleeping):
    pids = [sleeping(MALLOC_ARENA_MAX="2"), sleeping()]
    with pytest.raises(SysbenchFailed, match=r"without client_environment.MALLOC_ARENA_MAX=2 \(log: .*sysbench.txt\)"):
        preloaded_by({"MALLOC_ARENA_MAX": "2"}, pids, tmp_path)


def test_study_without_the_key_has_no_facts(tmp_path):
    assert preloaded_by({}, [os.getpid()], tmp_path) == {}
