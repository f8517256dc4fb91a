"""After `make retry` Snakemake repeats the failed jobs, and no other costly job."""

import os
import subprocess
import sys

import pytest

from scripts.lib import json_record
from tests.workflow import stubbed

pytestmark = pytest.mark.slow

DIED = {"outcome": "failed", "reason": "died with signal 11"}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The study of stubs, brought to its report."""
    made = stubbed.finished(tmp_path_factory, "retry")
    assert made.plan().jobs == {}
    return made


def fail(made, pattern):
    """Turn the one record of a pattern into that of a failure."""
    (path,) = made.root.glob(pattern)
    json_record.write(path, {**json_record.read(path), **DIED})


def retry(made):
    environment = {**os.environ, "PYTHONPATH": str(made.root), "PYTHONDONTWRITEBYTECODE": "1"}
    script = [sys.executable, "-m", "scripts.commands.retry", "--config", "config.yaml"]
    done = subprocess.run(
        script, cwd=made.root, env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    assert "died with signal 11" in done.stderr


def test_failed_run_is_measured_again(finished):
    fail(finished, "results/studies/default/blocks/oltp/8/1/*/pgo.json")
    retry(finished)
    assert finished.plan().costly == {"measure_block": 1}
    assert finished.run("--cores", "2", "results/report.html").status == 0
    assert finished.plan().jobs == {}


def test_failed_build_is_compiled_and_checked_again_and_what_was_measured_stays(finished):
    fail(finished, "results/builds/mariadb-10.11/pgo-*/identity.json")
    retry(finished)
    assert finished.plan().costly == {"build_server": 1, "answer_statements": 1}
