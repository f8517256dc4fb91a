"""Snakemake called in ways that cannot work ends with a sentence that says why."""

import subprocess
from pathlib import Path

import pytest
import yaml

from tests.workflow.running import CHECKOUT, command_line, environment, snakemake

ABSENT = "raise ModuleNotFoundError(\"No module named 'pymysql'\", name='pymysql')\n"


@pytest.mark.parametrize(
    ("arguments", "absent", "told"),
    [
        (["results/reprot.html"], False, "results/reprot.html"),
        (["--snakefile", "nosuch/Snakefile"], False, "nosuch/Snakefile"),
        ([], True, "pymysql: this Python package is missing"),
    ],
    ids=["wrong target", "wrong Snakefile", "Python package missing"],
)
def test_call_that_cannot_work_says_why(tmp_path, arguments, absent, told):
    more = {}
    if absent:
        (tmp_path / "absent").mkdir()
        (tmp_path / "absent" / "pymysql.py").write_text(ABSENT)
        more["PYTHONPATH"] = str(tmp_path / "absent")
    config = CHECKOUT / "studies" / "quick.yaml"
    answer = snakemake(tmp_path, *arguments, "--dry-run", "--configfile", config, **more)
    assert answer.status != 0
    assert told in answer.text
    assert "Traceback (most recent call last)" not in answer.text


def namespaced(script: str, folder: Path, *words: object) -> subprocess.CompletedProcess:
    """Run a shell script in a mount namespace of its own; skip the test where there can be none."""
    command = ["unshare", "--mount", "sh", "-euc", script, "sh", *map(str, words)]
    if subprocess.run([*command[:3], "-c", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no mount namespace can be made here")
    return subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)


def test_results_on_a_file_system_without_programs_are_told_by_the_plan_and_refused_by_a_run(tmp_path):
    (tmp_path / "results").mkdir()
    script = 'mount -t tmpfs -o noexec tmpfs results; "$@" --dry-run; ! "$@" --cores 1; ls results'
    words = command_line(tmp_path, "--configfile", CHECKOUT / "studies" / "quick.yaml")
    done = namespaced(script, tmp_path, *words)
    text = done.stdout + done.stderr
    assert done.returncode == 0, text
    told = "noexec: results is on a file system (tmpfs) that runs no programs, expected one for configure"
    assert f"limit     WILL BE HIT: {told}" in text
    assert "this machine cannot carry out the study" in text
    assert done.stdout.split()[-1:] != ["sources"]


def test_clients_that_the_machine_or_the_server_cannot_hold_are_refused_before_anything_is_made(tmp_path):
    quick = yaml.safe_load((CHECKOUT / "studies" / "quick.yaml").read_text())
    config = tmp_path / "many.yaml"
    config.write_text(yaml.safe_dump({**quick, "clients": [8, 2000]}))
    answer = snakemake(tmp_path, "--cores", "1", "--configfile", config)
    assert answer.status != 0
    assert "this machine cannot carry out the study" in answer.text
    assert "max_connections: 1100 are granted, 2000 clients and ours need 2003" in answer.text
    assert "state `max_connections: 2003` under `options`" in answer.text
    assert not (tmp_path / "results").exists()
    looked = snakemake(tmp_path, "--dry-run", "--configfile", config)
    assert looked.status == 0
    assert "WILL BE HIT: max_connections" in looked.text
